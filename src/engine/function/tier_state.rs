//! The tier-up state of a function: its budget, and whether it is being compiled.
//!
//! In: calls and loop iterations, which decrement the [`Budget`], and the results of compilations. Out: whether it is time for
//! the next tier, and whether the function may be compiled for it.
//!
//! | [`Tiering`]               | Event                                             | Next         |
//! |---------------------------|---------------------------------------------------|--------------|
//! | `Idle`                    | the worker thread takes a request                 | `InProgress` |
//! | `InProgress`              | its result comes, or a fork has lost the thread   | `Idle`       |
//! | `Idle`, `InProgress`      | the function could not be compiled, or is removed | `Disabled`   |
//! | any                       | all code is discarded                             | `Idle`       |
//!
//! A compilation on the engine's thread leaves the state as it is unless it fails.
//!
//! A function whose loops have used up its budget is hot, but not necessarily in long loops: it may be called often, and loop for
//! a short time. So it first awaits a call, for a budget more. If that comes first, the function is compiled for calls, and its
//! loops are not compiled alone.
//!
//! A loop that is hot may be in others. Then the loop around it is compiled, and has the hot one in it: baseline code counts its iterations
//! apart, so that it is left at that loop's head. If there are more loops around, that is the outermost that comes within some budgets.
//! Code of a loop alone is made if none comes: it iterates for long.
//!
//! Baseline code that lacked something is made again when what it lacked has run: at the next call or jump back. Meanwhile what was left
//! of the budget is kept.

use crate::Error;
use crate::engine::tiers::{Tier, Tiers};
use std::cell::Cell;

/// What it costs to leave baseline code at the head of a loop that is not compiled, in iterations of a loop.
const MEETING: i32 = 30;

/// How many budgets a loop around others is awaited for. Compiling an inner loop in vain takes longer than that.
const PATIENCE: i32 = 8;

/// How many calls and loop iterations are left before tier-up. The interpreter and baseline code decrement it in place: the second number
/// is for what baseline code counts at the heads of loops that have loops in them.
#[derive(Debug)]
pub(crate) struct Budget([Cell<i32>; 2]);

impl Budget {
    /// The largest number, which stands for no limit.
    const ENDLESS: i32 = i32::MAX;

    /// Makes a budget of this amount; `None` stands for no limit.
    pub(crate) fn new(amount: Option<i32>) -> Budget {
        let amount = amount.unwrap_or(Budget::ENDLESS);
        Budget([Cell::new(amount), Cell::new(amount)])
    }

    pub(crate) fn set(&self, amount: Option<i32>) {
        self.0.iter().for_each(|number| number.set(amount.unwrap_or(Budget::ENDLESS)));
    }

    /// Both numbers, to be restored.
    fn save(&self) -> [i32; 2] {
        self.0.each_ref().map(Cell::get)
    }

    fn restore(&self, left: [i32; 2]) {
        std::iter::zip(&self.0, left).for_each(|(number, left)| number.set(left));
    }

    /// The number itself, for code that decrements it.
    #[inline(always)]
    pub(crate) fn counter(&self) -> &Cell<i32> {
        &self.0[0]
    }

    /// Both numbers, for baseline code.
    pub(crate) fn counters(&self) -> &[Cell<i32>; 2] {
        &self.0
    }

    #[inline(always)]
    pub(crate) fn left(&self) -> i32 {
        self.counter().get()
    }

    #[inline(always)]
    pub(crate) fn is_endless(&self) -> bool {
        self.left() == Budget::ENDLESS
    }

    #[inline(always)]
    pub(crate) fn is_used_up(&self) -> bool {
        self.left() < 0 || self.is_used_up_around()
    }

    /// Whether it was used up at the head of a loop that has loops in it.
    #[inline(always)]
    fn is_used_up_around(&self) -> bool {
        self.0[1].get() < 0
    }

