//! How a program's engine is made.
//!
//! In: where functions run, and what limits them. Out: an engine.

use super::bytecode::Op;
use super::vm::Tiers;
use azulejo::prelude::*;

/// The bytes of a coroutine's stack, for as many calls as C's Lua has, which are 16,000. They are memory only once they are used, but addresses
/// may be few. The interpreter in Rust takes more, and most takes what rustc has not optimized.
fn coroutine_stack(tiers: Tiers) -> usize {
    match (tiers, cfg!(debug_assertions)) {
        (Tiers::InterpreterInRust, true) => 400 << 20,
        (Tiers::InterpreterInRust, false) => 32 << 20,
        (_, true) => 64 << 20,
        (_, false) => 10 << 20,
    }
}

/// The registers of a coroutine's functions, for as many calls. Where the system counts memory that nobody has touched there are fewer.
const COROUTINE_SLOTS: usize = if cfg!(windows) { 1 << 16 } else { 1 << 19 };

/// The bytes of a thread's stack that calls may take. What rustc has not optimized takes more here, too.
pub(crate) const NATIVE_STACK: usize = if cfg!(debug_assertions) { 400 << 20 } else { 64 << 20 };

/// What a program is made with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Where functions run.
    pub(crate) tiers: Tiers,
    /// How much they may run; `None` for no limit.
    pub(crate) fuel: Option<u64>,
    /// Whether it is known where the program is when it is stopped.
    pub(crate) backtraces: bool,
    /// Whether the compilers and the collector measure their time.
    pub(crate) times: bool,
    /// Whether functions are compiled so that samples of them can be taken.
    pub(crate) samples: bool,
    /// Whether the optimizer works on a thread of its own.
    pub(crate) background: bool,
}

impl Settings {
    /// Whether the optimizer works beside the program: where functions climb, if it is to.
    pub(crate) fn is_beside(&self) -> bool {
        self.background && self.tiers == Tiers::Climbing
    }

    /// An engine without functions.
    pub(super) fn engine(&self) -> Engine<Op> {
        // The collector moves nothing. `debug.setlocal` tells the engine.
        let builder = Engine::<Op>::builder().registers_only_read(true);
        let builder = match self.tiers {
            Tiers::InterpreterInRust => builder.only(Tier::Interpreter).rust_interpreter(true),
            Tiers::Interpreter => builder.only(Tier::Interpreter),
            Tiers::Baseline => builder.up_to(Tier::Baseline),
            Tiers::Optimizer => builder.thresholds(0, 20),
            Tiers::Climbing => builder.background(self.is_beside()),
        };
        let builder = match self.fuel {
            Some(fuel) => builder.fuel(fuel),
            None => builder,
        };
        let builder = builder.backtraces(self.backtraces).times(self.times);
        builder
            .native_stack(NATIVE_STACK)
            .stack_slots(4 << 20)
            .fiber_stack(coroutine_stack(self.tiers), COROUTINE_SLOTS)
            .build()
    }
}
