//! Fibers that fail, and what is refused.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn functions_that_fail_in_fibers_give_errors() {
    in_all_ways(|name, engine| {
        let divide = vec![
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Divide { dst: 0.into(), a: 0.into(), b: 1.into() },
            Op::Jump(Label(0)),
        ];
        let divide = engine.define("divide", divide, 2).expect("it is right");
        let call = vec![
            Op::Leave,
            Op::Call { dst: 0.into(), function: Imm(divide.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 1).expect("it is right");
        let mut vm = Vm::default();
        for _ in 0..30 {
            let mut fiber = engine.fiber(call, (64i64,)).expect("there is a stack");
            assert_eq!(suspended(fiber.resume(&mut vm, 0)), 64, "{name}");
            assert_eq!(suspended(fiber.resume(&mut vm, 2)), 32, "{name}");
            assert_eq!(suspended(fiber.resume(&mut vm, 4)), 8, "{name}");
            let failed = fiber.resume(&mut vm, 0);
            assert_eq!(failed, Err(Error::Trap { trap: Trap::DivideByZero, at: 1 }), "{name}");
            assert_eq!(fiber.resume(&mut vm, 0), Err(Error::FiberEnded), "{name}");
            if name == "stoppable" {
                let frames = engine.backtrace().frames;
                let places: Vec<_> = frames.iter().map(|frame| (frame.function, frame.at)).collect();
                assert_eq!(places, [(divide, 1), (call, 1)]);
                // Dropping a fiber fails its calls, but nobody is to hear of that.
                let mut fiber = engine.fiber(call, (64i64,)).expect("there is a stack");
                suspended(fiber.resume(&mut vm, 0));
                drop(fiber);
                assert_eq!(engine.backtrace().frames, frames);
            }
        }
        assert_eq!(engine.fibers(), 0);
    });
}

#[test]
fn calls_that_nest_too_deep_end_in_an_error() {
    in_all_ways(|name, engine| {
        let endless =
            vec![Op::Call { dst: 0.into(), function: Imm(0), args: regs(0, 1) }, Op::Return { a: 0.into() }];
        let endless = engine.define("endless", endless, 1).expect("it is right");
        let mut vm = Vm::default();
        for _ in 0..20 {
            let mut fiber = engine.fiber(endless, (0i64,)).expect("there is a stack");
            let result = fiber.resume(&mut vm, 0);
            assert!(
                matches!(result, Err(Error::StackOverflow | Error::Trap { trap: Trap::StackOverflow, .. })),
                "{name}: {result:?}"
            );
        }
    });
}

#[test]
fn no_fiber_is_suspended_across_a_function_of_rust() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(5), 3).expect("it is right");
        let across = vec![Op::Across { dst: 0.into(), a: 0.into() }, Op::Return { a: 0.into() }];
        let across = engine.define("across", across, 1).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(count), ..Vm::default() };
        for _ in 0..20 {
            let mut fiber = engine.fiber(across, (0i64,)).expect("there is a stack");
            let refused = Err(Error::Trap { trap: Trap::AcrossRust, at: 0 });
            assert_eq!(fiber.resume(&mut vm, 0), refused, "{name}");
        }
        // Another engine's function is one more function of Rust in between.
        let other = Rc::new(Engine::<Op>::new());
        let foreign = other.define("count", counter(5), 3).expect("it is right");
        (vm.engine, vm.callee) = (Some(other), Some(foreign));
        let mut fiber = engine.fiber(across, (0i64,)).expect("there is a stack");
        assert_eq!(fiber.resume(&mut vm, 0), Err(Error::Trap { trap: Trap::AcrossRust, at: 0 }), "{name}");
    });
}

#[test]
fn a_fiber_wants_its_context_again() {
    let engine = Engine::<Op>::new();
    let count = engine.define("count", counter(5), 3).expect("it is right");
    let (mut vm, mut other) = (Vm::default(), Vm::default());
    let mut fiber = engine.fiber(count, (0i64,)).expect("there is a stack");
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
    assert_eq!(fiber.resume(&mut other, 0), Err(Error::OtherContext));
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 1);
}

#[test]
fn panics_come_out_of_the_resumption() {
    in_all_ways(|name, engine| {
        let code =
            vec![Op::Yield { dst: 0.into(), a: 0.into() }, Op::Panic { a: 0.into() }, Op::Jump(Label(0))];
        let inner = engine.define("panics", code, 1).expect("it is right");
        let call = vec![
            Op::Call { dst: 0.into(), function: Imm(inner.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 1).expect("it is right");
        let mut vm = Vm::default();
        for _ in 0..20 {
            let mut fiber = engine.fiber(call, (1i64,)).expect("there is a stack");
            // The first value is for nobody.
            for told in [5, 2, 3, 4] {
                let expected = if told == 5 { 1 } else { told };
                assert_eq!(suspended(fiber.resume(&mut vm, told as u64)), expected, "{name}");
            }
            let panic = catch_unwind(AssertUnwindSafe(|| fiber.resume(&mut vm, 0))).expect_err("it panics");
            assert_eq!(panic.downcast_ref(), Some(&"a panic"), "{name}");
            assert!(fiber.has_ended());
            assert_eq!(fiber.resume(&mut vm, 0), Err(Error::FiberEnded), "{name}");
        }
        assert_eq!(engine.fibers(), 0);
        // The engine is as it was.
        let outside: Result<i64, Error> = engine.call(call, &mut vm, (1i64,));
        assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }), "{name}");
    });
}

