//! Interruption of running calls, from another thread.
//!
//! In: a request. Out: the outermost call ends with [`Error::Interrupted`]. A program checks for requests at backward jumps and
//! at calls of functions. In compiled code each call compares the stack pointer with the end of the stack anyway, so a request
//! moves this end: within compiled code, an interrupted call fails like one for which there is no room.

use super::Engine;
use super::function::Function;
use super::native::Remote;
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Trap;
use std::sync::atomic::Ordering::Relaxed;

/// Stops an engine's calls from any thread. See [`Engine::interrupter`].
///
/// ```
/// fn is_for_any_thread<T: Send + Sync + Clone>() {}
/// is_for_any_thread::<azulejo::Interrupter>();
/// ```
#[derive(Clone, Debug)]
pub struct Interrupter(Remote);

impl Interrupter {
    /// Ends the running call with [`Error::Interrupted`], or if none is running, the next one. This takes microseconds, unless
    /// a Rust function that a template called is running: Rust functions are not interrupted.
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

    /// Withdraws the request, if no call was interrupted yet. A watchdog does this when its program has ended in time.
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
    /// Returns a handle with which other threads stop this engine's calls. The first call of this function discards all machine
    /// code; functions compiled from then on check at each loop's head whether they are to stop. The check is a comparison in
    /// memory and a branch: it takes about a twentieth of the time in the programs of the benches, and more where a loop has
    /// three or four instructions.
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
            self.look_for_interpreter();
            self.functions.borrow().iter().flatten().for_each(|function| self.discard_code(function));
            self.free_retired();
        }
        Interrupter(self.remote.clone())
    }

    /// Whether the running call is to stop.
    #[inline(always)]
    pub(super) fn is_to_stop(&self) -> bool {
        self.remote.word().load(Relaxed) != 0
    }

    /// Returns an error if a function is to stop at this bytecode, or has no fuel to continue. The failure is recorded.
    #[inline(always)]
    pub(super) fn look_for_stop(&self, function: &Function<B>, at: u32) -> Result<(), Error> {
        let result = if self.is_to_stop() { Err(Error::Interrupted { at }) } else { self.look_at_fuel(at) };
        result.inspect_err(|_| self.note(function.number(), at))
    }

    /// Records that a function has failed, and returns the error for a caller from outside.
    pub(super) fn failed(&self, function: &Function<B>, trap: Trap, at: u32) -> Error {
        self.note(function.number(), at);
        self.reason(trap, at)
    }

    /// The error for a caller from outside, when a function failed with this trap.
    pub(super) fn reason(&self, trap: Trap, at: u32) -> Error {
        match trap {
            Trap::StackOverflow | Trap::Ended if self.is_to_stop() => Error::Interrupted { at },
            Trap::StackOverflow | Trap::Ended if self.is_out_of_fuel() => Error::OutOfFuel { at },
            Trap::StackOverflow => Error::StackOverflow,
            trap => Error::Trap { trap, at },
        }
    }

    /// Called when the outermost call has ended. If it was interrupted, the request is done, and the next call runs.
    pub(super) fn has_stopped<T>(&self, result: &Result<T, Error>) {
        if matches!(result, Err(Error::Interrupted { .. })) && self.stack.is_idle() {
            self.remote.withdraw();
        }
    }
}
