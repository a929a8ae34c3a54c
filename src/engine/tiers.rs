//! Which tiers there are, and when functions go from one to the next.

/// A way to run a function.
///
/// ```
/// use azulejo::Tier;
/// assert!(Tier::Interpreter < Tier::Baseline && Tier::Baseline < Tier::Optimizer);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Tier {
    /// Bytecode by bytecode, in Rust.
    Interpreter,
    /// Machine code put together from ready pieces, one for each bytecode: made in no time, some times faster than the
    /// interpreter.
    Baseline,
    /// Machine code for the function as a whole.
    Optimizer,
}

/// When functions are compiled without being asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiers {
    /// Functions are compiled for this one before they run.
    pub(super) lowest: Tier,
    /// They tier up no further.
    pub(super) highest: Tier,
    /// After so many calls and times around loops in the interpreter, and then in baseline code.
    pub(super) thresholds: [u32; 2],
}

impl Default for Tiers {
    fn default() -> Tiers {
        Tiers { lowest: Tier::Interpreter, highest: Tier::Optimizer, thresholds: [60, 6000] }
    }
}

impl Tiers {
    /// Whether functions tier up while they run.
    pub(super) fn tier_up(&self) -> bool {
        self.lowest < self.highest
    }

    /// How much a function may run in a tier before it tiers up; nothing if it stays there.
    pub(super) fn threshold(&self, tier: Tier) -> Option<i32> {
        let threshold = self.thresholds.get(tier as usize).filter(|_| self.tier_up() && tier < self.highest);
        threshold
            .and_then(|threshold| i32::try_from(*threshold).ok())
            .filter(|threshold| *threshold < i32::MAX)
    }
}
