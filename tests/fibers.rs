//! Fibers: calls that are suspended and resumed, in every tier and while tiers change.
//!
//! Miri cannot run this: it knows no switch between stacks.
#![cfg(all(unix, target_arch = "x86_64"))]

use azulejo::prelude::*;
use azulejo::{Builder, Fiber, Resumed, suspend};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

#[derive(Default)]
struct Vm {
    engine: Option<Rc<Engine<Op>>>,
    fibers: Vec<Fiber<'static, Op>>,
    log: Vec<i64>,
    queue: VecDeque<i64>,
    /// The function that `across` calls, and the one whose code `discard` discards.
    callee: Option<FunctionId>,
}

impl Vm {
    fn engine(&self) -> Rc<Engine<Op>> {
        self.engine.clone().expect("the test has set it")
    }
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Const {
        dst: Out<i64>,
        k: Imm<i64>,
    },
    Add {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    AddConst {
        dst: Out<i64>,
        a: In<i64>,
        k: Imm<i64>,
    },
    Divide {
        dst: Out<i64>,
        a: In<i64>,
        b: In<i64>,
    },
    JumpLess {
        a: In<i64>,
        b: Imm<i64>,
        to: Label,
    },
    Jump(Label),
    Yield {
        dst: Out<i64>,
        a: In<i64>,
    },
    /// Leaves compiled code each time.
    Leave,
    Call {
        dst: Out<i64>,
        function: Imm<u32>,
        args: Regs,
    },
    TailCall {
        function: Imm<u32>,
        args: Regs,
    },
    Log {
        a: In<i64>,
    },
    Put {
        a: In<i64>,
    },
    Take {
        dst: Out<i64>,
    },
    Across {
        dst: Out<i64>,
        a: In<i64>,
    },
    Resume {
        dst: Out<i64>,
        fiber: In<i64>,
        a: In<i64>,
    },
    Discard,
    Panic {
        a: In<i64>,
    },
    Return {
        a: In<i64>,
    },
}

template! {
    Op::Const    => $k
    Op::Add      => (add $a $b)
    Op::AddConst => (add $a $k)
    Op::Divide   => (div $a $b)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Jump     => (branch $0)
    Op::Yield    => (call throws suspend (arglist (carg $a i64)) u64)
    Op::Leave    => (exit)
    Op::Call     => (invoke $function (arglist $args) i64)
    Op::TailCall => (tail $function (arglist $args))
    Op::Log      => (callv log (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Put      => (callv put (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Take     => (call take (arglist (carg (tc) ptr)) i64)
    Op::Across   => (call throws across (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::Resume   => (call throws resume (arglist (carg (tc) ptr) (carg $fiber i64) (carg $a i64)) i64)
    Op::Discard  => (callv discard (arglist (carg (tc) ptr)))
    Op::Panic    => (callv panic_if_zero (arglist (carg $a i64)))
    Op::Return   => (return $a)
}

fn log(vm: &mut Vm, a: i64) {
    vm.log.push(a);
}

fn put(vm: &mut Vm, a: i64) {
    vm.queue.push_back(a);
}

fn take(vm: &mut Vm) -> i64 {
    vm.queue.pop_front().unwrap_or(-1)
}

fn across(vm: &mut Vm, a: i64) -> Result<i64, Trap> {
    let callee = vm.callee.expect("the test has set it");
    vm.engine().call(callee, vm, (a,)).map_err(|error| match error {
        Error::Trap { trap, .. } => trap,
        _ => Trap::User(1),
    })
}

/// Resumes one of the context's fibers. Its end is -1.
fn resume(vm: &mut Vm, fiber: i64, a: i64) -> Result<i64, Trap> {
    let mut taken = vm.fibers.remove(fiber as usize);
    let resumed = taken.resume(vm, a as u64);
    vm.fibers.insert(fiber as usize, taken);
    match resumed {
        Ok(Resumed::Suspended(value)) => Ok(value as i64),
        Ok(Resumed::Returned(_)) => Ok(-1),
        Err(Error::Trap { trap, .. }) => Err(trap),
        Err(_) => Err(Trap::User(2)),
    }
}

fn discard(vm: &mut Vm) {
    let (engine, callee) = (vm.engine(), vm.callee.expect("the test has set it"));
    engine.discard(callee).expect("it is the engine's");
}

fn panic_if_zero(a: i64) {
    if a == 0 {
        resume_unwind(Box::new("a panic"));
    }
}

/// Ways to run: each tier alone, and tiers that change.
fn ways() -> Vec<(&'static str, Builder)> {
    let builder = Engine::<Op>::builder;
    vec![
        ("interpreter", builder().only(Tier::Interpreter)),
        ("baseline", builder().only(Tier::Baseline)),
        ("optimizer", builder().only(Tier::Optimizer)),
        ("soon", builder().thresholds(3, 7)),
        ("later", builder().thresholds(40, 200)),
        ("default", builder()),
        ("background", builder().thresholds(5, 20).background(true)),
        ("stoppable", builder().thresholds(3, 7).fuel(u64::MAX >> 1).backtraces(true)),
    ]
}

fn in_all_ways(test: impl Fn(&str, Rc<Engine<Op>>)) {
    ways().into_iter().for_each(|(name, builder)| test(name, Rc::new(builder.build())));
}

fn regs(first: u32, count: u32) -> Regs {
    Regs { first, count }
}

/// Yields each number from its argument up to the limit, adds what comes back to a sum, and returns the sum.
fn counter(limit: i64) -> Vec<Op> {
    vec![
        Op::Yield { dst: 2.into(), a: 0.into() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
        Op::JumpLess { a: 0.into(), b: Imm(limit), to: Label(0) },
        Op::Return { a: 1.into() },
    ]
}

fn suspended(result: Result<Resumed, Error>) -> i64 {
    match result {
        Ok(Resumed::Suspended(value)) => value as i64,
        other => panic!("not suspended, but {other:?}"),
    }
}

#[test]
fn a_generator_yields_and_is_told_in_every_tier() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(1000), 3).expect("it is right");
        let mut vm = Vm::default();
        let mut fiber = engine.fiber(count, (0i64,)).expect("there is a stack");
        for n in 0..1000 {
            assert_eq!(suspended(fiber.resume(&mut vm, n as u64)), n, "{name}");
        }
        // The first value was for nobody.
        assert_eq!(fiber.resume(&mut vm, 1000), Ok(Resumed::Returned((1..=1000).sum())), "{name}");
        assert!(fiber.has_ended());
        assert_eq!(fiber.resume(&mut vm, 0), Err(Error::FiberEnded), "{name}");
    });
}

#[test]
fn many_fibers_of_one_function_keep_their_own_values() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(i64::MAX), 3).expect("it is right");
        let mut vm = Vm::default();
        let fiber = |n: i64| engine.fiber(count, (n * 1000,)).expect("there is a stack");
        let mut fibers: Vec<_> = (0..200).map(fiber).collect();
        assert_eq!(engine.fibers(), 200);
        for round in 0..50 {
            for (n, fiber) in fibers.iter_mut().enumerate() {
                assert_eq!(suspended(fiber.resume(&mut vm, 0)), n as i64 * 1000 + round, "{name}");
            }
            // Other calls run in between.
            let outside: Result<i64, Error> = engine.call(count, &mut vm, (0i64,));
            assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }), "{name}");
        }
        fibers.truncate(100);
        assert_eq!(engine.fibers(), 100);
        assert_eq!(suspended(fibers[7].resume(&mut vm, 0)), 7050, "{name}");
    });
}

