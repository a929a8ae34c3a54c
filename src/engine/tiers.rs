//! The tiers, and the thresholds at which functions move from one to the next.

/// A way to run a function.
///
/// ```
/// use azulejo::Tier;
/// assert!(Tier::Interpreter < Tier::Baseline && Tier::Baseline < Tier::Optimizer);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Tier {
    /// Interpretation of one bytecode after another: in machine code that is shared by all functions, or where there is none, and the
    /// first few times, in Rust.
    Interpreter,
    /// Machine code copied together from stencils, one for each bytecode: very fast to compile, and several times faster
    /// than the interpreter.
    Baseline,
    /// Optimized machine code for the function as a whole.
    Optimizer,
}

/// The policy by which functions are compiled without a request of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiers {
    /// The tier for which functions are compiled before they run.
    pub(super) lowest: Tier,
    /// The tier up to which functions tier up.
    pub(super) highest: Tier,
    /// After how many calls and loop iterations functions tier up, from the interpreter and from baseline code.
    pub(super) thresholds: [u32; 2],
    /// Whether a function must also have run for as long as compiling it is expected to take.
    pub(super) by_work: bool,
}

impl Default for Tiers {
    fn default() -> Tiers {
        Tiers { lowest: Tier::Interpreter, highest: Tier::Optimizer, thresholds: [60, 6000], by_work: true }
    }
}

impl Tiers {
    /// Whether functions tier up while they run.
    pub(super) fn tier_up(&self) -> bool {
        self.lowest < self.highest
    }

    /// The budget of a function in a tier, after which it tiers up; `None` if it stays in the tier.
    pub(super) fn threshold(&self, tier: Tier) -> Option<i32> {
        let threshold = self.thresholds.get(tier as usize).filter(|_| self.tier_up() && tier < self.highest);
        threshold
            .and_then(|threshold| i32::try_from(*threshold).ok())
            .filter(|threshold| *threshold < i32::MAX)
    }

    /// How many bytecodes of a function must have been interpreted before it gets baseline code, if stencils have to be made for that from
    /// templates with so many steps.
    pub(super) fn worth_of_stencils(&self, steps: usize) -> u64 {
        if self.by_work { RUNS_PER_STENCIL_STEP * steps as u64 } else { 0 }
    }

    /// How many bytecodes of a function must have run in baseline code before it is optimized, if its templates have so many steps.
    pub(super) fn worth(&self, steps: usize) -> u64 {
        if self.by_work { RUNS_PER_STEP * steps as u64 } else { 0 }
    }
}

/// So many bytecodes run for each step of a template before the optimizer pays. In the time that it takes for a step a few hundred run. What
/// has run for long is likely to run for longer, but only a part of that time is saved.
const RUNS_PER_STEP: u64 = 160;

/// Likewise, interpreted bytecodes for each step of a template of which a stencil is made. Others are likely to need the stencil, too.
const RUNS_PER_STENCIL_STEP: u64 = 8;
