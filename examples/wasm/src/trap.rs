//! Why a call gave no result: the traps of WebAssembly, and every other mistake.

use std::fmt;

/// The numbers by which templates raise traps that only this bytecode has.
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

/// A trap; its text is that of the specification.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trap {
    /// `unreachable` was executed.
    Unreachable,
    /// Memory was read or written beyond its end.
    MemoryOutOfBounds,
    /// A table was read or written beyond its end.
    TableOutOfBounds,
    /// A call went through an element beyond the end of the table.
    UndefinedElement,
    /// A call went through an element that is null.
    UninitializedElement,
    /// A call went to a function of another type.
    IndirectCallTypeMismatch,
    /// An integer was divided by zero.
    DivideByZero,
    /// The result of a division or a conversion does not fit.
    IntegerOverflow,
    /// NaN was to become an integer.
    InvalidConversion,
    /// Calls are nested too deeply.
    CallStackExhausted,
    /// The program used up its fuel.
    OutOfFuel,
    /// Another thread had the program stopped.
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
    /// What a template raised; `None` of what it cannot raise, or of what a host function knows.
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

/// What can go wrong with a module.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a valid module.
    Module(String),
    /// A module that is text is not written as it must be.
    Text(String),
    /// Imports are missing or of other types: a line for each.
    Link(String),
    /// A call trapped.
    Trap(Trap),
    /// There is no export of this name and kind.
    NoExport(String),
    /// The arguments are not what the function takes.
    Arguments(String),
    /// A limit of this machine or of the virtual machine was reached.
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
        // Nothing else keeps a function from being made, or a call from being right.
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
