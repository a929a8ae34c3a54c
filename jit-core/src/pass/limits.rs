//! Limits on optional work of the passes; faults are found by bisecting over them.
//!
//! Some of a pass's work could as well be left out: a rewritten value, a forwarded load, a value hoisted out of its loop, a
//! node that becomes part of a larger instruction, an interval that gets a register. Each is a *step*. A function is right
//! after any number of steps, so if one more makes it wrong, that step is at fault.

/// How many steps each pass may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits([u64; Limits::PASSES.len()]);

impl Default for Limits {
    fn default() -> Limits {
        Limits([u64::MAX; Limits::PASSES.len()])
    }
}

impl Limits {
    /// The passes that take steps, in their order.
    pub const PASSES: [&'static str; 12] = [
        "renew",
        "kinds",
        "represent",
        "rewrite",
        "sink",
        "counters",
        "offsets",
        "peel",
        "forward",
        "place",
        "tile",
        "allocate",
    ];

    /// Limits the pass with this name; returns whether it exists.
    ///
    /// ```
    /// use azulejo_core::pass::limits::Limits;
    /// let mut limits = Limits::default();
    /// assert!(limits.set("tile", 7));
    /// assert!(!limits.set("build", 0), "it does nothing that it could leave out");
    /// ```
    pub fn set(&mut self, pass: &str, steps: u64) -> bool {
        let at = Limits::PASSES.iter().position(|name| *name == pass);
        if let Some(at) = at {
            self.0[at] = steps;
        }
        at.is_some()
    }

    /// The limit of each pass.
    pub(super) fn each(self) -> [u64; Limits::PASSES.len()] {
        self.0
    }
}

/// Counts the steps of a pass.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    allowed: u64,
    taken: u64,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { allowed: u64::MAX, taken: 0 }
    }
}

impl Steps {
    /// Resets the count and sets the limit.
    pub(super) fn start(&mut self, allowed: u64) {
        *self = Steps { allowed, taken: 0 };
    }

    /// Whether another step is allowed.
    #[inline(always)]
    pub(super) fn may(&self) -> bool {
        self.taken < self.allowed
    }

    /// Takes a step if another is allowed; returns whether it did.
    #[inline(always)]
    pub(super) fn take(&mut self) -> bool {
        let may = self.may();
        self.taken += may as u64;
        may
    }

    /// How many steps were taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }
}
