//! The reasons for which a call has no result: WebAssembly's traps, and all other errors.

use std::fmt;

/// The trap codes that templates use for traps specific to this bytecode.
pub(crate) mod code {
    pub(crate) const UNREACHABLE: u16 = 1;
    pub(crate) const OUT_OF_BOUNDS_MEMORY: u16 = 2;
    pub(crate) const OUT_OF_BOUNDS_TABLE: u16 = 3;
    pub(crate) const UNDEFINED_ELEMENT: u16 = 4;
    pub(crate) const UNINITIALIZED_ELEMENT: u16 = 5;
    pub(crate) const TYPE_MISMATCH: u16 = 6;
    pub(crate) const INVALID_CONVERSION: u16 = 7;
    pub(crate) const HOST: u16 = 8;
}

/// A trap, displayed with the text of the specification.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trap {
    /// `unreachable` was executed.
    Unreachable,
    /// An access to memory was out of bounds.
    MemoryOutOfBounds,
    /// An access to a table was out of bounds.
    TableOutOfBounds,
    /// An indirect call used an index beyond the end of the table.
    UndefinedElement,
    /// An indirect call used a null element.
    UninitializedElement,
    /// An indirect call found a function of another type.
    IndirectCallTypeMismatch,
    /// An integer was divided by zero.
    DivideByZero,
    /// The result of a division or conversion does not fit.
    IntegerOverflow,
    /// A NaN was converted to an integer.
    InvalidConversion,
    /// Calls were nested too deeply.
    CallStackExhausted,
    /// The program used up its fuel.
    OutOfFuel,
    /// Another thread stopped the program.
    Interrupted,
    /// A host function ended the program with this status.
    Exit(i32),
    /// A host function failed.
    Host(String),
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trap::Unreachable => "unreachable",
            Trap::MemoryOutOfBounds => "out of bounds memory access",
            Trap::TableOutOfBounds => "out of bounds table access",
            Trap::UndefinedElement => "undefined element",
            Trap::UninitializedElement => "uninitialized element",
            Trap::IndirectCallTypeMismatch => "indirect call type mismatch",
            Trap::DivideByZero => "integer divide by zero",
            Trap::IntegerOverflow => "integer overflow",
            Trap::InvalidConversion => "invalid conversion to integer",
            Trap::CallStackExhausted => "call stack exhausted",
            Trap::OutOfFuel => "all fuel is used up",
            Trap::Interrupted => "interrupted",
            Trap::Exit(status) => return write!(f, "exit with status {status}"),
            Trap::Host(message) => message,
        })
    }
}

impl std::error::Error for Trap {}

impl Trap {
    /// Converts a trap that a template raised. `None` for traps that no template raises, or that a host function must explain.
    pub(crate) fn from_engine(trap: azulejo::Trap) -> Option<Trap> {
        use azulejo::Trap as Engine;
        Some(match trap {
            Engine::DivideByZero => Trap::DivideByZero,
            Engine::Overflow | Engine::BadConversion => Trap::IntegerOverflow,
            Engine::StackOverflow => Trap::CallStackExhausted,
            Engine::User(code::UNREACHABLE) => Trap::Unreachable,
            Engine::User(code::OUT_OF_BOUNDS_MEMORY) => Trap::MemoryOutOfBounds,
            Engine::User(code::OUT_OF_BOUNDS_TABLE) => Trap::TableOutOfBounds,
            Engine::User(code::UNDEFINED_ELEMENT) => Trap::UndefinedElement,
            Engine::User(code::UNINITIALIZED_ELEMENT) => Trap::UninitializedElement,
            Engine::User(code::TYPE_MISMATCH) => Trap::IndirectCallTypeMismatch,
            Engine::User(code::INVALID_CONVERSION) => Trap::InvalidConversion,
            _ => return None,
        })
    }
}

/// An error with a module.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a valid module.
    Module(String),
    /// The text of a module is malformed.
    Text(String),
    /// Imports are missing or have the wrong type; a line for each.
    Link(String),
    /// A call trapped.
    Trap(Trap),
    /// There is no export of this name and kind.
    NoExport(String),
    /// The arguments do not match the function's type.
    Arguments(String),
    /// A limit of the host or of the virtual machine was reached.
    Limit(String),
    /// The engine refused a function.
    Engine(azulejo::Error),
}

impl Error {
    pub(crate) fn unsupported(what: &str) -> Error {
        Error::Module(format!("{what} is not supported"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Module(message) => write!(f, "not a valid module: {message}"),
            Error::Text(message)
            | Error::Link(message)
            | Error::Arguments(message)
            | Error::Limit(message) => f.write_str(message),
            Error::Trap(trap) => trap.fmt(f),
            Error::NoExport(name) => write!(f, "no export `{name}` of this kind"),
            Error::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<wasmparser::Error> for Error {
    fn from(error: wasmparser::Error) -> Error {
        Error::Module(error.to_string())
    }
}

impl From<Trap> for Error {
    fn from(trap: Trap) -> Error {
        Error::Trap(trap)
    }
}

impl From<azulejo::Error> for Error {
    fn from(error: azulejo::Error) -> Error {
        // Only an invalid body leads to `NotMade` or `BadCall`.
        let not_valid = || Error::Module("a function that was called is not valid".into());
        match error {
            azulejo::Error::NotMade => not_valid(),
            azulejo::Error::StackOverflow => Error::Trap(Trap::CallStackExhausted),
            azulejo::Error::OutOfFuel { .. } => Error::Trap(Trap::OutOfFuel),
            azulejo::Error::Interrupted { .. } => Error::Trap(Trap::Interrupted),
            azulejo::Error::Trap { trap, .. } => match Trap::from_engine(trap) {
                Some(trap) => Error::Trap(trap),
                None if trap == azulejo::Trap::BadCall => not_valid(),
                None => Error::Engine(error),
            },
            error => Error::Engine(error),
        }
    }
}