    /// Makes the next head of such a loop use it up. The code may be at one, which counts once more when it goes on.
    fn end_around(&self, is_at_one: bool) {
        self.0[1].set(i32::from(is_at_one));
    }

    /// Subtracts an amount, unless the budget is endless.
    #[inline(always)]
    pub(crate) fn take(&self, amount: i32) {
        if !self.is_endless() {
            self.counter().set(self.left() - amount);
        }
    }

    /// Reduces the budget to at most this amount, unless it is endless.
    pub(crate) fn shorten(&self, most: i32) {
        if !self.is_endless() {
            self.0.iter().for_each(|number| number.set(number.get().min(most)));
        }
    }
}

/// Whether a function is being compiled for a higher tier. The module's head has the transitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tiering {
    /// It is not, and may be compiled when it is hot.
    Idle,
    /// The worker thread has a request for it.
    InProgress,
    /// It is not, and is not to be compiled any more.
    Disabled,
}

/// Whether the optimizer is to compile a loop around the one that is hot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum AwaitedLoop {
    #[default]
    None,
    /// The outermost that comes soon. Whether one has come that is in another loop.
    Outermost { has_met: bool },
    /// Whichever comes next.
    Next,
}

/// The progress of a function toward the next tier.
#[derive(Debug)]
pub(crate) struct TierState {
    /// The calls and loop iterations that are left before it tiers up.
    pub(crate) budget: Budget,
    tiering: Cell<Tiering>,
    awaits_call: Cell<bool>,
    awaited_loop: Cell<AwaitedLoop>,
    /// What was left of the budget, if baseline code is to be made again.
    kept: Cell<Option<[i32; 2]>>,
    /// About how many bytecodes have run in this tier, as far as budgets were used up.
    worked: Cell<u64>,
}

impl TierState {
    /// The state of a function without code.
    pub(crate) fn new(tiers: &Tiers) -> TierState {
        let budget = Budget::new(tiers.threshold(Tier::Interpreter));
        TierState {
            budget,
            tiering: Cell::new(Tiering::Idle),
            awaits_call: Cell::default(),
            awaited_loop: Cell::default(),
            kept: Cell::default(),
            worked: Cell::default(),
        }
    }

    /// Counts bytecodes that have run. Returns whether they are as many as this now.
    pub(crate) fn has_worked(&self, bytecodes: u64, enough: u64) -> bool {
        self.worked.set(self.worked.get().saturating_add(bytecodes));
        self.worked.get() >= enough
    }

    /// About how many bytecodes have run in this tier.
    pub(crate) fn worked(&self) -> u64 {
        self.worked.get()
    }

    /// Sets that number.
    pub(crate) fn set_worked(&self, bytecodes: u64) {
        self.worked.set(bytecodes);
    }

    /// Whether the function's loops have made it hot, and the next call is a reason to compile it.
    #[inline(always)]
    pub(crate) fn awaits_call(&self) -> bool {
        self.awaits_call.get()
    }

    /// Begins to await a call, until its loops have used up this budget.
    pub(crate) fn await_call(&self, budget: Option<i32>) {
        self.awaits_call.set(true);
        self.budget.set(budget);
    }

    /// Called when the budget was used up in a loop that is in others. Returns whether one of these is awaited, until loops have used up
    /// some more of these budgets.
    pub(crate) fn await_loop(&self, budget: Option<i32>) -> bool {
        let awaited = self.awaited_loop.get();
        let is_around = self.budget.is_used_up_around();
        let next = match (awaited, is_around) {
            // A loop between the outermost and the innermost one.
            (AwaitedLoop::Outermost { .. }, true) => {
                self.budget.take(MEETING);
                if self.budget.left() < 0 {
                    return false;
                }
                AwaitedLoop::Outermost { has_met: true }
            }
            (AwaitedLoop::Outermost { has_met: true }, false) => AwaitedLoop::Next,
            (AwaitedLoop::None, _) => AwaitedLoop::Outermost { has_met: is_around },
            // None came in time, or this is what was awaited.
            (AwaitedLoop::Outermost { has_met: false } | AwaitedLoop::Next, _) => return false,
        };
        if !matches!((awaited, next), (AwaitedLoop::Outermost { .. }, AwaitedLoop::Outermost { .. })) {
            self.budget.set(budget.map(|budget| budget.saturating_mul(PATIENCE)));
        }
        self.budget.end_around(is_around);
        self.awaited_loop.set(next);
        true
    }