#[test]
fn producers_and_consumers_meet_in_the_context() {
    in_all_ways(|name, engine| {
        let produce = vec![
            Op::Put { a: 0.into() },
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::Jump(Label(0)),
        ];
        let consume = vec![
            Op::Take { dst: 1.into() },
            Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Jump(Label(0)),
        ];
        let produce = engine.define("produce", produce, 2).expect("it is right");
        let consume = engine.define("consume", consume, 2).expect("it is right");
        let mut vm = Vm::default();
        let mut producer = engine.fiber(produce, (1i64,)).expect("there is a stack");
        let mut consumer = engine.fiber(consume, ()).expect("there is a stack");
        let mut sum = 0;
        for n in 1..300 {
            assert_eq!(suspended(producer.resume(&mut vm, 0)), n, "{name}");
            sum += n;
            assert_eq!(suspended(consumer.resume(&mut vm, 0)), sum, "{name}");
        }
    });
}

/// Calls itself as often as its argument says, and yields at the bottom and on the way back. Adds what it is told.
fn deep() -> Vec<Op> {
    vec![
        Op::JumpLess { a: 0.into(), b: Imm(1), to: Label(4) },
        Op::AddConst { dst: 1.into(), a: 0.into(), k: Imm(-1) },
        Op::Call { dst: 1.into(), function: Imm(0), args: regs(1, 1) },
        Op::Jump(Label(5)),
        Op::Leave,
        Op::Yield { dst: 2.into(), a: 0.into() },
        Op::Add { dst: 1.into(), a: 1.into(), b: 2.into() },
        Op::Return { a: 1.into() },
    ]
}

