//! The statistics of an engine.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::prelude::*;
use std::ops::ControlFlow;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Leave { a: In<i64>, b: In<i64> },
    Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Load     => $value
    Op::Add      => (add $a $b)
    Op::Leave    => (when (lt $a $b) (exit))
    Op::Call     => (invoke $function (arglist $a) i64)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return   => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// Counts from zero to register 0, and exits once for each number below register 4.
fn count() -> Vec<Op> {
    vec![
        Op::Load { dst: r(1), value: Imm(0) },
        Op::Load { dst: r(2), value: Imm(1) },
        Op::Leave { a: r(1), b: r(4) },
        Op::Add { dst: r(1), a: r(1), b: r(2) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(2) },
        Op::Return { a: r(1) },
    ]
}

#[test]
fn compilations_are_counted_by_what_they_are_for() {
    let engine: Engine<Op> = Engine::<Op>::builder().only(Tier::Optimizer).inlining(false).build();
    let callee = engine.define("callee", count(), 5).expect("it is right");
    let caller =
        vec![Op::Call { dst: r(1), function: Imm(callee.number()), a: r(0) }, Op::Return { a: r(1) }];
    let caller = engine.define("caller", caller, 2).expect("it is right");
    let before = engine.stats();
    assert_eq!((before.functions, before.in_interpreter, before.code_used), (2, 2, 0));
    assert_eq!(engine.call::<_, i64>(caller, &mut (), (10i64,)), Ok(10));
    let after = engine.stats();
    assert_eq!((after.in_interpreter, after.in_optimizer, after.in_baseline), (0, 2, 0));
    assert_eq!((after.optimizer.compiled, after.optimizer.bytecodes), (1, 2));
    assert_eq!((after.optimizer_for_calls.compiled, after.optimizer_for_calls.bytecodes), (1, 6));
    assert_eq!(after.optimizer.bytes, engine.code_len(caller) as u64);
    assert!(after.code_used >= engine.code_len(caller) && after.code_used < after.code_bytes);
    assert!(after.passes.is_empty() && after.optimizer.time.is_zero(), "nobody asked for times");
    engine.compile_in(callee, Tier::Baseline).expect("it compiles");
    assert_eq!((engine.stats().baseline.compiled, engine.stats().baseline.bytecodes), (1, 6));
}

#[test]
fn times_of_passes_are_all_of_the_time() {
    let engine: Engine<Op> = Engine::<Op>::builder().times(true).build();
    for name in ["a", "b", "c"] {
        let function = engine.define(name, count(), 5).expect("it is right");
        engine.compile(function).expect("it compiles");
        engine.compile_in(function, Tier::Baseline).expect("it compiles");
    }
    let stats = engine.stats();
    let names: Vec<&str> = stats.passes.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.join(" "), "build represent rewrite forward dead place tile live allocate emit install");
    assert!(stats.passes.iter().all(|(_, time)| !time.is_zero()), "{stats:?}");
    let sum: std::time::Duration = stats.passes.iter().map(|(_, time)| *time).sum();
    assert_eq!(sum, stats.optimizer.time + stats.baseline.time);
}

#[test]
fn exits_are_counted_by_their_opcodes() {
    let engine = Engine::<Op>::new();
    let function = engine.define("count", count(), 5).expect("it is right");
    engine.compile(function).expect("it compiles");
    let run = |leave: i64| engine.call::<_, i64>(function, &mut (), (10i64, 0i64, 0i64, 0i64, leave));
    assert_eq!(run(0), Ok(10));
    assert_eq!(engine.stats().exits, []);
    // After an exit the interpreter runs past the next jump back, since its target has no compiled code.
    assert_eq!(run(1), Ok(10));
    assert_eq!(engine.stats().exits, [("Add", 1)], "that is behind what leaves");
    assert_eq!(engine.stats().tier_ups, 0);

    let engine: Engine<Op> = Engine::<Op>::builder().thresholds(5, 20).build();
    let function = engine.define("count", count(), 5).expect("it is right");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (1000i64,)), Ok(1000));
    let stats = engine.stats();
    // Baseline code is left when its budget is used up: the first time a call is awaited, the second time the loop is compiled. Leaving
    // the interpreter is not counted.
    assert_eq!((stats.tier_ups, stats.exits.len()), (2, 0), "{stats}");
    assert_eq!((stats.baseline.compiled, stats.optimizer.compiled), (1, 1));
}

#[test]
fn what_makes_room_is_counted() {
    let engine: Engine<Op> = Engine::<Op>::builder().code_bytes(1 << 12).build();
    for number in 0..200 {
        let function = engine.define(format!("f{number}"), count(), 5).expect("it is right");
        engine.compile(function).expect("others make room");
    }
    let stats = engine.stats();
    assert_eq!(stats.optimizer.compiled, 200);
    assert!(stats.evicted > 100 && stats.optimizer.failed > 0, "{stats}");
    assert_eq!(stats.in_optimizer as u64, 200 - stats.evicted);
    assert!(stats.code_used <= stats.code_bytes && stats.code_bytes == 1 << 12);
}

#[test]
fn another_threads_work_is_counted() {
    let engine: Engine<Op> = Engine::<Op>::builder().background(true).times(true).thresholds(5, 20).build();
    let function = engine.define("count", count(), 5).expect("it is right");
    for _ in 0..1000 {
        assert_eq!(engine.call::<_, i64>(function, &mut (), (3000i64,)), Ok(3000));
        if engine.stats().optimizer.compiled > 0 {
            break;
        }
    }
    let stats = engine.stats();
    assert!(stats.optimizer.compiled > 0 && !stats.optimizer.time.is_zero(), "{stats}");
}

#[test]
fn a_batch_tells_how_far_it_is_and_ends_when_told() {
    let engine = Engine::<Op>::new();
    let mut functions: Vec<FunctionId> =
        (0..4).map(|at| engine.define(format!("f{at}"), count(), 5).expect("it is right")).collect();
    functions.push(engine.declare("nothing", || None));
    functions.push(engine.define("last", count(), 5).expect("it is right"));
    let mut told = Vec::new();
    let compiled = engine.compile_all(&functions, Tier::Baseline, |progress| {
        assert_eq!((progress.all, progress.function), (6, functions[progress.done - 1]));
        told.push(progress.result);
        ControlFlow::Continue(())
    });
    assert_eq!(told, [Ok(()), Ok(()), Ok(()), Ok(()), Err(Error::NotMade), Ok(())]);
    assert_eq!((compiled, engine.stats().baseline.compiled), (5, 5));
    let stop = |progress: azulejo::Progress| match progress.done {
        2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert_eq!(engine.compile_all(&functions, Tier::Optimizer, stop), 2);
    assert_eq!(engine.stats().in_optimizer, 2);
}

#[test]
fn statistics_print_as_tables() {
    let engine: Engine<Op> = Engine::<Op>::builder().times(true).build();
    let function = engine.define("count", count(), 5).expect("it is right");
    engine.compile(function).expect("it compiles");
    assert_eq!(engine.call::<_, i64>(function, &mut (), (10i64, 0i64, 0i64, 0i64, 1i64)), Ok(10));
    let text = engine.stats().to_string();
    let has = |words: &[&str]| {
        text.lines().any(|line| line.split_whitespace().take(words.len()).eq(words.iter().copied()))
    };
    assert!(has(&["functions", "1:", "0", "in", "the", "interpreter,"]), "{text}");
    assert!(has(&["optimizer", "1", "0", "6"]), "{text}");
    assert!(has(&["allocate"]) && has(&["install"]), "{text}");
    assert!(has(&["to", "resume", "at", "Add", "1"]), "{text}");
}
