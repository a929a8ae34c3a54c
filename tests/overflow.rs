//! Somebody is told where a call finds no room on the stack: in every tier, with the frames that wait there, once for each such call.

mod ways;

use azulejo::prelude::*;
use azulejo::{Builder, Error, Frames, Interrupter, Resumed, Trap, can_switch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use ways::Way;

/// The user's trap for calls without room.
const DEEP: Trap = Trap::User(42);

struct Vm {
    engine: Rc<Engine<Op>>,
    /// What Rust calls, where it does.
    callee: FunctionId,
    /// How often calls had no room, and what was seen the last time: the functions and bytecodes that waited, innermost first.
    times: u64,
    places: Vec<(FunctionId, u32)>,
    /// The values in their register 0.
    values: Vec<u64>,
    /// What the closure calls, and the outcomes.
    then: Option<FunctionId>,
    outcomes: Vec<Result<u64, Error>>,
    interrupter: Option<Interrupter>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Add {
        dst: Out<u64>,
        a: In<u64>,
        k: Imm<u64>,
    },
    /// Calls a function with one argument.
    Call {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
    },
    /// Likewise, with a run of registers.
    CallWith {
        dst: Out<u64>,
        f: Imm<u32>,
        run: Regs,
    },
    /// Calls a function in a tail call.
    Tail {
        f: Imm<u32>,
        run: Regs,
    },
    /// Calls a function, and gives the trap's code if it fails.
    Try {
        dst: Out<u64>,
        f: Imm<u32>,
        a: In<u64>,
    },
    /// Calls Rust, which calls a function, or stops the program if the argument is 100.
    Rust {
        dst: Out<u64>,
        a: In<u64>,
    },
    /// The same, and Rust makes the call as calls back are made.
    Back {
        dst: Out<u64>,
        a: In<u64>,
    },
    Return {
        a: In<u64>,
    },
}

template! {
    Op::Add      => (add $a $k)
    Op::Call     => (invoke observes $f (arglist $a) u64)
    Op::CallWith => (invoke observes $f (arglist $run) u64)
    Op::Tail     => (tail $f (arglist $run))
    Op::Try      => (try (invoke observes $f (arglist $a) u64) (ucast (trap_code) u64))
    Op::Rust     => (call throws observes call (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $a u64)) u64)
    Op::Back     => (call throws observes call_back (arglist (carg (tc) ptr) (carg (frames) ptr) (carg $a u64)) u64)
    Op::Return   => (return $a)
}

fn call(vm: &mut Vm, _: Frames<'_>, a: u64) -> Result<u64, Trap> {
    let (engine, callee) = (Rc::clone(&vm.engine), vm.callee);
    if let Some(interrupter) = vm.interrupter.as_ref().filter(|_| a == 100) {
        interrupter.interrupt();
        return Ok(a);
    }
    Ok(engine.call(callee, vm, (a,))?)
}

fn call_back(vm: &mut Vm, _: Frames<'_>, a: u64) -> Result<u64, Trap> {
    let (engine, callee) = (Rc::clone(&vm.engine), vm.callee);
    Ok(engine.call_back(callee, vm, (a,))?)
}

/// What is told of a call without room: it notes what waits, adds a thousand to each value, and calls a function if it is to.
fn told(vm: &mut Vm, frames: Frames<'_>) -> Trap {
    vm.times += 1;
    vm.places = frames.backtrace();
    vm.values = frames.iter().filter_map(|frame| frame.get(0)).collect();
    frames.iter().for_each(|frame| frame.update(|value| value + 1000));
    if let Some(function) = vm.then {
        let engine = Rc::clone(&vm.engine);
        let outcomes = [engine.call(function, vm, (1u64,)), engine.call_back(function, vm, (1u64,))];
        vm.outcomes.extend(outcomes);
    }
    DEEP
}

/// The ways that other tests have, and one that climbs when the recursion is deep already.
fn ways() -> impl Iterator<Item = Way> {
    let deep: Way = ("climbing deep", || Builder::default().thresholds(100, 300).backtraces(true));
    ways::ways().into_iter().chain([deep])
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

const REGISTERS: u32 = 12;

/// How an endless recursion goes on. Function 0 is endless; function 1 calls it in a tail call.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Call,
    CallWith(u32),
    ByTail(u32),
    Rust,
    Back,
}

const SHAPES: [Shape; 8] = [
    Shape::Call,
    Shape::CallWith(3),
    Shape::CallWith(5),
    Shape::CallWith(9),
    Shape::ByTail(2),
    Shape::ByTail(9),
    Shape::Rust,
    Shape::Back,
];