#[test]
fn fibers_are_interrupted_and_run_out_of_fuel() {
    let forever = || vec![Op::Yield { dst: 0.into(), a: 0.into() }, Op::Jump(Label(1))];
    for (name, builder) in ways() {
        let engine: Engine<Op> = builder.build();
        let forever = engine.define("forever", forever(), 1).expect("it is right");
        let interrupter = engine.interrupter();
        let mut vm = Vm::default();
        let mut fiber = engine.fiber(forever, (1i64,)).expect("there is a stack");
        assert_eq!(suspended(fiber.resume(&mut vm, 0)), 1, "{name}");
        let thread = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            interrupter.interrupt();
        });
        assert_eq!(fiber.resume(&mut vm, 0), Err(Error::Interrupted { at: 1 }), "{name}");
        thread.join().expect("it ends");
        // That was one call.
        let mut fiber = engine.fiber(forever, (1i64,)).expect("there is a stack");
        assert_eq!(suspended(fiber.resume(&mut vm, 0)), 1, "{name}");
    }
    for (name, builder) in ways() {
        let engine: Engine<Op> = builder.fuel(1000).build();
        let forever = engine.define("forever", forever(), 1).expect("it is right");
        let count = engine.define("count", counter(1000), 3).expect("it is right");
        let mut vm = Vm::default();
        let mut counting = engine.fiber(count, (0i64,)).expect("there is a stack");
        let mut fiber = engine.fiber(forever, (1i64,)).expect("there is a stack");
        for n in 0..100 {
            assert_eq!(suspended(counting.resume(&mut vm, 0)), n, "{name}");
        }
        let left = engine.fuel().expect("it has some");
        assert!((890..=900).contains(&left), "{name}: {left}");
        assert_eq!(suspended(fiber.resume(&mut vm, 0)), 1, "{name}");
        assert_eq!(fiber.resume(&mut vm, 0), Err(Error::OutOfFuel { at: 1 }), "{name}");
        engine.set_fuel(1000);
        for n in 100..200 {
            assert_eq!(suspended(counting.resume(&mut vm, 0)), n, "{name}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let engine = Engine::<Op>::new();
    let count = engine.define("count", counter(3), 3).expect("it is right");
    let mut vm = Vm::default();
    // More arguments than registers are found when the fiber starts.
    let mut fiber = engine.fiber(count, (0i64, 0i64, 0i64, 0i64)).expect("there is a stack");
    assert_eq!(fiber.resume(&mut vm, 0), Err(Error::TooManyArguments { given: 4, most: 3 }));
    assert!(fiber.has_ended());
    // A function that was removed in the meantime goes on, and is not started again.
    let mut fiber = engine.fiber(count, ()).expect("there is a stack");
    let mut late = engine.fiber(count, ()).expect("there is a stack");
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
    engine.remove(count).expect("it is the engine's");
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 1);
    assert_eq!(late.resume(&mut vm, 0), Err(Error::Removed));
    let texts =
        [Error::FiberEnded, Error::OtherContext, Error::OutOfFiberStacks].map(|error| error.to_string());
    assert!(texts.iter().all(|text| text.contains("fiber")), "{texts:?}");
    let refused = Error::Trap { trap: Trap::AcrossRust, at: 7 };
    assert_eq!(refused.to_string(), "bytecode 7: suspended across a call that a Rust function made");
}

#[test]
fn each_stack_has_an_end_of_its_own() {
    in_all_ways(|name, engine| {
        // Yields, and calls itself for ever after that.
        let code = vec![
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Call { dst: 0.into(), function: Imm(1), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let first = engine.define("first", code, 2).expect("it is right");
        engine.define("endless", endless_from(1), 1).expect("it is right");
        let resume = vec![
            Op::Resume { dst: 1.into(), fiber: 0.into(), a: 0.into() },
            Op::Call { dst: 0.into(), function: Imm(1), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let resume = engine.define("resume", resume, 2).expect("it is right");
        let mut vm = Vm::default();
        let is_overflow =
            |error| matches!(error, Error::StackOverflow | Error::Trap { trap: Trap::StackOverflow, .. });
        for _ in 0..10 {
            // The stacks of later fibers are below those of earlier ones, and their ends as well.
            let mut fibers: Vec<_> =
                (0..3).map(|_| engine.fiber(first, (0i64,)).expect("there is a stack")).collect();
            fibers.iter_mut().for_each(|fiber| assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0, "{name}"));
            for fiber in &mut fibers {
                assert!(fiber.resume(&mut vm, 0).is_err_and(is_overflow), "{name}");
            }
            // The thread's own stack ends where it did.
            vm.fibers = vec![engine.owned_fiber(first, (0i64,)).expect("there is a stack")];
            assert!(engine.call::<_, i64>(resume, &mut vm, (0i64,)).is_err_and(is_overflow), "{name}");
        }
    });
}
