//! Functions of Rust that bytecode has called call functions of bytecode: the same result and the same failure in every tier.

mod ways;

use azulejo::prelude::*;
use azulejo::{Builder, Code, Error, Surplus, Trap};
use std::rc::Rc;
use ways::ways;

struct Vm {
    engine: Rc<Engine<Op>>,
    callee: FunctionId,
    /// How many arguments the callee gets.
    arguments: usize,
    /// What the calls have failed with.
    failed: Vec<Error>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Add { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Div { dst: Out<u64>, a: In<u64>, b: In<u64> },
    CallBack { dst: Out<u64>, a: In<u64>, b: In<u64> },
    CallWithMore { dst: Out<u64> },
    Tail { f: Imm<u32>, run: Regs },
    Count { n: InOut<u64>, to: Label },
    Leave,
    Return { a: In<u64> },
}

template! {
    Op::Add      => (add $a $b)
    Op::Div      => (div $a $b)
    Op::CallBack => (call throws call_back (arglist (carg (tc) ptr) (carg $a u64) (carg $b u64)) u64)
    Op::CallWithMore => (call throws call_with_more_and_more (arglist (carg (tc) ptr)) u64)
    Op::Tail     => (tail $f (arglist $run))
    Op::Count!   => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Leave    => (exit)
    Op::Return   => (return $a)
}

fn call_back(vm: &mut Vm, a: u64, b: u64) -> Result<u64, Trap> {
    let (engine, callee) = (Rc::clone(&vm.engine), vm.callee);
    let result = match vm.arguments {
        0 => engine.call_back(callee, vm, ()),
        2 => engine.call_back(callee, vm, (a, b)),
        count => engine.call_back(callee, vm, &vec![a; count][..]),
    };
    Ok(result.inspect_err(|error| vm.failed.push(*error))?)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The sum of two arguments.
fn add() -> Vec<Op> {
    vec![Op::Add { dst: r(0), a: r(0), b: r(1) }, Op::Return { a: r(0) }]
}

/// Their sum, divided by the second.
fn divide() -> Vec<Op> {
    vec![
        Op::Add { dst: r(0), a: r(0), b: r(1) },
        Op::Div { dst: r(0), a: r(0), b: r(1) },
        Op::Return { a: r(0) },
    ]
}

/// Calls the callee back with two arguments, again and again; returns the last result.
fn caller() -> Vec<Op> {
    vec![
        Op::CallBack { dst: r(3), a: r(0), b: r(1) },
        Op::Count { n: r(2), to: Label(0) },
        Op::Return { a: r(3) },
    ]
}

/// A machine whose callee is this function.
fn machine(builder: Builder, callee: Vec<Op>, registers: u32) -> (Vm, FunctionId) {
    let engine = Rc::new(builder.build::<Op>());
    let callee = engine.define("callee", callee, registers).expect("it is right");
    let caller = engine.define("caller", caller(), 4).expect("it is right");
    (Vm { engine, callee, arguments: 2, failed: Vec::new() }, caller)
}

fn run(vm: &mut Vm, caller: FunctionId, (a, b, rounds): (u64, u64, u64)) -> Result<u64, Error> {
    let engine = Rc::clone(&vm.engine);
    engine.call(caller, vm, (a, b, rounds))
}

#[test]
fn results_and_failures_are_the_same_in_every_tier() {
    for (name, build) in ways() {
        let (mut vm, caller) = machine(build(), divide(), 2);
        for rounds in [1, 3, 500] {
            assert_eq!(run(&mut vm, caller, (41, 1, rounds)), Ok(42), "{name}");
            assert_eq!(vm.failed, [], "{name}");
            let failed = Error::Trap { trap: Trap::DivideByZero, at: 0 };
            assert_eq!(run(&mut vm, caller, (41, 0, rounds)), Err(failed), "{name}");
            assert_eq!(std::mem::take(&mut vm.failed), [failed], "{name}");
            // The backtrace of the inner call is over.
            if name == "with backtraces" {
                let places: Vec<_> =
                    vm.engine.backtrace().frames.iter().map(|frame| (frame.function, frame.at)).collect();
                assert_eq!(places, [(caller, 0)]);
            }
        }
    }
}

/// Functions that nothing but Rust calls climb as others do.
#[test]
fn what_is_called_back_climbs() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let (mut vm, caller) = machine(Engine::<Op>::builder().thresholds(10, 100), add(), 2);
    assert_eq!(run(&mut vm, caller, (20, 22, 1000)), Ok(42));
    assert_eq!(vm.engine.tier(vm.callee), Tier::Optimizer);
}

/// Callees that leave their code, end in a tail call, or take other numbers of arguments.
#[test]
fn any_function_can_be_called_back() {
    for (name, build) in ways() {
        let (mut vm, caller) = machine(build(), vec![Op::Leave, Op::Return { a: r(1) }], 2);
        assert_eq!(run(&mut vm, caller, (20, 22, 300)), Ok(22), "{name}");
        let add = vm.engine.define("add", add(), 2).expect("it is right");
        let tail = vec![Op::Tail { f: Imm(add.number()), run: Regs { first: 0, count: 2 } }];
        vm.callee = vm.engine.define("tail", tail, 2).expect("it is right");
        assert_eq!(run(&mut vm, caller, (20, 22, 300)), Ok(42), "{name}");
        // The arguments that are missing are zero.
        (vm.callee, vm.arguments) = (add, 0);
        assert_eq!(run(&mut vm, caller, (20, 22, 300)), Ok(0), "{name}");
        vm.arguments = 3;
        assert_eq!(run(&mut vm, caller, (20, 22, 300)), Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
        assert_eq!(vm.failed, [Error::TooManyArguments { given: 3, most: 2 }], "{name}");
        let many = vec![Op::Add { dst: r(0), a: r(7), b: r(8) }, Op::Return { a: r(0) }];
        (vm.callee, vm.arguments) = (vm.engine.define("many", many, 9).expect("it is right"), 9);
        assert_eq!(run(&mut vm, caller, (21, 22, 300)), Ok(42), "{name}");
        vm.engine.remove(vm.callee).expect("it is there");
        vm.failed.clear();
        assert_eq!(run(&mut vm, caller, (21, 22, 300)), Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
        assert_eq!(vm.failed, [Error::Removed], "{name}");
    }
}

/// What a callee drops is dropped, whether all arguments would have registers or not, and without the way that takes care of any number.
#[test]
fn a_surplus_is_dropped() {
    for (name, build) in ways() {
        let (mut vm, caller) = machine(build(), add(), 2);
        let code = Code::from(add()).with_arguments(2).with_surplus(Surplus::Dropped);
        vm.callee = vm.engine.define("add and drop", code, 3).expect("it is right");
        for arguments in [2, 3, 12, 1] {
            vm.arguments = arguments;
            let sum = if arguments == 1 { 20 } else { 40 };
            let expected = if arguments == 2 { 42 } else { sum };
            assert_eq!(run(&mut vm, caller, (20, 22, 300)), Ok(expected), "{name}, {arguments}");
        }
        assert_eq!(vm.failed, [], "{name}");
    }
}

/// Nothing runs around a call from outside.
#[test]
fn it_can_be_used_from_outside() {
    for (name, build) in ways() {
        let (mut vm, _) = machine(build(), divide(), 2);
        let engine = Rc::clone(&vm.engine);
        for _ in 0..300 {
            assert_eq!(engine.call_back(vm.callee, &mut vm, (41u64, 1u64)), Ok(42u64), "{name}");
            let failed = engine.call_back::<_, u64>(vm.callee, &mut vm, (41u64, 0u64));
            assert_eq!(failed, Err(Error::Trap { trap: Trap::DivideByZero, at: 0 }), "{name}");
        }
    }
}

/// Arguments of somebody's own, of which there are more each time somebody asks.
struct MoreAndMore(std::cell::Cell<usize>);

impl azulejo::Args for &MoreAndMore {
    fn count(&self) -> usize {
        self.0.replace(1000)
    }

    fn store(self, frame: &mut [u64]) {
        frame[..2].copy_from_slice(&[20, 22]);
    }
}

fn call_with_more_and_more(vm: &mut Vm) -> Result<u64, Trap> {
    let (engine, callee) = (Rc::clone(&vm.engine), vm.callee);
    Ok(engine.call_back(callee, vm, &MoreAndMore(std::cell::Cell::new(2)))?)
}

/// Nothing is read behind the arguments, whatever those say.
#[test]
fn arguments_are_counted_once() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let (mut vm, _) = machine(Engine::<Op>::builder().only(Tier::Optimizer), add(), 2);
    let engine = Rc::clone(&vm.engine);
    let code = vec![Op::CallWithMore { dst: r(0) }, Op::Return { a: r(0) }];
    let caller = engine.define("caller", code, 1).expect("it is right");
    engine.compile(vm.callee).expect("it compiles");
    assert_eq!(engine.call(caller, &mut vm, ()), Ok(42u64));
}

/// A program that calls back for ever runs out of fuel.
#[test]
fn calls_back_use_fuel() {
    for (name, build) in ways() {
        let (mut vm, caller) = machine(build().fuel(10_000), add(), 2);
        let stopped = run(&mut vm, caller, (20, 22, u64::MAX));
        assert!(matches!(stopped, Err(Error::OutOfFuel { .. })), "{name}: {stopped:?}");
        assert_eq!(vm.engine.fuel(), Some(0), "{name}");
        vm.engine.set_fuel(10_000);
        assert_eq!(run(&mut vm, caller, (20, 22, 5)), Ok(42), "{name}");
    }
}
