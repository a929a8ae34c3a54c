//! When a function tiers up, and whether somebody compiles it for that.
//!
//! In: how often it was called and went around loops, which its [`Budget`] counts down; what became of compilations. Out: whether
//! it is time for the next tier, and whether anybody may compile for that.
//!
//! | [`Tiering`]               | What happens                                      | Next         |
//! |---------------------------|---------------------------------------------------|--------------|
//! | `Idle`                    | the compiler's thread takes a request             | `InProgress` |
//! | `InProgress`              | its answer comes, or the process has lost it      | `Idle`       |
//! | `Idle`, `InProgress`      | the function could not be compiled, or is removed | `Disabled`   |
//! | any                       | all code is thrown away                           | `Idle`       |
//!
//! Compiling at once, on the engine's thread, leaves the state as it is unless it fails.

use crate::Error;
use crate::engine::tiers::{Tier, Tiers};
use std::cell::Cell;

/// How many calls and times around loops are left. A number that the interpreter and baseline code count down where it is.
#[derive(Debug)]
pub(crate) struct Budget(Cell<i32>);

impl Budget {
    /// As much as there can be: where that is set, nobody waits for its end.
    const ENDLESS: i32 = i32::MAX;

    /// So much; without end if nothing is said.
    pub(crate) fn new(amount: Option<i32>) -> Budget {
        Budget(Cell::new(amount.unwrap_or(Budget::ENDLESS)))
    }

    pub(crate) fn set(&self, amount: Option<i32>) {
        self.0.set(amount.unwrap_or(Budget::ENDLESS));
    }

    /// What counts it down.
    #[inline(always)]
    pub(crate) fn counter(&self) -> &Cell<i32> {
        &self.0
    }

    #[inline(always)]
    pub(crate) fn left(&self) -> i32 {
        self.0.get()
    }

    #[inline(always)]
    pub(crate) fn is_endless(&self) -> bool {
        self.left() == Budget::ENDLESS
    }

    #[inline(always)]
    pub(crate) fn is_used_up(&self) -> bool {
        self.left() < 0
    }

    /// Takes so much, if there is an end.
    #[inline(always)]
    pub(crate) fn take(&self, amount: i32) {
        if !self.is_endless() {
            self.0.set(self.left() - amount);
        }
    }

    /// Leaves no more than this, if there is an end.
    pub(crate) fn shorten(&self, most: i32) {
        if !self.is_endless() {
            self.0.set(self.left().min(most));
        }
    }
}

/// Whether somebody compiles a function for a higher tier. The module's head has the transitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tiering {
    /// Nobody does, and whoever finds it hot may.
    Idle,
    /// The compiler's thread was asked to.
    InProgress,
    /// Nobody is to try.
    Disabled,
}

/// How far a function is on its way to the next tier.
#[derive(Debug)]
pub(crate) struct TierState {
    /// What is left before it tiers up.
    pub(crate) budget: Budget,
    tiering: Cell<Tiering>,
}

impl TierState {
    /// Of a function without code.
    pub(crate) fn new(tiers: &Tiers) -> TierState {
        let budget = Budget::new(tiers.threshold(Tier::Interpreter));
        TierState { budget, tiering: Cell::new(Tiering::Idle) }
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.tiering.get() == Tiering::Disabled
    }

    pub(crate) fn is_in_progress(&self) -> bool {
        self.tiering.get() == Tiering::InProgress
    }

    /// The compiler's thread has taken a request.
    pub(crate) fn begin(&self) {
        debug_assert_eq!(self.tiering.get(), Tiering::Idle);
        self.tiering.set(Tiering::InProgress);
    }

    /// Nobody waits for the compiler's thread any more.
    pub(crate) fn end(&self) {
        if self.is_in_progress() {
            self.tiering.set(Tiering::Idle);
        }
    }

    /// The function was compiled, or could not be. What failed will fail again, unless there was too little stack left.
    pub(crate) fn compiled(&self, result: Result<(), Error>) {
        if result.is_err_and(|error| error != Error::StackOverflow) {
            self.disable();
        }
    }

    /// Nobody is to compile the function.
    pub(crate) fn disable(&self) {
        self.tiering.set(Tiering::Disabled);
    }

    /// All code was thrown away.
    pub(crate) fn reset(&self, tiers: &Tiers) {
        self.tiering.set(Tiering::Idle);
        self.budget.set(tiers.threshold(Tier::Interpreter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_progress_ends() {
        let tier = TierState::new(&Tiers::default());
        tier.begin();
        assert!(tier.is_in_progress() && !tier.is_disabled());
        tier.end();
        assert!(!tier.is_in_progress());
        tier.begin();
        tier.disable();
        // An answer that comes late changes nothing.
        tier.end();
        assert!(tier.is_disabled());
        tier.reset(&Tiers::default());
        assert!(!tier.is_disabled() && !tier.is_in_progress());
    }

    #[test]
    fn a_failure_is_final_unless_the_stack_was_too_small() {
        let tier = TierState::new(&Tiers::default());
        tier.compiled(Ok(()));
        tier.compiled(Err(Error::StackOverflow));
        assert!(!tier.is_disabled());
        tier.compiled(Err(Error::FrameTooLarge { bytes: 1 }));
        assert!(tier.is_disabled());
    }

    #[test]
    fn a_budget_without_end_is_not_used_up() {
        let (budget, endless) = (Budget::new(Some(1)), Budget::new(None));
        for budget in [&budget, &endless] {
            budget.shorten(1);
            budget.take(1);
            budget.take(1);
        }
        assert!(budget.is_used_up() && !budget.is_endless());
        assert!(!endless.is_used_up() && endless.is_endless());
    }
}
