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

/// How often a fiber is resumed in a round, and how many rounds there are.
const TURNS: u64 = 100_000;
const ROUNDS: usize = 10;

/// Prints the nanoseconds, of the fastest rounds.
pub(super) fn print() -> Result<(), Error> {
    let mut all = Vec::new();
    for (name, tier) in
        [("interpreter", Tier::Interpreter), ("baseline", Tier::Baseline), ("optimizer", Tier::Optimizer)]
    {
        let engine = match tier {
            Tier::Interpreter => Engine::<SwitchOp>::builder().only(tier).build(),
            _ => Engine::<SwitchOp>::builder().up_to(tier).build(),
        };
        let ops = vec![SwitchOp::Yield { dst: 0.into(), a: 0.into() }, SwitchOp::Jump(Label(0))];
        let echo = engine.define("echo", ops, 1)?;
        if tier != Tier::Interpreter {
            engine.compile_in(echo, tier)?;
        }
        let mut fiber = engine.fiber(echo, (0u64,))?;
        let mut fastest = u64::MAX;
        for _ in 0..ROUNDS {
            let start = clock::now();
            for turn in 0..TURNS {
                // It gives back what it is resumed with; its argument when it starts.
                assert_eq!(fiber.resume(&mut (), turn)?, Resumed::Suspended(turn));
            }
            fastest = fastest.min(clock::now() - start);
            fiber = engine.fiber(echo, (0u64,))?;
        }
        all.push(format!("{name} {:.1}", fastest as f64 / TURNS as f64));
    }
    println!("a fiber is resumed and suspends itself, in ns: {}", all.join(", "));
    Ok(())
}
