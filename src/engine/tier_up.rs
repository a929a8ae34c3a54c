//! Tier-up: when a function is compiled for a better tier, and where that code starts.
//!
//! In: budgets that are used up, in calls or in loops, and code that was left. Out: compilations on this thread or requests to the
//! worker's, and a new budget for the function. `run.rs` resumes in what there is then.

use super::Engine;
use super::function::Function;
use super::tiers::Tier;
use azulejo_core::ir::bytecode::Bytecode;

/// The maximum number of entries into one function, besides its start, for which the optimizer compiles code.
const MAX_ENTRIES: usize = 32;

/// How much sooner a function tiers up from baseline code that it entered after an exit from the optimizer's.
pub(super) const HASTE: i32 = 16;

/// How many times its first budget an interpreted function gets at most. Meanwhile others may have stencils made that it needs.
const LONGER: i32 = 16;

impl<B: Bytecode> Engine<B> {
    /// Called before compiled code takes over after an exit. If the function is known to be hot, but only baseline code can
    /// resume here, its budget is shortened, so that it soon tiers up.
    pub(super) fn shorten_budget(&self, function: &Function<B>, at: u32) {
        let Some(threshold) = self.tiers.threshold(Tier::Baseline) else { return };
        if function.is_optimized() && !function.code.has_optimized(at) {
            function.tier.budget.shorten(threshold / HASTE);
        }
    }

    /// Handles an exit from the code of an inner loop to the loop around it. That loop is hot as well, so it is compiled, too.
    pub(super) fn handle_move(&self, function: &Function<B>, at: u32) {
        if !function.code.has_optimized(at) && !function.tier.budget.is_endless() {
            self.counts.left_to_tier_up();
            function.tier.await_next_loop();
            self.tier_up(function, at);
        }
    }

    /// Counts a call, which costs as much budget as a loop iteration, and compiles the function if necessary.
    pub(super) fn before_call(&self, function: &Function<B>) {
        function.tier.budget.take(1);
        let must_be_compiled = self.tiers.lowest > Tier::Interpreter && !function.code.has_any();
        let is_hot = function.tier.budget.is_used_up() || function.is_hot_by_loops();
        if is_hot || must_be_compiled {
            self.prepare(function, must_be_compiled);
        }
    }

    /// Compiles a function that is called, because it must be compiled before it runs, or because it is hot.
    #[cold]
    #[inline(never)]
    fn prepare(&self, function: &Function<B>, must_be_compiled: bool) {
        if !must_be_compiled {
            self.tier_up(function, 0);
        } else if !function.tier.is_disabled() {
            // If compilation fails, the function is interpreted.
            function.tier.compiled(self.compile_for(function, self.tiers.lowest, 0));
        }
    }

    /// The next tier for a function that resumes at a bytecode; `None` if it stays in its tier.
    pub(super) fn next_tier(&self, function: &Function<B>, at: u32) -> Option<Tier> {
        let code = &function.code;
        match code.has_baseline() {
            _ if function.tier.is_disabled() => None,
            false if function.tier.awaits_run() => Some(Tier::Baseline),
            _ if !self.tiers.tier_up() => None,
            false => Some(Tier::Baseline),
            true if self.tiers.highest < Tier::Optimizer => None,
            true if at > 0 && code.loops() >= MAX_ENTRIES && !code.has_optimized(at) => None,
            true => Some(Tier::Optimizer),
        }
    }

    /// Compiles a function for its next tier, to resume at a bytecode, or requests this from the worker. Either way it gets a
    /// new budget.
    #[cold]
    #[inline(never)]
    pub(super) fn tier_up(&self, function: &Function<B>, at: u32) {
        let waits = match self.next_tier(function, at) {
            Some(Tier::Baseline) => !self.is_worth_stencils(function, at),
            Some(Tier::Optimizer) => {
                !self.is_worth_optimizing(function, at)
                    || self.await_call(function, at)
                    || self.comes_from_background(function)
                    || self.await_loop(function, at)
                    || self.request_entry(function, at)
            }
            _ => false,
        };
        if waits {
            return;
        }
        let next = self.next_tier(function, at);
        if let Some(next) = next {
            function.tier.compiled(self.compile_for(function, next, at));
        }
        if next == Some(Tier::Baseline) && function.tier.go_on() {
            return;
        }
        let is_done = next.is_none() || function.tier.is_disabled();
        function.tier.begin_budget(if is_done { None } else { self.tiers.threshold(Tier::Baseline) });
    }

    /// Called when a function that is interpreted has used up its budget at a bytecode. Returns whether it has run for so long that it is
    /// likely to regain the time for the stencils that are not there yet; otherwise the function gets another budget.
    fn is_worth_stencils(&self, function: &Function<B>, at: u32) -> bool {
        if function.tier.awaits_run() {
            return true;
        }
        let (body, threshold) = (function.body(), self.tiers.threshold(Tier::Interpreter));
        let Some(budget) = threshold.filter(|_| self.tiers.by_work) else { return true };
        let at_once = body.bytecodes_at_once(at) as u64;
        let bytecodes = |budget: i32| budget.unsigned_abs() as u64 * at_once;
        // What a budget stands for is counted when it begins, but for the first one.
        let worked = function.tier.worked().max(bytecodes(budget));
        let enough = self.tiers.worth_of_stencils(self.backend.borrow().steps_without_stencils(body.ops()));
        let is_worth = worked >= enough;
        if is_worth {
            function.tier.set_worked(0);
        } else {
            let most = budget.saturating_mul(LONGER).max(1);
            let next = ((enough - worked) / at_once.max(1)).clamp(1, most as u64) as i32;
            function.tier.set_worked(worked + bytecodes(next));
            function.tier.begin_budget(Some(next));
        }
        is_worth
    }

    /// Called when a function in baseline code has used up its budget at a bytecode. Returns whether it has run for so long that the optimizer's
    /// time for it is likely to be regained; otherwise the function gets another budget.
    pub(super) fn is_worth_optimizing(&self, function: &Function<B>, at: u32) -> bool {
        let (body, threshold) = (function.body(), self.tiers.threshold(Tier::Baseline));
        let run = threshold.map_or(0, i32::unsigned_abs) as u64 * body.bytecodes_at_once(at) as u64;
        let is_worth =
            function.is_optimized() || function.tier.has_worked(run, self.tiers.worth(body.template_steps()));
        if !is_worth {
            function.tier.begin_budget(threshold);
        }
        is_worth
    }

    /// Called when the budget was used up in a loop. Returns whether a call is awaited before the optimizer compiles that loop: for
    /// a function that is called often and loops for a short time, code for calls makes code for the loop superfluous.
    fn await_call(&self, function: &Function<B>, at: u32) -> bool {
        let is_known = function.is_optimized() || function.tier.is_in_progress();
        if at == 0 || is_known || function.tier.awaits_call() {
            return false;
        }
        self.close(function);
        function.tier.await_call(self.tiers.threshold(Tier::Baseline));
        true
    }

    /// Called when the budget was used up in a loop. Returns whether the head of a loop around it is awaited before the optimizer compiles
    /// anything.
    fn await_loop(&self, function: &Function<B>, at: u32) -> bool {
        let is_known = function.code.has_optimized(at) || function.tier.is_in_progress();
        // Only baseline code counts them.
        let may_come = function.code.has_baseline() && function.body().is_in_loops(at);
        !is_known && may_come && function.tier.await_loop(self.tiers.threshold(Tier::Baseline))
    }
}
