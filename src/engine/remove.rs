//! Taking functions away.
//!
//! In: a function that nobody is to call any more. Out: its memory, as soon as nobody looks at it. A function may be removed
//! while it runs, by a Rust function that it calls; or while somebody makes its bytecode. So everything that hands out references
//! to functions while code of a user may run is a [`Visit`], and what was removed stays until there is none.

use super::function::Function;
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::rc::Rc;

/// Functions stay where they are as long as this is there.
pub(super) struct Visit<'a, B: Bytecode>(&'a Engine<B>);

impl<B: Bytecode> Drop for Visit<'_, B> {
    fn drop(&mut self) {
        let Visit(engine) = self;
        engine.visits.set(engine.visits.get() - 1);
        if engine.visits.get() == 0 && !engine.removed.borrow().is_empty() {
            engine.free_removed();
        }
    }
}

impl<B: Bytecode> Engine<B> {
    /// Has functions stay.
    #[inline(always)]
    pub(super) fn visit(&self) -> Visit<'_, B> {
        self.visits.set(self.visits.get() + 1);
        Visit(self)
    }

    /// Takes a function away: whoever calls it from now on is told [`Error::Removed`], and bytecode that does fails with
    /// [`Trap::BadCall`](crate::Trap::BadCall). Calls of it that are active go on to their ends, in the interpreter once they leave
    /// its machine code.
    ///
    /// Its bytecode and its code are freed now, or when the outermost call ends if there is one. Its number is not used again; a
    /// hundred bytes or so remain for it.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// engine.remove(double)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Err(Error::Removed));
    /// assert_eq!(engine.stats().functions, 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn remove(&self, function: FunctionId) -> Result<(), Error> {
        let _visit = self.visit();
        let known = self.known(function)?;
        self.discard_code(known);
        // Whoever still runs it makes no code for it any more.
        known.tier.disable();
        self.removed.borrow_mut().extend(self.functions.borrow_mut()[function.0 as usize].take());
        self.free_retired();
        Ok(())
    }

    /// A function that was called, and may have been removed since.
    #[cfg_attr(
        not(all(target_arch = "x86_64", any(unix, windows))),
        expect(dead_code, reason = "only compiled code is left")
    )]
    pub(super) fn running(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = match self.known(id) {
            Err(Error::Removed) => {
                let removed = self.removed.borrow();
                let function = removed.iter().find(|function| function.number() == id.0).map(Rc::as_ptr);
                // SAFETY: it is running, so there is a visit, and it stays.
                unsafe { &*function.ok_or(Error::Removed)? }
            }
            function => function?,
        };
        Ok(function)
    }

    #[cold]
    fn free_removed(&self) {
        self.free_retired();
        // What is captured by who would have made a function may use the engine when it goes.
        drop(self.removed.take());
    }
}
