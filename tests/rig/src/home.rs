//! An engine with the library's functions, whose code is compiled and discarded while programs run.
//!
//! In: tiers. Out: an engine with so little code memory that code that was not called recently is discarded. A program's
//! `Churn` compiles and discards code of the library's functions, too.

use crate::library::{called_by_address, library};
use crate::machine::{Callee, Memo, Op};
use azulejo::{Callable, Engine, Error, FunctionId, Tier};
use azulejo_core::random::Random;
use std::fmt;
use std::ptr::NonNull;

/// The tiers that an engine uses.
#[derive(Clone, Copy, Debug)]
pub enum Tiers {
    /// Functions tier up, soon and after random thresholds.
    All,
    /// Functions tier up, but not to the optimizer.
    UpToBaseline,
    /// Only this tier.
    Only(Tier),
}

/// An engine with the library's functions.
pub struct Home {
    /// The engine.
    pub engine: Engine<Op>,
    library: Vec<FunctionId>,
    /// The library's functions by address.
    pub(crate) callables: Box<[*const Callable; 16]>,
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Home").field("library", &self.library).finish_non_exhaustive()
    }
}

impl Home {
    /// Makes an engine with `code_bytes` of code memory. With guards, accesses may fault in it.
    pub fn new(tiers: Tiers, guards: bool, code_bytes: usize, seed: u64) -> Result<Home, Error> {
        let mut random = Random::new(seed);
        let builder = Engine::<Op>::builder().checks(true).code_bytes(code_bytes).stack_slots(1 << 12);
        let builder = builder.thresholds(random.below(4) as u32, random.below(8) as u32);
        let builder = match tiers {
            Tiers::All => builder,
            Tiers::UpToBaseline => builder.up_to(Tier::Baseline),
            Tiers::Only(tier) => builder.only(tier),
        };
        let builder = builder.backtraces(random.one_in(2)).inlining(!random.one_in(4));
        // Loops poll whether they are to stop. The engine starts with little fuel and is refuelled again and again, so
        // loops stop often and resume.
        let is_fueled = random.one_in(3);
        let builder = if is_fueled { builder.fuel(random.below(40) as u64) } else { builder };
        // SAFETY: all accesses out of bounds are behind the edge, where they fault.
        let engine: Engine<Op> = unsafe { builder.guards(guards) }.build();
        if is_fueled {
            let portion = 1 + random.below(40) as u64;
            engine.when_out_of_fuel(move || portion);
        } else if random.one_in(2) {
            engine.interrupter();
        }
        let library = library().functions().iter().map(|function| function.define(&engine));
        let library = library.collect::<Result<Vec<_>, _>>()?;
        let callable = |number: usize| engine.callable(library[called_by_address(number)]);
        let mut callables = Box::new([std::ptr::null(); 16]);
        for (number, address) in callables.iter_mut().enumerate() {
            *address = callable(number)?;
        }
        Ok(Home { engine, library, callables })
    }

    /// Makes all sites forget some of what they know, which code that runs may have been made for.
    fn forget(&self, seed: u64) {
        let mut random = Random::new(seed);
        match random.below(4) {
            0 => self.engine.clear_sites(),
            1 => self.engine.retain_cases(|_: &Memo| random.one_in(2)),
            2 => self.engine.retain_cases(|_: &Callee| random.one_in(2)),
            _ => {}
        }
    }

    /// Compiles and discards code of library functions, some of which may be running.
    fn churn(&self, seed: u64) {
        let Home { engine, library, .. } = self;
        let mut random = Random::new(seed);
        for _ in 0..1 + random.below(3) {
            let function = library[random.below(library.len())];
            let tier = [Tier::Baseline, Tier::Optimizer][random.below(2)];
            // A function without room for its code is interpreted.
            let _ =
                if random.one_in(2) { engine.discard(function) } else { engine.compile_in(function, tier) };
        }
    }
}

/// The engine that runs a program, if there is one. All values are equal: a program does the same with and without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running(Option<NonNull<Home>>);

impl Running {
    /// The running engine is `home`'s.
    ///
    /// # Safety
    ///
    /// `home` must outlive every run of a program with this value.
    pub unsafe fn within(home: &Home) -> Running {
        Running(Some(NonNull::from(home)))
    }

    /// Implements `Forget`.
    pub(crate) fn forget(self, seed: u64) {
        if let Some(home) = self.0 {
            // SAFETY: as for `churn`.
            unsafe { home.as_ref() }.forget(seed);
        }
    }

    /// Implements `Churn`.
    pub(crate) fn churn(self, seed: u64) {
        if let Some(home) = self.0 {
            // SAFETY: the caller of `within` promised that the home outlives the run.
            unsafe { home.as_ref() }.churn(seed);
        }
    }
}

impl PartialEq for Running {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
