//! Functions that are compiled on a background thread while they run.

#[cfg(target_os = "linux")]
mod children;

use azulejo::prelude::*;
use std::time::{Duration, Instant};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Less { a: In<i64>, k: Imm<i64>, to: Label },
    Loop { n: InOut<i64>, to: Label },
    Call { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Const    => $value
    Op::Add      => (add $a $b)
    Op::AddConst => (add $a $k)
    Op::Less     => (when (lt $a $k) (branch $to))
    Op::Loop!    => (dov (set $n (sub $n 1)) (when (nz $n) (branch $to)))
    Op::Call     => (invoke $f (arglist $a) i64)
    Op::Return   => (return $a)
}

fn engine() -> Engine<Op> {
    Engine::<Op>::builder().background(true).thresholds(5, 50).build()
}

/// Counts `n` down and sums up all numbers, with `work` additions in each iteration.
fn sum(work: usize) -> Vec<Op> {
    let mut code = vec![Op::Const { dst: 1.into(), value: Imm(0) }];
    code.push(Op::Add { dst: 1.into(), a: 1.into(), b: 0.into() });
    for at in 0..work {
        let k = if at % 2 == 0 { 3 } else { -3 };
        code.push(Op::AddConst { dst: 1.into(), a: 1.into(), k: Imm(k) });
    }
    code.push(Op::Loop { n: 0.into(), to: Label(1) });
    code.push(Op::Return { a: 1.into() });
    code
}

fn fib(f: u32) -> Vec<Op> {
    vec![
        Op::Less { a: 0.into(), k: Imm(2), to: Label(6) },
        Op::AddConst { dst: 1.into(), a: 0.into(), k: Imm(-1) },
        Op::Call { dst: 1.into(), f: Imm(f), a: 1.into() },
        Op::AddConst { dst: 2.into(), a: 0.into(), k: Imm(-2) },
        Op::Call { dst: 2.into(), f: Imm(f), a: 2.into() },
        Op::Add { dst: 0.into(), a: 1.into(), b: 2.into() },
        Op::Return { a: 0.into() },
    ]
}

/// Calls until the optimizer's code is installed, or a minute has passed. Returns whether the code was installed.
fn tier_up(engine: &Engine<Op>, function: FunctionId, call: impl Fn()) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while engine.tier(function) < Tier::Optimizer && Instant::now() < end {
        call();
        std::thread::yield_now();
    }
    engine.tier(function) == Tier::Optimizer
}

#[test]
fn hot_functions_tier_up_while_they_run() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = engine();
    let loops = engine.define("loops", sum(10), 2).expect("it is right");
    let calls = engine.define("calls", fib(1), 3).expect("it is right");
    let sums = || assert_eq!(engine.call::<_, i64>(loops, &mut (), (100i64,)), Ok(5050));
    let fibs = || assert_eq!(engine.call::<_, i64>(calls, &mut (), (11i64,)), Ok(89));
    assert!(tier_up(&engine, calls, fibs));
    // The loop gets code of its own first. Calls keep counting until the whole function has code.
    assert!(tier_up(&engine, loops, sums));
    (0..50).for_each(|_| sums());
    (0..50).for_each(|_| fibs());
}

#[test]
fn nobody_waits_for_the_compiler() {
    if azulejo::can_compile().is_err() {
        return;
    }
    // Compiling this function takes the optimizer some time, but running it once takes almost none.
    let engine = engine();
    let long = engine.define("long", sum(20_000), 2).expect("it is right");
    let start = Instant::now();
    engine.compile(long).expect("it compiles");
    let compiling = start.elapsed();
    engine.discard(long).expect("it is there");
    let mut longest = Duration::ZERO;
    let mut calls = 0;
    while engine.tier(long) < Tier::Optimizer && calls < 100_000 {
        let start = Instant::now();
        assert_eq!(engine.call::<_, i64>(long, &mut (), (1i64,)), Ok(1));
        longest = longest.max(start.elapsed());
        calls += 1;
    }
    assert!(engine.tier(long) == Tier::Optimizer, "{calls} calls");
    // The function was called while it was compiled. (A bound on the longest call would depend on the machine's load.)
    assert!(calls > 56, "{calls} calls, the longest {longest:?}, compiling {compiling:?}");
}

