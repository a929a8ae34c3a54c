//! Forgetting what sites have learned.
//!
//! In: a condition that says which cases are still true. Out: sites without the others, and no code of the optimizer that was made with
//! one of them.

use super::Engine;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::sites::Sites;

impl<B: Bytecode> Engine<B> {
    /// Removes the cases of this type, from the sites of all functions, for which a function returns false: those of an object that
    /// has died, or of a shape that has changed. What the optimizer has made of those functions is discarded. Calls that are
    /// running such code go on in it until they leave it.
    pub fn retain_cases<T: Copy + 'static>(&self, mut keeps: impl FnMut(&T) -> bool) {
        self.update_sites(|sites| {
            // All sites of a function are looked at.
            sites.of_type::<T>().fold(false, |removed, cases| removed | cases.retain(&mut keeps))
        });
    }

    /// Removes all cases from the sites of all functions, as [`retain_cases`](Self::retain_cases) does.
    pub fn clear_sites(&self) {
        self.update_sites(Sites::clear);
    }

    /// Changes the sites of each function, and discards the optimizer's code of those for which `change` returns true.
    fn update_sites(&self, mut change: impl FnMut(&Sites) -> bool) {
        if B::SITES.is_empty() {
            return;
        }
        let _visit = self.visit();
        let all: Vec<_> = self.functions.borrow().iter().flatten().cloned().collect();
        for function in all {
            if let Some(body) = function.made_body()
                && change(&body.sites)
            {
                self.discard_optimized(&function);
            }
        }
        self.free_retired();
    }
}
