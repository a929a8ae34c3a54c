//! Fibers: how long a switch takes, and how much memory a hundred thousand of them.
//!
//! In: nothing. Out: a table. `cargo run --release --example fibers`

use azulejo::prelude::*;
use azulejo::{Resumed, suspend};
use std::time::Instant;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Yield { dst: Out<u64>, a: In<u64> },
    AddConst { dst: Out<u64>, a: In<u64>, k: Imm<u64> },
    Jump(Label),
    Call { dst: Out<u64>, function: Imm<u32>, a: In<u64> },
    Return { a: In<u64> },
}

template! {
    Op::Yield    => (call throws suspend (arglist (carg $a u64)) u64)
    Op::AddConst => (add $a $k)
    Op::Jump     => (branch $0)
    Op::Call     => (invoke $function (arglist $a) u64)
    Op::Return   => (return $a)
}

/// Yields one number after the other.
fn count() -> Vec<Op> {
    vec![
        Op::Yield { dst: 1.into(), a: 0.into() },
        Op::AddConst { dst: 0.into(), a: 0.into(), k: Imm(1) },
        Op::Jump(Label(0)),
    ]
}

/// The time of one switch in nanoseconds: half of a resumption and the suspension that ends it.
fn switch(tier: Tier) -> Result<f64, Error> {
    const TIMES: u64 = 10_000_000;
    let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
    let count = engine.define("count", count(), 2)?;
    let mut fiber = engine.fiber(count, (0u64,))?;
    let mut best = f64::MAX;
    for round in 0..5 {
        let start = Instant::now();
        for n in 0..TIMES / 5 {
            assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Suspended(round * (TIMES / 5) + n));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (TIMES / 5) as f64 / 2.0);
    }
    Ok(best)
}

/// Bytes of memory that the process has, and with what the system needs to map them; `None` where nothing tells.
fn memory() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let field = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib << 10)
    };
    let (pages, tables) = (field("VmRSS:")?, field("VmPTE:")?);
    Some((pages, pages + tables))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if !azulejo::can_switch() {
        println!("there are no fibers on this machine");
        return Ok(());
    }
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        println!("{tier:>12?}: {:5.1} ns a switch", switch(tier)?);
    }

    let engine = Engine::<Op>::new();
    engine.define("count", count(), 2)?;
    let call = vec![Op::Call { dst: 0.into(), function: Imm(0), a: 0.into() }, Op::Return { a: 0.into() }];
    let call = engine.define("call", call, 1)?;
    let before = memory();
    let start = Instant::now();
    let mut fibers = Vec::new();
    for n in 0..100_000u64 {
        let mut fiber = match engine.fiber(call, (n,)) {
            Err(Error::OutOfFiberStacks) => break,
            fiber => fiber?,
        };
        assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Suspended(n));
        fibers.push(fiber);
    }
    let each = |start: Instant, n: usize| start.elapsed().as_nanos() / n as u128;
    println!("{} fibers, each started in {} ns", fibers.len(), each(start, fibers.len()));
    if let (Some((before, _)), Some((now, with_tables))) = (before, memory()) {
        println!(
            "{} MiB of memory, {} MiB with the system's tables",
            (now - before) >> 20,
            with_tables >> 20
        );
    }
    let start = Instant::now();
    for (n, fiber) in fibers.iter_mut().enumerate() {
        assert_eq!(fiber.resume(&mut (), 0)?, Resumed::Suspended(n as u64 + 1));
    }
    println!("each resumed in turn, and suspended, in {} ns", each(start, fibers.len()));
    let (start, n) = (Instant::now(), fibers.len());
    drop(fibers);
    println!("each dropped in {} ns", each(start, n));
    if let (Some((before, _)), Some((now, _))) = (before, memory()) {
        println!("{} MiB of memory more than before", now.saturating_sub(before) >> 20);
    }
    let start = Instant::now();
    for n in 0..1_000_000u64 {
        assert_eq!(engine.fiber(call, (n,))?.resume(&mut (), 0)?, Resumed::Suspended(n));
    }
    println!("one after the other made, started and dropped in {} ns", each(start, 1_000_000));
    Ok(())
}