#[test]
fn a_fiber_is_suspended_through_a_hundred_frames() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm::default();
        for _ in 0..20 {
            let mut fiber = engine.fiber(deep, (100i64,)).expect("there is a stack");
            for n in 0..=100 {
                assert_eq!(suspended(fiber.resume(&mut vm, 2)), n, "{name}");
            }
            assert_eq!(fiber.resume(&mut vm, 2), Ok(Resumed::Returned(202)), "{name}");
        }
    });
}

#[test]
fn functions_tier_up_between_suspensions() {
    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(10, 50).build();
    let count = engine.define("count", counter(10_000), 3).expect("it is right");
    let mut vm = Vm::default();
    let mut early = engine.fiber(count, (0i64,)).expect("there is a stack");
    assert_eq!(suspended(early.resume(&mut vm, 0)), 0);
    assert_eq!(engine.tier(count), Tier::Interpreter);
    // Nothing but fibers runs it, and that is enough to be compiled.
    let mut other = engine.fiber(count, (0i64,)).expect("there is a stack");
    for n in 0..5000 {
        assert_eq!(suspended(other.resume(&mut vm, 0)), n);
    }
    assert_eq!(engine.tier(count), Tier::Optimizer);
    // The first one was suspended in the interpreter, and goes on in compiled code.
    let exits = engine.stats().exits;
    for n in 1..10_000 {
        assert_eq!(suspended(early.resume(&mut vm, 1)), n);
    }
    assert_eq!(early.resume(&mut vm, 1), Ok(Resumed::Returned(10_000)));
    assert_eq!(engine.stats().exits, exits);
}

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
fn fibers_nest() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(50), 3).expect("it is right");
        // Yields twice what fiber `r0` yields, until that ends.
        let relay = vec![
            Op::Resume { dst: 1.into(), fiber: 0.into(), a: 2.into() },
            Op::JumpLess { a: 1.into(), b: Imm(0), to: Label(5) },
            Op::Add { dst: 1.into(), a: 1.into(), b: 1.into() },
            Op::Yield { dst: 2.into(), a: 1.into() },
            Op::Jump(Label(0)),
            Op::Return { a: 2.into() },
        ];
        let relay = engine.define("relay", relay, 3).expect("it is right");
        let mut vm = Vm::default();
        vm.fibers.push(engine.owned_fiber(count, (0i64,)).expect("there is a stack"));
        vm.fibers.push(engine.owned_fiber(relay, (0i64,)).expect("there is a stack"));
        let mut outer = engine.fiber(relay, (1i64,)).expect("there is a stack");
        for n in 0..50 {
            assert_eq!(suspended(outer.resume(&mut vm, 0)), 4 * n, "{name}");
        }
        assert!(matches!(outer.resume(&mut vm, 0), Ok(Resumed::Returned(_))), "{name}");
        assert!(vm.fibers.iter().all(Fiber::has_ended));
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
fn dropped_fibers_leave_nothing_behind() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm::default();
        let holders = Rc::strong_count(&engine);
        for depth in 0..60 {
            let mut fiber = engine.owned_fiber(deep, (depth,)).expect("there is a stack");
            (0..depth / 2).for_each(|n| assert_eq!(suspended(fiber.resume(&mut vm, 0)), n, "{name}"));
            drop(fiber);
            assert_eq!((engine.fibers(), Rc::strong_count(&engine)), (0, holders), "{name}");
        }
        // The same stack is used again and again, and what was removed is freed.
        engine.remove(deep).expect("it is the engine's");
        assert_eq!(engine.stats().functions, 0);
        assert_eq!(
            engine.fiber(deep, (0i64,)).and_then(|mut fiber| fiber.resume(&mut vm, 0)),
            Err(Error::Removed)
        );
        assert_eq!(engine.fibers(), 0);
    });
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
fn code_is_kept_while_fibers_are_suspended_in_it() {
    in_all_ways(|name, engine| {
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(deep), ..Vm::default() };
        let mut fibers = Vec::new();
        // Each has code of its own making, of functions that are gone by then.
        for round in 0..40 {
            let mut fiber = engine.fiber(deep, (20i64,)).expect("there is a stack");
            assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0, "{name}");
            fibers.push(fiber);
            engine.discard(deep).expect("it is the engine's");
            if round % 8 == 0 {
                // Other code would take the place of what was freed.
                let other = engine.define("other", counter(round), 3).expect("it is right");
                let _ = engine.compile(other);
            }
        }
        engine.remove(deep).expect("it is the engine's");
        for (at, fiber) in fibers.iter_mut().enumerate() {
            if at % 3 == 0 {
                continue;
            }
            for n in 1..=20 {
                assert_eq!(suspended(fiber.resume(&mut vm, 1)), n, "{name}");
            }
            assert_eq!(fiber.resume(&mut vm, 1), Ok(Resumed::Returned(21)), "{name}");
        }
        drop(fibers);
        assert_eq!(engine.fibers(), 0);
    });
}

