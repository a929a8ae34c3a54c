//! Kinds of values in loops: numbers that a loop keeps are checked in front of it, if at all, and travel outside of their boxes. A program
//! that surprises the optimizer is compiled anew a few times.

use super::machine::{NIL, Op, Vm, add, bits, call, compiles, last_graph, number};
use azulejo::prelude::*;

fn engine() -> Engine<Op> {
    Engine::<Op>::builder().thresholds(10, 100).build()
}

/// `for i in 0..r0 { sum += step }` with the test at the end. The step is r1, the sum r2.
fn sum() -> Vec<Op> {
    vec![
        number(3, 0.0),
        number(4, 1.0),
        Op::Jump { to: 5.into() },
        add(2, 2, 1),
        add(3, 3, 4),
        Op::JumpLess { a: 3.into(), b: 0.into(), to: 3.into() },
        Op::Return { a: 2.into() },
    ]
}

/// How often this operator is in the function, after the last rewriting.
fn count(engine: &Engine<Op>, function: FunctionId, operator: &str) -> usize {
    last_graph(engine, function).matches(operator).count()
}

#[test]
fn a_loop_checks_nothing() {
    let (engine, mut vm) = (engine(), Vm::default());
    let function = engine.define("sum", sum(), 5).expect("it is right");
    // Long enough to tier up in the loop, so the values come from slots.
    let found = call(&engine, function, &mut vm, bits([100_000.0, 2.0, 1.0]));
    assert_eq!(f64::from_bits(found), 200_001.0);
    assert_eq!((vm.slow.get(), engine.stats().missed), (0, 0));
    if compiles() {
        // The bound, the step and the sum are checked once each; nothing else is of an unknown kind.
        assert_eq!(count(&engine, function, "= ult.i64"), 3);
        assert_eq!(count(&engine, function, "= param.f64"), 2);
        assert_eq!(count(&engine, function, "= param.i64"), 0);
    }
}

#[test]
fn a_guard_that_fails_is_not_made_again() {
    let (engine, mut vm) = (engine(), Vm::default());
    let function = engine.define("sum", sum(), 5).expect("it is right");
    call(&engine, function, &mut vm, bits([100_000.0, 2.0, 1.0]));
    // From now on the sum starts as nil, which the slow path of the first addition makes a number.
    for _ in 0..500 {
        let found = call(&engine, function, &mut vm, [4.0f64.to_bits(), 2.0f64.to_bits(), NIL]);
        assert_eq!(f64::from_bits(found), 8.0);
    }
    assert_eq!(vm.slow.get(), 500);
    let stats = engine.stats();
    assert!(stats.missed < 100, "{stats}");
    assert!(stats.optimizer.compiled + stats.optimizer_for_calls.compiled < 12, "{stats}");
    if compiles() {
        let before = engine.stats().missed;
        for _ in 0..1000 {
            call(&engine, function, &mut vm, [4.0f64.to_bits(), 2.0f64.to_bits(), NIL]);
        }
        assert_eq!(engine.stats().missed, before, "the code has what it needs");
    }
}

#[test]
fn inner_loops_are_checked_outside_of_all_loops() {
    // `for i in 0..r0 { for j in 0..r0 { r2 += r1 } }`
    let code = vec![
        number(3, 0.0),
        number(5, 1.0),
        number(4, 0.0),
        add(2, 2, 1),
        add(4, 4, 5),
        Op::JumpLess { a: 4.into(), b: 0.into(), to: 3.into() },
        add(3, 3, 5),
        Op::JumpLess { a: 3.into(), b: 0.into(), to: 2.into() },
        Op::Return { a: 2.into() },
    ];
    let (engine, mut vm) = (engine(), Vm::default());
    let function = engine.define("nested", code, 6).expect("it is right");
    let found = call(&engine, function, &mut vm, bits([300.0, 0.5, 0.0]));
    assert_eq!(f64::from_bits(found), 45_000.0);
    assert_eq!(vm.slow.get(), 0);
    if compiles() {
        assert_eq!(count(&engine, function, "= ult.i64"), 3);
        assert_eq!(count(&engine, function, "= param.i64"), 0);
    }
}

#[test]
fn a_value_that_changes_its_kind_in_the_loop_is_checked_there() {
    // `while r0 != nil && r3 < r1 { r3 += 1; r2 = r0; r0 = r3 }`: r0 starts as whatever, and becomes a number.
    let code = vec![
        number(3, 0.0),
        number(4, 1.0),
        Op::JumpNil { a: 0.into(), to: 7.into() },
        add(3, 3, 4),
        add(2, 0, 3),
        Op::Move { dst: 0.into(), a: 3.into() },
        Op::JumpLess { a: 3.into(), b: 1.into(), to: 2.into() },
        Op::Return { a: 2.into() },
    ];
    let (engine, mut vm) = (engine(), Vm::default());
    let function = engine.define("changes", code, 5).expect("it is right");
    for round in 0..200u64 {
        let found = call(&engine, function, &mut vm, bits([7.0, 40.0, 0.0]));
        assert_eq!(f64::from_bits(found), 79.0);
        let (_, other) = (round, NIL + 1);
        // Something that is of no kind: the slow path gives it back.
        let found = call(&engine, function, &mut vm, [other, 1.0f64.to_bits(), 0]);
        assert_eq!(found, other);
        assert_eq!(call(&engine, function, &mut vm, [NIL, 40.0f64.to_bits(), 5]), 5);
    }
    assert_eq!(vm.slow.get(), 200);
    assert!(engine.stats().optimizer.compiled + engine.stats().optimizer_for_calls.compiled < 20);
}
