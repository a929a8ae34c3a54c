//! Which calls led to a failure.
//!
//! In: each function that fails, from the innermost one out, told by whoever runs it: the interpreter, the engine where compiled
//! code ended with a status, and compiled code itself where a call between functions ends. Out: a [`Backtrace`].

use super::{Engine, FunctionId};
use crate::Error;
use azulejo_core::ir::bytecode::Bytecode;

/// How many of the innermost calls are kept.
const MOST: usize = 64;

/// A function that was running, and where. See [`Engine::backtrace`].
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
    /// The bytecode that failed, or that called the next inner one.
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
    /// From the innermost one out.
    pub frames: Vec<BacktraceFrame>,
    /// How many outer ones are not among them, because there were too many.
    pub left_out: usize,
}

/// A backtrace in the making.
#[derive(Default, Debug)]
pub(super) struct Failures {
    found: Backtrace,
    /// Whether the call from outside has ended that failed last: the next failure is another one.
    is_over: bool,
}

impl<B: Bytecode> Engine<B> {
    /// The functions that ran when the last call failed that did, and at which bytecode each of them was: in
    /// [`frames`](Backtrace::frames) the innermost one first. Nothing if no call failed yet, or unless
    /// [`Builder::backtraces`](crate::Builder::backtraces) asked for this.
    ///
    /// A function that ended in a tail call is not among them: another one took its place. Where a Rust function that a template
    /// called calls the engine again, that is a call of its own: the functions that ran outside of it are not among those.
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
        self.trace.as_ref().map(|trace| trace.borrow().found.clone()).unwrap_or_default()
    }

    /// A function fails at this bytecode.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&self, function: u32, at: u32) {
        let Some(trace) = &self.trace else { return };
        let mut trace = trace.borrow_mut();
        if std::mem::take(&mut trace.is_over) {
            trace.found = Backtrace::default();
        }
        match trace.found.frames.len() {
            MOST.. => trace.found.left_out += 1,
            _ => trace.found.frames.push(BacktraceFrame { function: FunctionId(function), at }),
        }
    }

    /// Makes a call from outside.
    #[inline(always)]
    pub(super) fn traced<T>(&self, call: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let result = call();
        if let Some(trace) = &self.trace {
            trace.borrow_mut().is_over = true;
        }
        result
    }
}