#[test]
fn little_code_memory_is_enough_for_many_fibers() {
    let engine: Rc<Engine<Op>> =
        Rc::new(Engine::<Op>::builder().only(Tier::Optimizer).code_bytes(8 << 10).build());
    let mut vm = Vm::default();
    let mut fibers = Vec::new();
    for n in 0..100i64 {
        let count = engine.define("count", counter(n + 3), 3).expect("it is right");
        let call = vec![
            Op::Call { dst: 0.into(), function: Imm(count.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 1).expect("it is right");
        let mut fiber = engine.fiber(call, (n,)).expect("there is a stack");
        assert_eq!(suspended(fiber.resume(&mut vm, 0)), n);
        fibers.push(fiber);
    }
    for (n, fiber) in fibers.iter_mut().enumerate() {
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), n as i64 + 1);
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), n as i64 + 2);
        assert_eq!(fiber.resume(&mut vm, 1), Ok(Resumed::Returned(3)));
    }
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
fn bytecode_is_made_and_other_engines_run_while_a_fiber_does() {
    in_all_ways(|name, engine| {
        let count = engine.define("count", counter(3), 3).expect("it is right");
        // Making its bytecode takes more of the stack than a fiber has, and runs a function.
        let same = Rc::clone(&engine);
        let late = engine.declare("late", move || {
            fn much(n: u64) -> u64 {
                let all = std::hint::black_box([n; 4096]);
                if n == 0 { all[17] } else { much(n - 1) + all[4095] }
            }
            assert_eq!(much(12), (0..=12).sum());
            let mut vm = Vm::default();
            let outside: Result<i64, Error> = same.call(count, &mut vm, (0i64,));
            assert_eq!(outside, Err(Error::Trap { trap: Trap::NotInFiber, at: 0 }));
            let mut fiber = same.fiber(count, (0i64,)).expect("there is a stack");
            assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
            Some((counter(3).into(), 3))
        });
        let call = vec![
            Op::Across { dst: 1.into(), a: 0.into() },
            Op::Log { a: 1.into() },
            Op::Call { dst: 0.into(), function: Imm(late.number()), args: regs(0, 1) },
            Op::Return { a: 0.into() },
        ];
        let call = engine.define("call", call, 2).expect("it is right");
        // The other engine is called from a function that itself calls: on two stacks at once.
        let other = Rc::new(Engine::<Op>::builder().thresholds(5, 20).build());
        let endless =
            vec![Op::Call { dst: 0.into(), function: Imm(0), args: regs(0, 1) }, Op::Return { a: 0.into() }];
        other.define("endless", endless, 1).expect("it is right");
        let resumes =
            vec![Op::Resume { dst: 0.into(), fiber: 0.into(), a: 1.into() }, Op::Return { a: 0.into() }];
        let resumes = other.define("resumes", resumes, 2).expect("it is right");
        let constant = vec![Op::Const { dst: 0.into(), k: Imm(7) }, Op::Return { a: 0.into() }];
        let constant = other.define("constant", constant, 1).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&other)), callee: Some(constant), ..Vm::default() };
        vm.fibers.push(engine.owned_fiber(call, (0i64,)).expect("there is a stack"));
        for n in 0..3 {
            assert_eq!(other.call::<_, i64>(resumes, &mut vm, (0i64,)), Ok(n), "{name}");
        }
        assert_eq!(vm.log, [7], "{name}");
        assert_eq!(other.call::<_, i64>(resumes, &mut vm, (0i64,)), Ok(-1), "{name}");
        // Its recursion ends on the fiber's stack, too.
        vm.callee = Some(FunctionId::clone(&other.define("late", endless_from(0), 1).expect("it is right")));
        vm.fibers[0] = engine.owned_fiber(call, (0i64,)).expect("there is a stack");
        let result = other.call::<_, i64>(resumes, &mut vm, (0i64,));
        assert_eq!(result, Err(Error::Trap { trap: Trap::User(1), at: 0 }), "{name}");
    });
}

