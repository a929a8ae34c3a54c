//! An engine that has the library, in which code comes and goes while programs run.
//!
//! In: tiers. Out: an engine with little code memory, so that what was called long ago is thrown away; and besides, what a program's
//! `Churn` does to the library's functions.

use crate::library::library;
use crate::machine::Op;
use azulejo::{Engine, Error, FunctionId, Tier};
use azulejo_core::random::Random;
use std::fmt;
use std::ptr::NonNull;

/// Which tiers an engine uses.
#[derive(Clone, Copy, Debug)]
pub enum Tiers {
    /// Functions climb, soon and at random.
    All,
    /// As above, but not to the optimizer.
    UpToBaseline,
    /// This one.
    Only(Tier),
}

/// An engine, and the library's functions in it.
pub struct Home {
    /// The engine.
    pub engine: Engine<Op>,
    library: Vec<FunctionId>,
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").field("library", &self.library).finish_non_exhaustive()
    }
}

impl Home {
    /// An engine with memory for so many bytes of code. With guards, accesses may fault in it.
    pub fn new(tiers: Tiers, guards: bool, code_bytes: usize, seed: u64) -> Result<Home, Error> {
        let mut random = Random::new(seed);
        let builder = Engine::<Op>::builder().checks(true).code_bytes(code_bytes).stack_slots(1 << 12);
        let builder = builder.thresholds(random.below(4) as u32, random.below(8) as u32);
        let builder = match tiers {
            Tiers::All => builder,
            Tiers::UpToBaseline => builder.up_to(Tier::Baseline),
            Tiers::Only(tier) => builder.only(tier),
        };
        let builder = builder.backtraces(random.one_in(2));
        // Loops look whether they are to stop. There is little fuel at once, and always more: so they stop often and go on.
        let is_fueled = random.one_in(3);
        let builder = if is_fueled { builder.fuel(random.below(40) as u64) } else { builder };
        // SAFETY: what is out of bounds is behind the edge.
        let engine: Engine<Op> = unsafe { builder.guards(guards) }.build();
        if is_fueled {
            let portion = 1 + random.below(40) as u64;
            engine.when_out_of_fuel(move || portion);
        } else if random.one_in(2) {
            engine.interrupter();
        }
        let library = library().functions().iter().map(|function| function.define(&engine));
        let library = library.collect::<Result<_, _>>()?;
        Ok(Home { engine, library })
    }

    /// Code of functions of the library comes and goes, perhaps while they run.
    fn churn(&self, seed: u64) {
        let Home { engine, library } = self;
        let mut random = Random::new(seed);
        for _ in 0..1 + random.below(3) {
            let function = library[random.below(library.len())];
            let tier = [Tier::Baseline, Tier::Optimizer][random.below(2)];
            // What there is no room for is interpreted.
            let _ =
                if random.one_in(2) { engine.discard(function) } else { engine.compile_in(function, tier) };
        }
    }
}

/// The engine that runs a program, if there is one. Wherever it runs, it does the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running(Option<NonNull<Home>>);

impl Running {
    /// In this one.
    ///
    /// # Safety
    ///
    /// It must be there as long as a program runs with this.
    pub unsafe fn within(home: &Home) -> Running {
        Running(Some(NonNull::from(home)))
    }

    /// What `Churn` does.
    pub(crate) fn churn(self, seed: u64) {
        if let Some(home) = self.0 {
            // SAFETY: who ran the program with it promised that it is there.
            unsafe { home.as_ref() }.churn(seed);
        }
    }
}

impl PartialEq for Running {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
