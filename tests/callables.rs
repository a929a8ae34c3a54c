//! Calls of functions by their addresses, in every tier: from registers, from memory, as constants; calls, tail calls, and calls whose
//! failures are values.

mod ways;

use azulejo::prelude::*;
use azulejo::{Callable, Error};
use ways::ways;

/// A closure of some language: what it calls, and what it has captured.
#[repr(C)]
#[derive(Fields)]
struct Closure {
    function: *const Callable,
    captured: i64,
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Call { dst: Out<i64>, closure: In<*const Closure>, a: In<i64> },
    CallKnown { dst: Out<i64>, function: Imm<u64>, args: Regs },
    CallBits { dst: Out<i64>, function: In<i64>, a: In<i64> },
    Tail { closure: In<*const Closure>, a: In<i64> },
    Attempt { dst: Out<i64>, closure: In<*const Closure>, a: In<i64> },
    Captured { dst: Out<i64>, closure: In<*const Closure> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Reciprocal { dst: Out<i64>, a: In<i64> },
    JumpIfLess { a: In<i64>, k: Imm<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    macro ^function () (load $closure (&field Closure, function))

    Op::Call       => unsafe (invoke (^function) (arglist $closure $a) i64)
    Op::CallKnown  => unsafe (invoke $function (arglist $args) i64)
    Op::CallBits   => unsafe (invoke $function (arglist $a) i64)
    Op::Tail       => unsafe (tail (^function) (arglist $closure $a))
    Op::Attempt    => unsafe (try (invoke (^function) (arglist $closure $a) i64) (ucast (trap_code) i64))
    Op::Captured   => unsafe (load $closure (&field Closure, captured))
    Op::Add        => (add $a $b)
    Op::AddConst   => (add $a $k)
    Op::Reciprocal => (div 1000 $a)
    Op::JumpIfLess => (when (lt $a $k) (branch $to))
    Op::Return     => (return $a)
}

/// An engine for each way to run code.
fn engines() -> impl Iterator<Item = Engine<Op>> {
    ways().into_iter().map(|(_, build)| build().build())
}

/// Defines a function that adds what its closure has captured to its argument, and one that divides by the sum.
fn define(engine: &Engine<Op>) -> [FunctionId; 2] {
    let [closure, a, b] = [0, 1, 2];
    let add = [
        Op::Captured { dst: b.into(), closure: closure.into() },
        Op::Add { dst: a.into(), a: a.into(), b: b.into() },
        Op::Return { a: a.into() },
    ];
    let divide = [&add[..2], &[Op::Reciprocal { dst: a.into(), a: a.into() }, add[2]]].concat();
    [("add", &add[..]), ("divide", &divide[..])]
        .map(|(name, code)| engine.define(name, code, 3).expect("the code is right"))
}

#[test]
fn closures_are_called() {
    for engine in engines() {
        let defined = define(&engine);
        let closures = defined
            .map(|function| Closure { function: engine.callable(function).expect("it exists"), captured: 5 });
        let [first, second, a, sum] = [0, 1, 2, 3];
        // Adds up what both give for the numbers from zero on.
        let code = vec![
            Op::Call { dst: 4.into(), closure: first.into(), a: a.into() },
            Op::Add { dst: sum.into(), a: sum.into(), b: 4.into() },
            Op::Call { dst: 4.into(), closure: second.into(), a: a.into() },
            Op::Add { dst: sum.into(), a: sum.into(), b: 4.into() },
            Op::AddConst { dst: a.into(), a: a.into(), k: Imm(1) },
            Op::JumpIfLess { a: a.into(), k: Imm(100), to: Label(0) },
            Op::Return { a: sum.into() },
        ];
        let run = engine.define("run", code, 5).expect("the code is right");
        let expected: i64 = (0..100).map(|a| a + 5 + 1000 / (a + 5)).sum();
        for _ in 0..20 {
            let given = (&raw const closures[0], &raw const closures[1]);
            assert_eq!(engine.call(run, &mut (), given), Ok(expected));
        }
    }
}

#[test]
fn addresses_are_numbers_and_constants_too() {
    for engine in engines() {
        let [add, _] = define(&engine);
        let callable = engine.callable(add).expect("it exists");
        let closure = Closure { function: callable, captured: 7 };
        let address = callable.expose_provenance();
        let code = vec![
            Op::CallKnown { dst: 3.into(), function: Imm(address as u64), args: Regs { first: 0, count: 2 } },
            Op::CallBits { dst: 4.into(), function: 2.into(), a: 0.into() },
            Op::Add { dst: 3.into(), a: 3.into(), b: 4.into() },
            Op::Return { a: 3.into() },
        ];
        let run = engine.define("run", code, 5).expect("the code is right");
        for _ in 0..20 {
            let given = (&raw const closure, 30i64, address as i64);
            // The second call passes no number to add to.
            assert_eq!(engine.call(run, &mut (), given), Ok(37 + 7i64));
        }
    }
}

#[test]
fn calls_end_callers_and_fail() {
    for engine in engines() {
        let [_, divide] = define(&engine);
        let closure = Closure { function: engine.callable(divide).expect("it exists"), captured: -3 };
        let tail = vec![Op::Tail { closure: 0.into(), a: 1.into() }];
        let tail = engine.define("tail", tail, 2).expect("the code is right");
        let attempt = |dst| Op::Attempt { dst, closure: 0.into(), a: 1.into() };
        let attempt = engine.define("attempt", vec![attempt(1.into()), Op::Return { a: 1.into() }], 2);
        let attempt = attempt.expect("the code is right");
        let call = Op::Call { dst: 1.into(), closure: 0.into(), a: 1.into() };
        let call =
            engine.define("call", vec![call, Op::Return { a: 1.into() }], 2).expect("the code is right");
        let given = |a: i64| (&raw const closure, a);
        for _ in 0..20 {
            assert_eq!(engine.call(tail, &mut (), given(8)), Ok(200i64));
            let failed = engine.call::<_, i64>(tail, &mut (), given(3));
            assert!(matches!(failed, Err(Error::Trap { trap: Trap::DivideByZero, .. })), "{failed:?}");
            assert_eq!(engine.call(attempt, &mut (), given(13)), Ok(100i64));
            assert_eq!(engine.call(attempt, &mut (), given(3)), Ok(Trap::DivideByZero.code() as i64));
        }
        engine.remove(divide).expect("it exists");
        assert_eq!(engine.callable(divide), Err(Error::Removed));
        assert_eq!(engine.call(attempt, &mut (), given(13)), Ok(Trap::BadCall.code() as i64));
        let failed = engine.call::<_, i64>(call, &mut (), given(13));
        assert_eq!(failed, Err(Error::Trap { trap: Trap::BadCall, at: 0 }));
    }
}