/// Calls a function, and returns what that does.
fn endless_from(function: u32) -> Vec<Op> {
    vec![Op::Call { dst: 0.into(), function: Imm(function), args: regs(0, 1) }, Op::Return { a: 0.into() }]
}

#[test]
fn tail_calls_in_fibers_are_suspended_too() {
    in_all_ways(|name, engine| {
        // Yields its arguments' sum, and calls itself with the numbers after them.
        let code = vec![
            Op::Add { dst: 2.into(), a: 0.into(), b: 1.into() },
            Op::Yield { dst: 2.into(), a: 2.into() },
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::TailCall { function: Imm(0), args: regs(0, 2) },
        ];
        let next = engine.define("next", code, 3).expect("it is right");
        let mut vm = Vm::default();
        let mut fibers = [5i64, 100].map(|n| engine.fiber(next, (n, 1i64)).expect("there is a stack"));
        for n in 0..300 {
            assert_eq!(suspended(fibers[0].resume(&mut vm, 0)), n + 6, "{name}");
            assert_eq!(suspended(fibers[1].resume(&mut vm, 0)), n + 101, "{name}");
        }
    });
}

#[test]
fn a_fiber_may_throw_away_what_it_runs() {
    in_all_ways(|name, engine| {
        let code = vec![
            Op::Yield { dst: 1.into(), a: 0.into() },
            Op::Discard,
            Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
            Op::Jump(Label(0)),
        ];
        let code = engine.define("discards", code, 2).expect("it is right");
        let call = engine.define("call", endless_from(code.number()), 1).expect("it is right");
        let mut vm = Vm { engine: Some(Rc::clone(&engine)), callee: Some(code), ..Vm::default() };
        let mut fibers = [0i64, 1000].map(|n| engine.fiber(call, (n,)).expect("there is a stack"));
        for n in 0..100 {
            assert_eq!(suspended(fibers[0].resume(&mut vm, 0)), n, "{name}");
            assert_eq!(suspended(fibers[1].resume(&mut vm, 0)), n + 1000, "{name}");
        }
    });
}

/// The pages that the process has in memory, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("it is a number");
    pages * azulejo::memory::page_size()
}

#[test]
#[cfg(target_os = "linux")]
fn a_hundred_thousand_fibers_fit_in_two_gibibytes() {
    // Where guard pages split mappings, the system's limit of these is a limit of fibers.
    let most = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
    let engine: Engine<Op> = Engine::<Op>::builder().build();
    let deep = engine.define("deep", deep(), 3).expect("it is right");
    let mut vm = Vm::default();
    let before = resident();
    let mut fibers = Vec::new();
    for _ in 0..most {
        match engine.fiber(deep, (3i64,)) {
            Ok(mut fiber) => {
                assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
                fibers.push(fiber);
            }
            Err(error) => {
                assert_eq!(error, Error::OutOfFiberStacks);
                assert!(fibers.len() > 30_000, "{}", fibers.len());
                break;
            }
        }
    }
    let each = resident().saturating_sub(before) / fibers.len();
    eprintln!("{} fibers, {each} bytes each", fibers.len());
    assert!(each < (2 << 30) / 100_000, "{each}");
    for fiber in &mut fibers {
        assert_eq!(suspended(fiber.resume(&mut vm, 1)), 1);
    }
    drop(fibers);
    assert_eq!(engine.fibers(), 0);
    let left = resident().saturating_sub(before);
    eprintln!("{left} bytes when they are gone");
    assert!(left < 64 << 20, "{left}");
}