    /// Awaits no other loop than the next one whose head uses up the budget.
    pub(crate) fn await_next_loop(&self) {
        self.awaited_loop.set(AwaitedLoop::Next);
    }

    /// Gives the function the budget for its tier: a call has come, or none came in time.
    pub(crate) fn begin_budget(&self, budget: Option<i32>) {
        self.awaits_call.set(false);
        self.awaited_loop.set(AwaitedLoop::None);
        self.kept.set(None);
        self.budget.set(budget);
    }

    /// Begins to wait for the next call or jump back, at which baseline code is made again.
    pub(crate) fn await_run(&self) {
        if self.kept.get().is_none() {
            self.kept.set(Some(self.budget.save()));
        }
        self.budget.set(Some(0));
    }

    /// Whether baseline code is to be made again.
    pub(crate) fn awaits_run(&self) -> bool {
        self.kept.get().is_some()
    }

    /// Goes on with what was left of the budget before baseline code was to be made again. Returns false if it was not.
    pub(crate) fn go_on(&self) -> bool {
        let kept = self.kept.take();
        kept.inspect(|left| self.budget.restore(*left)).is_some()
    }

    pub(crate) fn is_disabled(&self) -> bool {
        self.tiering.get() == Tiering::Disabled
    }

    pub(crate) fn is_in_progress(&self) -> bool {
        self.tiering.get() == Tiering::InProgress
    }

    /// Records that the worker thread has taken a request.
    pub(crate) fn begin(&self) {
        debug_assert_eq!(self.tiering.get(), Tiering::Idle);
        self.tiering.set(Tiering::InProgress);
    }

    /// Records that no request is pending any more.
    pub(crate) fn end(&self) {
        if self.is_in_progress() {
            self.tiering.set(Tiering::Idle);
        }
    }

    /// Records the result of a compilation. A compilation that failed would fail again, unless too little stack was left for it.
    pub(crate) fn compiled(&self, result: Result<(), Error>) {
        if result.is_err_and(|error| error != Error::StackOverflow) {
            self.disable();
        }
    }

    /// Prevents compilation of the function.
    pub(crate) fn disable(&self) {
        self.tiering.set(Tiering::Disabled);
    }

    /// Called when all code was discarded.
    pub(crate) fn reset(&self, tiers: &Tiers) {
        self.tiering.set(Tiering::Idle);
        self.worked.set(0);
        self.begin_budget(tiers.threshold(Tier::Interpreter));
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
        // A late result changes nothing.
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
    fn what_is_made_again_takes_nothing_from_the_budget() {
        let tier = TierState::new(&Tiers::default());
        tier.begin_budget(Some(100));
        tier.budget.take(30);
        assert!(!tier.awaits_run() && !tier.go_on());
        // The code is left a second time before it is made.
        for _ in 0..2 {
            tier.await_run();
            tier.budget.take(1);
        }
        assert!(tier.awaits_run() && tier.budget.is_used_up());
        assert!(tier.go_on() && !tier.awaits_run());
        assert_eq!(tier.budget.left(), 70);
        tier.await_run();
        tier.begin_budget(None);
        assert!(!tier.awaits_run() && tier.budget.is_endless());
        // Nor is a loop forgotten that is awaited.
        tier.begin_budget(Some(100));
        tier.budget.take(101);
        assert!(tier.await_loop(Some(100)));
        let before = tier.budget.save();
        tier.await_run();
        assert!(tier.go_on());
        assert_eq!((tier.budget.save(), before), (before, [100 * PATIENCE, 0]));
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
