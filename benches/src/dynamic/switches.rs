//! How long it takes to resume a fiber until it suspends itself again: two switches between stacks, in each tier.
//!
//! The fiber's function is a loop that suspends and does nothing else, so what is measured is the switches, and what a call of Rust
//! that may fail costs in the tier.

use crate::clock;
use azulejo::prelude::*;
use azulejo::{Resumed, suspend};

#[derive(Bytecode, Clone, Copy, Debug)]
enum SwitchOp {
    Yield { dst: Out<u64>, a: In<u64> },
    Jump(Label),
}

template! {
    SwitchOp::Yield => (call throws suspend (arglist (carg $a u64)) u64)
    SwitchOp::Jump  => (branch $0)
}

/// How many rounds there are.
const ROUNDS: usize = 100;

/// Prints the nanoseconds, of the fastest rounds.
pub(super) fn print() -> Result<(), Error> {
    let mut all = Vec::new();
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine: Engine<SwitchOp> = super::builder(tier).build();
        let ops = vec![SwitchOp::Yield { dst: 0.into(), a: 0.into() }, SwitchOp::Jump(Label(0))];
        let echo = engine.define("echo", ops, 1)?;
        if tier != Tier::Interpreter {
            engine.compile_in(echo, tier)?;
        }
        let mut fiber = engine.fiber(echo, (0u64,))?;
        // It gives back what it is resumed with; its argument, which is the number of the first turn, when it starts.
        let fastest = clock::fastest(ROUNDS, |turn| {
            assert_eq!(fiber.resume(&mut (), turn as u64), Ok(Resumed::Suspended(turn as u64)));
        });
        all.push(format!("{} {fastest:.1}", super::name(tier)));
    }
    println!("a fiber is resumed and suspends itself, in ns: {}", all.join(", "));
    Ok(())
}