/// An engine with an endless function, whose value in register 0 is one more in each call.
fn machine(builder: Builder, shape: Shape) -> Vm {
    let engine = Rc::new(builder.build::<Op>());
    let next = Op::Add { dst: r(1), a: r(0), k: Imm(1) };
    let call = match shape {
        Shape::Call => Op::Call { dst: r(1), f: Imm(0), a: r(1) },
        Shape::CallWith(n) => Op::CallWith { dst: r(1), f: Imm(0), run: Regs { first: 1, count: n } },
        Shape::ByTail(n) => Op::CallWith { dst: r(1), f: Imm(1), run: Regs { first: 1, count: n } },
        Shape::Rust => Op::Rust { dst: r(1), a: r(1) },
        Shape::Back => Op::Back { dst: r(1), a: r(1) },
    };
    let last = Op::Add { dst: r(0), a: r(0), k: Imm(0) };
    let endless = engine.define("endless", vec![next, call, last, Op::Return { a: r(0) }], REGISTERS);
    let endless = endless.expect("it is right");
    let run = match shape {
        Shape::ByTail(n) => Regs { first: 0, count: n },
        _ => Regs { first: 0, count: 1 },
    };
    engine.define("tail", vec![Op::Tail { f: Imm(0), run }], REGISTERS).expect("it is right");
    engine.on_stack_overflow(told);
    Vm {
        engine,
        callee: endless,
        times: 0,
        places: Vec::new(),
        values: Vec::new(),
        then: None,
        outcomes: Vec::new(),
        interrupter: None,
    }
}

/// Calls a function from outside.
fn run(vm: &mut Vm, function: FunctionId) -> Result<u64, Error> {
    let engine = Rc::clone(&vm.engine);
    engine.call(function, vm, (7u64,))
}

/// Each call without room is told of once, and all frames wait then, with the values that they have.
#[track_caller]
fn check_told(vm: &Vm, times: u64, what: &dyn std::fmt::Debug) {
    assert_eq!(vm.times, times, "{what:?}");
    let count = vm.places.len();
    assert!(count > 10, "{what:?}: {count}");
    assert!(vm.places.iter().all(|place| *place == (vm.callee, 1)), "{what:?}: {:?}", &vm.places[..5]);
    let expected: Vec<u64> = (0..count as u64).map(|at| 7 + at).rev().collect();
    assert!(vm.values == expected, "{what:?}: {:?}", &vm.values[..5]);
}

#[test]
fn frames_are_there_in_every_tier_however_the_call_is_made() {
    for (name, builder) in ways() {
        for shape in SHAPES {
            let mut vm = machine(builder().native_stack(200_000).stack_slots(20_000), shape);
            for round in 1..8 {
                let function = vm.callee;
                let result = run(&mut vm, function);
                assert_eq!(result, Err(Error::Trap { trap: DEEP, at: 1 }), "{name}, {shape:?}");
                check_told(&vm, round, &(name, shape, round));
            }
        }
    }
}

#[test]
fn whoever_catches_the_trap_goes_on_with_the_values_that_the_frames_were_given() {
    for (name, builder) in ways() {
        for shape in SHAPES {
            let mut vm = machine(builder().native_stack(200_000).stack_slots(20_000), shape);
            let callee = Imm(vm.callee.number());
            let code = vec![
                Op::Add { dst: r(0), a: r(0), k: Imm(10) },
                Op::Try { dst: r(1), f: callee, a: r(0) },
                Op::Add { dst: r(0), a: r(0), k: Imm(0) },
                Op::Return { a: r(0) },
            ];
            let catching = vm.engine.define("catching", code, 2).expect("it is right");
            for round in 1..8 {
                assert_eq!(run(&mut vm, catching), Ok(1017), "{name}, {shape:?}, {round}");
                assert_eq!((vm.times, vm.places.last()), (round, Some(&(catching, 1))), "{name}, {shape:?}");
            }
        }
    }
}

#[test]
fn the_closure_may_call_and_what_it_calls_may_use_up_what_is_left() {
    for (name, builder) in ways() {
        for shape in SHAPES {
            let mut vm = machine(builder().native_stack(200_000).stack_slots(2_000), shape);
            let code = vec![Op::Add { dst: r(0), a: r(0), k: Imm(5) }, Op::Return { a: r(0) }];
            let add = vm.engine.define("add", code, 100).expect("it is right");
            let endless = vm.callee;
            for round in 1..8 {
                (vm.times, vm.outcomes) = (0, Vec::new());
                vm.then = Some(if round % 2 == 0 { endless } else { add });
                assert_eq!(
                    run(&mut vm, endless),
                    Err(Error::Trap { trap: DEEP, at: 1 }),
                    "{name}, {shape:?}"
                );
                let outcome = if round % 2 == 0 { Err(Error::StackOverflow) } else { Ok(6) };
                assert_eq!(vm.outcomes, [outcome; 2], "{name}, {shape:?}, {round}");
                assert_eq!(vm.times, 1, "{name}, {shape:?}, {round}");
            }
        }
    }
}

