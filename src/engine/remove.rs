//! Removal of functions.
//!
//! In: a function that is not to be called any more. Out: its memory, as soon as no reference to it is in use. A function may
//! be removed while it runs, by a Rust function that it calls, or while its bytecode is being made. So all code that holds
//! references to functions while user code may run holds a [`Visit`], and removed functions are freed when the last visit ends.
//!
//! Who knows that no call of a function is active frees it earlier ([`Engine::free`]): the outermost call may be the whole program.
//! References to it are then in use nowhere: a call that has made a tail call still has one, but does not look at the function again.

use super::function::Function;
use super::running;
use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::rc::Rc;

/// As long as a visit exists, no function is freed.
pub(super) struct Visit<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    /// The newest of the frames that are shown. A call that fails or panics leaves its own in the list.
    shown: u64,
}

impl<B: Bytecode> Drop for Visit<'_, B> {
    fn drop(&mut self) {
        running::end_call();
        self.engine.show_again(self.shown);
        self.engine.release_functions();
    }
}

impl<B: Bytecode> Engine<B> {
    /// Starts a visit.
    #[inline(always)]
    pub(super) fn visit(&self) -> Visit<'_, B> {
        running::begin_call();
        self.keep_functions();
        Visit { engine: self, shown: self.newest_shown() }
    }

    /// Keeps all functions until they are released. A visit does that, and so does a fiber from its start to its end.
    #[inline(always)]
    pub(super) fn keep_functions(&self) {
        self.visits.set(self.visits.get() + 1);
    }

    /// Ends what `keep_functions` began.
    #[inline(always)]
    pub(super) fn release_functions(&self) {
        self.visits.set(self.visits.get() - 1);
        if self.visits.get() == 0 && !self.removed.borrow().is_empty() {
            self.free_removed();
        }
    }

    /// Removes a function. Later calls of it fail with [`Error::Removed`], and from bytecode with
    /// [`Trap::BadCall`](crate::Trap::BadCall). Calls of it that are active run to their end, in the interpreter once they exit
    /// from its machine code.
    ///
    /// Its bytecode and its machine code are freed now or, if calls are active or fibers suspended, when the last of them ends. Its number is not
    /// reused; about a hundred bytes remain allocated for it.
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
        self.discard_callers(known);
        // Calls that still run it must not compile it again.
        known.tier.disable();
        self.removed.borrow_mut().extend(self.functions.borrow_mut()[function.0 as usize].take());
        self.free_retired();
        Ok(())
    }

    /// Removes a function and frees it at once, while other calls are active: for the collector of garbage of a language, which has found
    /// that nothing refers to it.
    /// Its number is not reused, as [`remove`](Self::remove) says.
    ///
    /// # Safety
    ///
    /// No call of the function may be active, nor suspended in a fiber. A collector knows that where all calls of bytecode by templates,
    /// and of what calls bytecode, observe: none of the [`Frames`](crate::Frames) of active calls and of suspended fibers is the
    /// function's then.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,))?, 42);
    /// // SAFETY: the call has ended.
    /// unsafe { engine.free(double)? };
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Err(Error::Removed));
    /// # Ok::<(), Error>(())
    /// ```
    pub unsafe fn free(&self, function: FunctionId) -> Result<(), Error> {
        self.free_at_once(function).map(drop)
    }

    /// Frees a function as [`free`](Self::free) does, and lets a later one have its number and its [`callable`](Self::callable), so
    /// that a program may define functions as long as it runs. The number of a function that has been inlined in others is not reused: code
    /// of those may run on that would run it.
    ///
    /// # Safety
    ///
    /// As for [`free`](Self::free). And nobody goes on to use the number or the address of the function, or takes what was known of it to be true
    /// of another one. What a site has learned is no such use if all that it says is which function is called, and that that one is
    /// called then. Where it says more, as that another function is called in place of this one, the function is to be freed with `free`:
    /// code that has the case goes on with it as long as it runs, even if [`retain_cases`](Self::retain_cases) has removed the case.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code.clone(), 1)?;
    /// // SAFETY: nobody has called it, nor kept its number.
    /// unsafe { engine.free_with_number(double)? };
    /// assert_eq!(engine.define("double", code, 1)?.number(), double.number());
    /// # Ok::<(), Error>(())
    /// ```
    pub unsafe fn free_with_number(&self, function: FunctionId) -> Result<(), Error> {
        if self.free_at_once(function)? {
            self.links.borrow().renew(function.0);
            self.vacant.borrow_mut().push(function.0);
        }
        Ok(())
    }

    /// Removes and frees a function. Returns whether a later one may have its number.
    fn free_at_once(&self, function: FunctionId) -> Result<bool, Error> {
        let _visit = self.visit();
        self.remove(function)?;
        let gone = {
            let mut removed = self.removed.borrow_mut();
            let place = removed.iter().rposition(|removed| removed.number() == function.0);
            place.map(|place| removed.swap_remove(place))
        };
        // What its maker captures may use the engine, so nothing is borrowed when it is dropped here.
        Ok(gone.is_some_and(|gone| Rc::strong_count(&gone) == 1 && !gone.was_inlined.get()))
    }

    /// Looks up a function that is running, and may have been removed since it was called.
    pub(super) fn running(&self, id: FunctionId) -> Result<&Function<B>, Error> {
        let function = match self.known(id) {
            Err(Error::Removed) => {
                let removed = self.removed.borrow();
                let function = removed.iter().find(|function| function.number() == id.0).map(Rc::as_ptr);
                // SAFETY: the function is running, so there is a visit, and it is not freed.
                unsafe { &*function.ok_or(Error::Removed)? }
            }
            function => function?,
        };
        Ok(function)
    }

    #[cold]
    fn free_removed(&self) {
        self.free_retired();
        // The makers of removed functions are dropped here, and what they capture may use the engine. So nothing is borrowed.
        drop(self.removed.take());
    }
}
