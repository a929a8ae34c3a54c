//! Which tier a function runs in, and when it climbs.

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
    /// They climb no higher.
    pub(super) highest: Tier,
    /// After so many calls and times around loops in the interpreter, and then in baseline code.
    pub(super) thresholds: [u32; 2],
}

impl Default for Tiers {
    fn default() -> Tiers {
        Tiers { lowest: Tier::Interpreter, highest: Tier::Optimizer, thresholds: [60, 6000] }
    }
}

/// The budget of what is never asked whether it goes on.
pub(super) const ENDLESS: i32 = i32::MAX;

impl Tiers {
    /// Whether functions climb from one tier to the next while they run.
    pub(super) fn climb(&self) -> bool {
        self.lowest < self.highest
    }

    /// How much a function may run in a tier before it climbs.
    pub(super) fn budget(&self, tier: Tier) -> i32 {
        let threshold = self.thresholds.get(tier as usize).filter(|_| self.climb() && tier < self.highest);
        threshold.and_then(|threshold| i32::try_from(*threshold).ok()).unwrap_or(ENDLESS)
    }
}
