//! Stopping what an engine runs, from another thread.
//!
//! In: a wish. Out: the outermost call ends with [`Error::Interrupted`]. A program looks for the wish where it jumps back and
//! where it calls a function. In compiled code calls look at the end of the stack anyway, which is moved for that; so
//! inside, a call that is to stop fails like one for which there is no room.

use super::Engine;
use super::function::Function;
use super::links::Remote;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Trap;
use std::sync::atomic::Ordering::Relaxed;

/// Stops what an engine runs; for any thread. See [`Engine::interrupter`].
///
/// ```
/// fn is_for_any_thread<T: Send + Sync + Clone>() {}
/// is_for_any_thread::<azulejo::Interrupter>();
/// ```
#[derive(Clone, Debug)]
pub struct Interrupter(Remote);

impl Interrupter {
    /// Has the call that runs end with [`Error::Interrupted`], or if none does, the next one. That takes microseconds, unless a
    /// Rust function that a template called keeps it waiting: those are not interrupted.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// engine.interrupter().interrupt();
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Err(Error::Interrupted { at: 0 }));
    /// // That was one call.
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Ok(42));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn interrupt(&self) {
        self.0.stop();
    }

    /// Takes that back, if no call was interrupted yet: a watchdog does so whose program ended in time.
    ///
    /// ```
    #[doc = include_str!("doubling.txt")]
    /// let engine = Engine::<Op>::new();
    /// let double = engine.define("double", code, 1)?;
    /// let interrupter = engine.interrupter();
    /// interrupter.interrupt();
    /// interrupter.withdraw();
    /// assert_eq!(engine.call::<_, i64>(double, &mut (), (21i64,)), Ok(42));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn withdraw(&self) {
        self.0.withdraw();
    }
}

impl<B: Bytecode> Engine<B> {
    /// What stops this engine's calls from other threads. The first time somebody asks for it, all machine code is thrown away,
    /// and what is compiled from then on looks at each loop's head whether it is to stop. That is a comparison in memory and a
    /// branch: about a twentieth of the time over the programs of the benches, and more where a loop has three or four
    /// instructions.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Forever(Label),
    /// }
    /// template! { Op::Forever => (branch $0) }
    ///
    /// let engine = Engine::<Op>::new();
    /// let forever = engine.define("forever", vec![Op::Forever(Label(0))], 0)?;
    /// let interrupter = engine.interrupter();
    /// std::thread::spawn(move || {
    ///     std::thread::sleep(std::time::Duration::from_millis(10));
    ///     interrupter.interrupt();
    /// });
    /// assert_eq!(engine.call::<_, i64>(forever, &mut (), ()), Err(azulejo::Error::Interrupted { at: 0 }));
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn interrupter(&self) -> Interrupter {
        if !self.may_stop.replace(true) {
            self.links.borrow().allow_stops();
            self.functions.borrow().iter().flatten().for_each(|function| self.discard_code(function));
            self.free_retired();
        }
        Interrupter(self.remote.clone())
    }

    /// Whether what runs is to stop.
    #[inline(always)]
    pub(super) fn is_to_stop(&self) -> bool {
        self.remote.word().load(Relaxed) != 0
    }

    /// An error if a function is to stop at this bytecode, or has no fuel to go on. It fails there then.
    #[inline(always)]
    pub(super) fn look_for_stop(&self, function: &Function<B>, at: u32) -> Result<(), Error> {
        let result = if self.is_to_stop() { Err(Error::Interrupted { at }) } else { self.look_at_fuel(at) };
        result.inspect_err(|_| self.note(function.number(), at))
    }

    /// A function has failed: why, as who called it from outside is told.
    pub(super) fn failed(&self, function: &Function<B>, trap: Trap, at: u32) -> Error {
        self.note(function.number(), at);
        self.reason(trap, at)
    }

    /// Why a call failed, as who made it from outside is told.
    pub(super) fn reason(&self, trap: Trap, at: u32) -> Error {
        match trap {
            Trap::StackOverflow if self.is_to_stop() => Error::Interrupted { at },
            Trap::StackOverflow if self.is_out_of_fuel() => Error::OutOfFuel { at },
            Trap::StackOverflow => Error::StackOverflow,
            trap => Error::Trap { trap, at },
        }
    }

    /// The outermost call has ended: if it was interrupted, the next one is not.
    pub(super) fn has_stopped<T>(&self, result: &Result<T, Error>) {
        if matches!(result, Err(Error::Interrupted { .. })) {
            self.remote.withdraw();
        }
    }
}