#[test]
fn stacks_of_any_size_are_asked_for() {
    let count = |engine: &Engine<Op>| engine.define("count", counter(3), 3).expect("it is right");
    for (bytes, slots) in
        [(usize::MAX, 10), (10, usize::MAX), (usize::MAX / 2, usize::MAX / 2), (1 << 60, 10)]
    {
        let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(bytes, slots).build();
        let count = count(&engine);
        assert_eq!(engine.fiber(count, ()).err(), Some(Error::OutOfFiberStacks));
        assert_eq!(engine.fibers(), 0);
    }
    let mut vm = Vm::default();
    for (slots, expected) in [(2, Err(Error::StackOverflow)), (3, Ok(Resumed::Suspended(0)))] {
        let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(20_000, slots).build();
        let count = count(&engine);
        let mut fiber = engine.fiber(count, ()).expect("there is a stack");
        assert_eq!(fiber.resume(&mut vm, 0), expected);
    }
    // A large one is used to its end.
    let engine: Engine<Op> = Engine::<Op>::builder().fiber_stack(64 << 20, 1 << 20).build();
    let deep = engine.define("deep", deep(), 3).expect("it is right");
    let mut fiber = engine.fiber(deep, (10_000i64,)).expect("there is a stack");
    assert_eq!(suspended(fiber.resume(&mut vm, 0)), 0);
    let mut fiber = engine.fiber(deep, (i64::MAX,)).expect("there is a stack");
    assert_eq!(fiber.resume(&mut vm, 0), Err(Error::StackOverflow));
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

/// Makes fibers, resumes them, drops them and throws code away, in any order.
#[test]
fn fibers_in_any_order_do_what_calls_do() {
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for (name, builder) in ways() {
        let engine: Rc<Engine<Op>> = Rc::new(builder.code_bytes(16 << 10).build());
        let deep = engine.define("deep", deep(), 3).expect("it is right");
        let count = engine.define("count", counter(40), 3).expect("it is right");
        let mut vm = Vm::default();
        // Each with what it yields next, its last number, what it was told in all, and whether it counts down the stack.
        let mut fibers: Vec<(Fiber<'_, Op>, i64, i64, i64)> = Vec::new();
        for _ in 0..if cfg!(debug_assertions) { 1500 } else { 20_000 } {
            match random(16) {
                0 | 1 if fibers.len() < 50 => {
                    let (function, last) =
                        if random(2) == 0 { (deep, random(30) as i64) } else { (count, 39) };
                    let first = if function == deep { last } else { 0 };
                    let fiber = engine.fiber(function, (first,)).expect("there is a stack");
                    fibers.push((fiber, 0, last, 0));
                }
                2 if !fibers.is_empty() => drop(fibers.swap_remove(random(fibers.len() as u64) as usize)),
                3 if random(4) == 0 => engine.discard(deep).expect("it is the engine's"),
                4 if random(4) == 0 => engine.discard(count).expect("it is the engine's"),
                5 if random(4) == 0 => {
                    let _ = engine.compile(if random(2) == 0 { deep } else { count });
                }
                _ if !fibers.is_empty() => {
                    let at = random(fibers.len() as u64) as usize;
                    let (fiber, next, last, sum) = &mut fibers[at];
                    let told = random(1000) as i64;
                    *sum += if *next > 0 { told } else { 0 };
                    let resumed = fiber.resume(&mut vm, told as u64);
                    if *next <= *last {
                        assert_eq!(suspended(resumed), *next, "{name}");
                        *next += 1;
                    } else {
                        assert_eq!(resumed, Ok(Resumed::Returned(*sum as u64)), "{name}");
                        drop(fibers.swap_remove(at));
                    }
                }
                _ => {}
            }
        }
        drop(fibers);
        assert_eq!(engine.fibers(), 0, "{name}");
    }
}
