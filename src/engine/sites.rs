//! Forgetting what sites have learned.
//!
//! In: a condition that says which cases are still true. Out: sites without the others, and no code that was made with one of them.

use super::Engine;
use super::function::Function;
use super::tiers::Tier;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::sites::Sites;

impl<B: Bytecode> Engine<B> {
    /// Removes the cases of this type, from the sites of all functions, for which a function returns false: those of an object that
    /// has died, or of a shape that has changed. Code in which there may be such cases is discarded. Calls that are
    /// running such code go on in it until they leave it, with the cases that there were.
    ///
    /// ```
    #[doc = include_str!("learning.txt")]
    /// let engine = Engine::<Op>::new();
    /// let f = engine.define("f", code, 1)?;
    /// // The square of 3 is learned, and then that of 4.
    /// for (n, slow) in [(3u64, 1), (3, 1), (4, 2), (3, 2)] {
    ///     assert_eq!(engine.call::<_, u64>(f, &mut vm, (n,))?, n * n);
    ///     assert_eq!(vm.slow, slow);
    /// }
    /// engine.retain_cases(|case: &Square| case.of != 3);
    /// for (n, slow) in [(4u64, 2), (3, 3)] {
    ///     assert_eq!(engine.call::<_, u64>(f, &mut vm, (n,))?, n * n);
    ///     assert_eq!(vm.slow, slow);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn retain_cases<T: Copy + 'static>(&self, mut keeps: impl FnMut(&T) -> bool) {
        self.update_sites(|sites| {
            // All sites of a function are looked at.
            sites.of_type::<T>().fold(false, |removed, cases| removed | cases.retain(&mut keeps))
        });
    }

    /// Removes all cases from the sites of all functions, as [`retain_cases`](Self::retain_cases) does.
    ///
    /// ```
    #[doc = include_str!("learning.txt")]
    /// let engine = Engine::<Op>::new();
    /// let f = engine.define("f", code, 1)?;
    /// assert_eq!(engine.call::<_, u64>(f, &mut vm, (3u64,))?, 9);
    /// engine.clear_sites();
    /// assert_eq!(engine.call::<_, u64>(f, &mut vm, (3u64,))?, 9);
    /// assert_eq!(vm.slow, 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn clear_sites(&self) {
        self.update_sites(Sites::clear);
    }

    /// Changes the sites of each function, and discards the code with cases of those for which `change` returns true.
    fn update_sites(&self, mut change: impl FnMut(&Sites) -> bool) {
        if B::SITES.is_empty() {
            return;
        }
        let _visit = self.visit();
        // A removed function may be running. Nothing is borrowed while `change` runs, which may use the engine.
        let (functions, removed) = (self.functions.borrow(), self.removed.borrow());
        let all: Vec<_> = functions.iter().flatten().chain(&*removed).cloned().collect();
        drop((functions, removed));
        for function in all {
            let Some(body) = function.made_body() else { continue };
            let knew_cases = function.code.knows_cases();
            // Cases may have been removed when `change` panics.
            let mut change_of_code = ChangeOfCode { engine: self, function: &function, is_needed: true };
            // Code may know of cases that a function has taken out by itself.
            change_of_code.is_needed = change(&body.sites) | body.sites.take_forgotten();
            drop(change_of_code);
            if knew_cases && !function.code.has_baseline() {
                // It stays in its tier, with what its sites know now.
                function.tier.compiled(self.compile_for(&function, Tier::Baseline, 0));
            }
        }
        self.free_retired();
    }
}

/// When this is dropped, what the optimizer has made of a function is discarded, if that is needed.
struct ChangeOfCode<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    function: &'a Function<B>,
    is_needed: bool,
}

impl<B: Bytecode> Drop for ChangeOfCode<'_, B> {
    fn drop(&mut self) {
        let Self { engine, function, is_needed } = *self;
        if is_needed && let Some(body) = function.made_body() {
            body.speculation.forget_misses();
        }
        // The function is left as it is if the optimizer has made nothing of it, and makes nothing.
        if is_needed && function.is_optimized_or_soon() {
            engine.discard_optimized(function);
        }
        if is_needed && function.code.knows_cases() {
            engine.discard_baseline(function);
        }
        if is_needed {
            engine.discard_callers(function);
        }
    }
}