#[test]
fn what_is_thrown_away_meanwhile_stays_away() {
    if azulejo::can_compile().is_err() {
        return;
    }
    for rounds in 0..20 {
        let engine = engine();
        let function = engine.define("f", sum(300), 2).expect("it is right");
        let call = || assert_eq!(engine.call::<_, i64>(function, &mut (), (9i64,)), Ok(45));
        // The function is now being compiled, or waits for that.
        (0..10 + rounds).for_each(|_| call());
        engine.discard(function).expect("it is there");
        assert_eq!(engine.tier(function), Tier::Interpreter);
        call();
        assert!(engine.tier(function) <= Tier::Baseline);
        // An engine may be dropped while its thread works.
    }
}

/// A function that was discarded or removed while it waited is not compiled.
#[test]
fn what_is_thrown_away_leaves_the_queue() {
    if azulejo::can_compile().is_err() {
        return;
    }
    let engine = engine();
    let long = engine.define("long", sum(20_000), 2).expect("it is right");
    let hot = |function| {
        for _ in 0..60 {
            assert_eq!(engine.call::<_, i64>(function, &mut (), (2i64,)), Ok(3));
        }
    };
    // The others wait while this one is compiled.
    hot(long);
    for at in 0..30 {
        let function = engine.define("short", sum(2), 2).expect("it is right");
        hot(function);
        match at % 2 {
            0 => engine.discard(function).expect("it is there"),
            _ => engine.remove(function).expect("it is there"),
        }
    }
    let last = engine.define("last", sum(2), 2).expect("it is right");
    let call = |function| assert_eq!(engine.call::<_, i64>(function, &mut (), (2i64,)), Ok(3));
    assert!(tier_up(&engine, last, || call(last)) && tier_up(&engine, long, || call(long)));
    // The two remaining functions have one or two entries each.
    let compiled = engine.stats().optimizer.compiled;
    assert!(compiled <= 6, "{compiled} times");
}

/// More functions become hot at once than the queue can hold: all tier up, and the queue takes little memory.
#[test]
#[cfg(target_os = "linux")]
fn many_functions_tier_up_with_little_memory() {
    use std::io::{Read, Write, pipe};
    if azulejo::can_compile().is_err() {
        return;
    }
    let peak = |background: bool| {
        let (mut reader, mut writer) = pipe().expect("the system has a pipe");
        let kib = |name: &str| {
            let status = std::fs::read_to_string("/proc/self/status").expect("the system tells");
            let kib = status.lines().find_map(|line| line.strip_prefix(name)).expect("there is one");
            kib.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number")
        };
        let work = || {
            // The memory that other tests use at the moment.
            let before = kib("VmRSS:");
            let builder = Engine::<Op>::builder().background(background).thresholds(5, 50);
            let engine: Engine<Op> = builder.build();
            let define = |_| engine.define("f", sum(4), 2).expect("it is right");
            let functions: Vec<FunctionId> = (0..20_000).map(define).collect();
            let hot = &functions[..1000];
            let call = |function| assert_eq!(engine.call::<_, i64>(function, &mut (), (9i64,)), Ok(45));
            for _ in 0..40 {
                hot.iter().for_each(|function| call(*function));
            }
            assert!(hot.iter().all(|function| tier_up(&engine, *function, || call(*function))));
            let grown = kib("VmHWM:").saturating_sub(before);
            writer.write_all(&grown.to_ne_bytes()).expect("the parent reads it");
        };
        children::child(work).join();
        let mut grown = [0; 8];
        reader.read_exact(&mut grown).expect("the child wrote it");
        u64::from_ne_bytes(grown)
    };
    let (without, with) = (peak(false), peak(true));
    assert!(with * 10 <= without * 12, "{with} KiB instead of {without}");
}
