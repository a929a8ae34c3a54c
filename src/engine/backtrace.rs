//! Backtraces: the calls that led to a failure.
//!
//! In: each function that fails, innermost first. The interpreter reports those that it runs, the engine those whose compiled
//! code ends with a status, and compiled code itself those that end as calls between functions. Out: a [`Backtrace`].

use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;
use std::cell::RefCell;

/// How many of the innermost calls are kept.
const MOST: usize = 64;

/// A function that was running when a call failed, and its position. See [`Engine::backtrace`].
///
/// ```
/// # use azulejo::prelude::*;
/// # #[derive(Bytecode, Clone, Copy, Debug)]
/// # enum Op { Const { dst: Out<i64>, k: Imm<i64> }, Fail }
/// # template! {
/// #     Op::Const => (copy $k)
/// #     Op::Fail  => (trap 7)
/// # }
/// let engine: Engine<Op> = Engine::<Op>::builder().backtraces(true).build();
/// let fails = engine.define("fails", vec![Op::Const { dst: 0.into(), k: Imm(7) }, Op::Fail], 1)?;
/// assert!(engine.call::<_, i64>(fails, &mut (), ()).is_err());
/// let frame = engine.backtrace().frames[0];
/// assert_eq!((engine.name(frame.function)?.as_str(), frame.at), ("fails", 1));
/// # Ok::<(), azulejo::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BacktraceFrame {
    /// The function.
    pub function: FunctionId,
    /// The bytecode that failed, or that called the function of the next inner frame.
    pub at: u32,
}

/// The calls that led to a failure. See [`Engine::backtrace`].
///
/// ```
/// // Of calls that nested very deep, the outer ones are only counted.
/// let text = |backtrace: &azulejo::Backtrace| match backtrace.left_out {
///     0 => format!("{} calls", backtrace.frames.len()),
///     more => format!("{} calls, and {more} around them", backtrace.frames.len()),
/// };
/// assert_eq!(text(&azulejo::Backtrace::default()), "0 calls");
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Backtrace {
    /// The frames, innermost first.
    pub frames: Vec<BacktraceFrame>,
    /// How many outer frames were left out, because there were too many.
    pub left_out: usize,
}

/// A backtrace in the making.
#[derive(Default, Debug)]
pub(super) struct Failures {
    found: Backtrace,
    /// Whether the call from outside has ended since the last failure, so that the next failure starts a new backtrace.
    is_over: bool,
}

impl<B: Bytecode> Engine<B> {
    /// Returns the functions that were running at the last failure, and the bytecode at which each of them was: in
    /// [`frames`](Backtrace::frames), innermost first. The backtrace is empty if no call has failed yet, if
    /// `try` has caught the last failure, or if [`Builder::backtraces`](crate::Builder::backtraces) is off.
    ///
    /// A function that ended in a tail call has no frame: its callee took its place. If a Rust function that a template called
    /// calls the engine again, that call has a backtrace of its own, without the functions around it.
    ///
    /// ```
    /// # use azulejo::prelude::*;
    /// #[derive(Bytecode, Clone, Copy, Debug)]
    /// enum Op {
    ///     Call { dst: Out<i64>, function: Imm<u32>, a: In<i64> },
    ///     Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    ///     Return { a: In<i64> },
    /// }
    /// template! {
    ///     Op::Call   => (invoke $function (arglist $a) i64)
    ///     Op::Divide => (div $a $b)
    ///     Op::Return => (return $a)
    /// }
    ///
    /// let engine: Engine<Op> = Engine::<Op>::builder().backtraces(true).build();
    /// let (a, zero) = (0.into(), 1.into());
    /// let divide = vec![Op::Divide { dst: 0.into(), a: 0.into(), b: zero }, Op::Return { a }];
    /// let divide = engine.define("divide", divide, 2)?;
    /// let call = vec![Op::Call { dst: 0.into(), function: Imm(divide.number()), a }, Op::Return { a }];
    /// let call = engine.define("call", call, 1)?;
    ///
    /// assert!(engine.call::<_, i64>(call, &mut (), (7i64,)).is_err());
    /// let places: Vec<_> = engine.backtrace().frames.iter().map(|frame| (frame.function, frame.at)).collect();
    /// assert_eq!(places, [(divide, 0), (call, 0)]);
    /// # Ok::<(), azulejo::Error>(())
    /// ```
    pub fn backtrace(&self) -> Backtrace {
        self.forget_caught();
        self.trace.as_ref().map(|trace| trace.borrow().found.clone()).unwrap_or_default()
    }

    /// Records that a function fails at this bytecode.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&self, function: u32, at: u32) {
        let Some(trace) = &self.trace else { return };
        self.forget_caught();
        let mut trace = trace.borrow_mut();
        if std::mem::take(&mut trace.is_over) {
            trace.found = Backtrace::default();
        }
        match trace.found.frames.len() {
            MOST.. => trace.found.left_out += 1,
            _ => trace.found.frames.push(BacktraceFrame { function: FunctionId(function), at }),
        }
    }

    /// Forgets the functions of a failure that a program has caught.
    fn forget_caught(&self) {
        if let Some(trace) = &self.trace
            && self.links.borrow().take_caught()
        {
            *trace.borrow_mut() = Failures::default();
        }
    }

    /// Ends the backtrace: what fails from now on starts another.
    #[inline(always)]
    pub(super) fn end_failures(&self) {
        if let Some(trace) = &self.trace {
            trace.borrow_mut().is_over = true;
        }
    }

    /// Takes the backtrace away, because calls are ended that nobody is to hear of.
    pub(super) fn save_failures(&self) -> Option<Failures> {
        self.forget_caught();
        self.trace.as_ref().map(RefCell::take)
    }

    /// Puts back what was taken away.
    pub(super) fn restore_failures(&self, saved: Option<Failures>) {
        if let (Some(trace), Some(saved)) = (&self.trace, saved) {
            trace.replace(saved);
        }
    }

    /// Makes a call from outside, and ends its backtrace.
    #[inline(always)]
    pub(super) fn traced<T>(&self, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let result = call();
        self.end_failures();
        result
    }
}
