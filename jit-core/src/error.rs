//! Errors at run time, as values.

use crate::verify::VerifyError;
use crate::vocab::Trap;
use core::fmt;

/// The reason why a function was not defined, not compiled, or returned no result.
///
/// ```
/// # use azulejo_core::{error::Error, vocab::Trap};
/// let error = Error::Trap { trap: Trap::DivideByZero, at: 3 };
/// assert_eq!(error.to_string(), "bytecode 3: integer division by zero");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytecode is invalid.
    Verify(VerifyError),
    /// The function stopped without a result.
    Trap {
        /// The reason.
        trap: Trap,
        /// The index of the bytecode that trapped.
        at: u32,
    },
    /// Nested calls used up the frames or the thread's stack.
    StackOverflow,
    /// The system has no memory for the VM registers that the engine was built with.
    OutOfStackMemory,
    /// Another thread interrupted the function.
    Interrupted {
        /// The index of the bytecode that would have come next.
        at: u32,
    },
    /// The engine's fuel is used up: see `Builder::fuel`.
    OutOfFuel {
        /// The index of the bytecode that would have come next.
        at: u32,
    },
    /// The call has more arguments than the function takes, or than it has VM registers.
    TooManyArguments {
        /// How many arguments the call has.
        given: usize,
        /// How many arguments the function takes at most.
        most: u32,
    },
    /// The function belongs to another engine.
    UnknownFunction,
    /// The function was removed.
    Removed,
    /// The fiber was resumed after its end.
    FiberEnded,
    /// The fiber was resumed with another context than the one that it was started with.
    OtherContext,
    /// The system has no memory for the stack of another fiber, or does not allow as many mappings.
    OutOfFiberStacks,
    /// The supplier of the function's bytecode returned none, or asked for the function while making it.
    NotMade,
    /// The function has no machine code.
    NotCompiled,
    /// There is no room left for machine code; the function can still be interpreted.
    OutOfCodeMemory,
    /// Machine code of the function would need a larger stack frame than a function may have; the function can still be
    /// interpreted.
    FrameTooLarge {
        /// The size of that frame.
        bytes: usize,
    },
    /// The limit on compiled functions is reached, which is only set to search for a fault; the function can still be
    /// interpreted.
    Limited,
    /// The set of tiles lacks an operator of the bytecode's vocabulary; the function can still be interpreted.
    NoTiles {
        /// The first operator of the bytecode that the set lacks.
        operator: &'static str,
    },
    /// This machine cannot run compiled code; the function can still be interpreted.
    Unsupported(Unsupported),
    /// The compiler gave up in this stage because of a bug of its own; the function can still be interpreted.
    Internal(&'static str),
}

/// The reason why a machine cannot run compiled code.
///
/// ```
/// # use azulejo_core::error::{Error, Unsupported};
/// let error = Error::from(Unsupported::Architecture);
/// assert_eq!(error.to_string(), "cannot compile: there is no compiler for this processor");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unsupported {
    /// There is no back end for this kind of processor.
    Architecture,
    /// There is no back end for this operating system.
    System,
    /// The system provides no executable memory.
    Memory,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::Architecture => "there is no compiler for this processor",
            Unsupported::System => "there is no compiler for this operating system",
            Unsupported::Memory => "the system gives no memory to run code from",
        })
    }
}

impl core::error::Error for Unsupported {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Verify(error) => write!(f, "bad bytecode: {error}"),
            Error::Trap { trap, at } => write!(f, "bytecode {at}: {trap}"),
            Error::StackOverflow => f.write_str("calls are nested too deeply"),
            Error::OutOfStackMemory => f.write_str(
                "the system has no memory for as many VM registers: give `Builder::stack_slots` fewer",
            ),
            Error::OutOfFuel { at } => write!(f, "bytecode {at}: no fuel is left"),
            Error::Interrupted { at } => write!(f, "bytecode {at}: interrupted"),
            Error::TooManyArguments { given, most } => {
                write!(f, "{given} arguments for a function that takes at most {most}")
            }
            Error::UnknownFunction => f.write_str("the function belongs to another engine"),
            Error::Removed => f.write_str("the function was removed"),
            Error::FiberEnded => f.write_str("the fiber has ended"),
            Error::OtherContext => f.write_str("the fiber was started with another context"),
            Error::OutOfFiberStacks => f.write_str("the system has no memory for another fiber's stack"),
            Error::NotMade => f.write_str("the function's bytecode could not be made"),
            Error::NotCompiled => f.write_str("the function has not been compiled"),
            Error::OutOfCodeMemory => f.write_str("no room left for machine code"),
            Error::Limited => f.write_str("as many functions were compiled already as the limit allows"),
            Error::FrameTooLarge { bytes } => {
                write!(f, "the function keeps too much at once: it would take {bytes} bytes of the stack")
            }
            Error::NoTiles { operator } => write!(
                f,
                "no tile of the engine's set is for `{operator}`: make a set with `tileset!` that has the \
                 bytecode's operators, and give it to the builder"
            ),
            Error::Unsupported(reason) => write!(f, "cannot compile: {reason}"),
            Error::Internal(stage) => write!(f, "the compiler failed in `{stage}`; this is a bug in azulejo"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Verify(error) => Some(error),
            Error::Unsupported(reason) => Some(reason),
            _ => None,
        }
    }
}

/// The trap with which a caller fails when its callee fails with an error. So a function of Rust that calls the engine can use `?`:
///
/// ```
/// # use azulejo_core::{error::Error, vocab::Trap};
/// fn half(of: Result<u64, Error>) -> Result<u64, Trap> {
///     Ok(of? / 2)
/// }
/// assert_eq!(half(Err(Error::Trap { trap: Trap::DivideByZero, at: 3 })), Err(Trap::DivideByZero));
/// ```
impl From<Error> for Trap {
    fn from(error: Error) -> Trap {
        match error {
            Error::Trap { trap, .. } => trap,
            Error::StackOverflow => Trap::StackOverflow,
            Error::Interrupted { .. } | Error::OutOfFuel { .. } => Trap::Ended,
            // The call itself was wrong: there is no other reason why a function would not run.
            _ => Trap::BadCall,
        }
    }
}

impl From<VerifyError> for Error {
    fn from(error: VerifyError) -> Error {
        Error::Verify(error)
    }
}

impl From<Unsupported> for Error {
    fn from(reason: Unsupported) -> Error {
        Error::Unsupported(reason)
    }
}
