//! Stack overflows: telling somebody, where a call finds no room on the stack.
//!
//! In: a call that cannot be made, with the frames that wait. Out: the error with which it fails, by choice of the user's. While he is asked,
//! calls may use a part of the room that is kept for functions of Rust otherwise.

use super::stack::{Lent, TakenFrame};
use super::{Engine, Frames};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Trap;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// A function that is told of overflows.
type OnOverflow<C> = dyn Fn(&mut C, Frames<'_>) -> Trap;

/// Who is told, if anybody is.
pub(super) struct Overflow<B: Bytecode>(RefCell<Option<Rc<OnOverflow<B::Context>>>>);

impl<B: Bytecode> Default for Overflow<B> {
    fn default() -> Self {
        Overflow(RefCell::default())
    }
}

impl<B: Bytecode> fmt::Debug for Overflow<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overflow").finish_non_exhaustive()
    }
}

/// While this exists, calls may use more of the stack, and compiled code knows.
struct Lending<'a, B: Bytecode> {
    engine: &'a Engine<B>,
    lent: Option<Lent<'a>>,
}

impl<B: Bytecode> Drop for Lending<'_, B> {
    fn drop(&mut self) {
        self.lent = None;
        self.engine.tell_lowest();
    }
}

impl<B: Bytecode> Engine<B> {
    /// Sets what is done where calls nest too deeply: the closure is called in place of the function for which there is no room, and returns
    /// the trap with which that call fails. It sees all frames that wait ([`Frames`]), so a language can say in which line its stack has
    /// overflowed, and which calls led there, before they end. It is not called where a program stops for another reason.
    ///
    /// The closure may call the engine: its calls have half of the room that is left for functions of Rust otherwise (see
    /// [`Builder::native_stack`](crate::Builder::native_stack)), and if they use that up, they fail with [`Trap::StackOverflow`].
    /// Without a closure all calls do for which there is no room.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// use azulejo::{Frames, Trap};
    ///
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// #[bytecode(context = Vec<u32>)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    ///     Look,
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Call   => (invoke observes $function (arglist $a) i64)
    ///     Op::Look   => (callv observes look (arglist (carg (frames) ptr)))
    ///     Op::Return => (return $a)
    /// }
    /// fn look(_: Frames<'_>) {}
    ///
    /// // Function 0 calls itself for ever.
    /// let engine = Engine::<Op>::new();
    /// let call = Op::Call { dst: 0.into(), function: Imm(0), a: 0.into() };
    /// let endless = engine.define("endless", vec![Op::Look, call, Op::Return { a: 0.into() }], 1)?;
    /// engine.on_stack_overflow(|places, frames| {
    ///     places.extend(frames.iter().map(|frame| frame.bytecode()));
    ///     Trap::User(7)
    /// });
    /// let mut places = Vec::new();
    /// let result: Result<i64, Error> = engine.call(endless, &mut places, (7i64,));
    /// assert_eq!(result, Err(Error::Trap { trap: Trap::User(7), at: 1 }));
    /// assert!(places.len() > 100 && places.iter().all(|place| *place == 1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn on_stack_overflow(&self, handle: impl Fn(&mut B::Context, Frames<'_>) -> Trap + 'static) {
        *self.overflow.0.borrow_mut() = Some(Rc::new(handle));
    }

    /// The error with which a call fails, in this context, for which there is no room on the stack.
    #[cold]
    #[inline(never)]
    pub(super) fn overflowed(&self, context: *mut B::Context) -> Error {
        // Compiled code finds no room, either, where the program is to stop.
        if self.is_to_stop() || self.is_out_of_fuel() {
            return Error::StackOverflow;
        }
        let Some(handle) = self.overflow.0.borrow().clone() else { return Error::StackOverflow };
        let Some(lent) = self.stack.lend() else { return Error::StackOverflow };
        let lending = Lending { engine: self, lent: Some(lent) };
        self.tell_lowest();
        // SAFETY: the context is the running call's, and nobody else has a reference to it while bytecode calls a function: whoever
        // called the engine has lent it.
        let trap = handle(unsafe { &mut *context }, self.waiting());
        drop(lending);
        match trap {
            Trap::StackOverflow => Error::StackOverflow,
            trap => Error::Trap { trap, at: 0 },
        }
    }

    /// Takes a frame of this many slots, for a call in this context. `caller` is an address in the caller's machine frame.
    #[inline(always)]
    pub(super) fn take_frame(
        &self,
        slots: usize,
        caller: usize,
        context: *mut B::Context,
    ) -> Result<TakenFrame<'_>, Error> {
        self.or_overflowed(self.stack.enter(slots, caller), context)
    }

    /// Returns an error if fewer bytes than these are left of the machine's stack.
    #[inline(always)]
    pub(super) fn demand(&self, bytes: usize, context: *mut B::Context) -> Result<(), Error> {
        self.or_overflowed(self.stack.demand(bytes), context)
    }

    #[inline(always)]
    fn or_overflowed<T>(&self, result: Result<T, Error>, context: *mut B::Context) -> Result<T, Error> {
        match result {
            Err(Error::StackOverflow) => Err(self.overflowed(context)),
            result => result,
        }
    }
}