#[test]
fn after_a_panic_of_the_closure_all_is_as_before() {
    for (name, builder) in ways() {
        for shape in SHAPES {
            let mut vm = machine(builder().native_stack(200_000), shape);
            let endless = vm.callee;
            vm.engine.on_stack_overflow(|_, _| panic!("too deep"));
            let panic = catch_unwind(AssertUnwindSafe(|| run(&mut vm, endless))).expect_err("it panics");
            assert_eq!(panic.downcast_ref(), Some(&"too deep"), "{name}, {shape:?}");
            vm.engine.on_stack_overflow(told);
            assert_eq!(run(&mut vm, endless), Err(Error::Trap { trap: DEEP, at: 1 }), "{name}, {shape:?}");
            check_told(&vm, 1, &(name, shape));
        }
    }
}

#[test]
fn a_program_that_stops_for_another_reason_is_none_that_nests_too_deeply() {
    for (name, builder) in ways() {
        for shape in SHAPES {
            let mut vm = machine(builder().fuel(30), shape);
            let endless = vm.callee;
            let result = run(&mut vm, endless);
            assert!(matches!(result, Err(Error::OutOfFuel { .. })), "{name}, {shape:?}: {result:?}");
            assert_eq!(vm.times, 0, "{name}, {shape:?}");
        }
        // Compiled calls find no room then.
        let mut vm = machine(builder(), Shape::Call);
        let call = |f| Op::Call { dst: r(1), f: Imm(f), a: r(0) };
        let rust = vec![Op::Rust { dst: r(0), a: r(0) }, Op::Return { a: r(0) }];
        let rust = vm.engine.define("rust", rust, 1).expect("it is right");
        let identity = vm.engine.define("identity", vec![Op::Return { a: r(0) }], 1).expect("it is right");
        let code = vec![call(rust.number()), call(vm.callee.number()), Op::Return { a: r(1) }];
        let both = vm.engine.define("both", code, 2).expect("it is right");
        (vm.callee, vm.interrupter) = (identity, Some(vm.engine.interrupter()));
        for round in 1..6 {
            assert_eq!(run(&mut vm, both), Err(Error::Trap { trap: DEEP, at: 1 }), "{name}");
            let engine = Rc::clone(&vm.engine);
            let result: Result<u64, Error> = engine.call(both, &mut vm, (100u64,));
            assert!(matches!(result, Err(Error::Interrupted { .. })), "{name}: {result:?}");
            assert_eq!(vm.times, round, "{name}");
        }
    }
}

#[test]
fn a_fiber_has_a_stack_of_its_own_that_overflows() {
    if !can_switch() {
        return;
    }
    for (name, builder) in ways() {
        for shape in [Shape::Call, Shape::CallWith(9), Shape::ByTail(9)] {
            let mut vm = machine(builder(), shape);
            let code = vec![Op::Add { dst: r(0), a: r(0), k: Imm(5) }, Op::Return { a: r(0) }];
            let add = vm.engine.define("add", code, 100).expect("it is right");
            let (engine, endless) = (Rc::clone(&vm.engine), vm.callee);
            for round in 1..5 {
                (vm.then, vm.outcomes) = (Some(add), Vec::new());
                let mut fiber = engine.fiber(endless, (7u64,)).expect("there is a stack");
                let result: Result<Resumed, Error> = fiber.resume(&mut vm, 0);
                assert_eq!(result, Err(Error::Trap { trap: DEEP, at: 1 }), "{name}, {shape:?}");
                assert_eq!(vm.outcomes, [Ok(6); 2], "{name}, {shape:?}");
                check_told(&vm, round, &(name, shape, round));
            }
        }
    }
}

#[test]
fn without_a_closure_or_by_its_choice_the_error_is_that_of_the_engine() {
    for (name, builder) in ways() {
        let mut vm = machine(builder().native_stack(200_000), Shape::Call);
        let endless = vm.callee;
        vm.engine.on_stack_overflow(|vm, _| {
            vm.times += 1;
            Trap::StackOverflow
        });
        assert_eq!(run(&mut vm, endless), Err(Error::StackOverflow), "{name}");
        assert_eq!(vm.times, 1, "{name}");
    }
}
