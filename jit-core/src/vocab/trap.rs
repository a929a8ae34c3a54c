//! The reason why execution of a function stopped without a result.

use core::fmt;

/// A condition that ends a function early.
///
/// ```
/// # use azulejo_core::vocab::Trap;
/// assert_eq!(Trap::DivideByZero.to_string(), "integer division by zero");
/// assert_eq!(Trap::User(7).to_string(), "trap 7");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Trap {
    /// Integer division or remainder by zero.
    DivideByZero,
    /// The least integer divided by minus one.
    Overflow,
    /// A float that does not fit the integer type it is converted to.
    BadConversion,
    /// Calls are nested too deeply: the stack of frames or the machine's stack is used up.
    StackOverflow,
    /// The callee of a call between functions of bytecode does not exist, or has fewer registers than the call has arguments.
    BadCall,
    /// The program asked to be suspended, and runs in no fiber.
    NotInFiber,
    /// The program asked to be suspended, and between it and the start of its fiber is a call that a Rust function made.
    AcrossRust,
    /// The program is to end: somebody has stopped it, its fuel is used up, or its fiber was dropped. No `(try …)` catches this.
    Ended,
    /// A trap that a template raised with `(trap code)`.
    User(u16),
}

impl Trap {
    /// The code of `Trap::User(0)`.
    const FIRST_USER: u32 = 16;

    /// The number of this trap in compiled code; never zero.
    ///
    /// ```
    /// # use azulejo_core::vocab::Trap;
    /// assert_ne!(Trap::User(0).code(), Trap::DivideByZero.code());
    /// ```
    pub const fn code(self) -> u32 {
        match self {
            Trap::DivideByZero => 1,
            Trap::Overflow => 2,
            Trap::BadConversion => 3,
            Trap::StackOverflow => 4,
            Trap::BadCall => 5,
            Trap::NotInFiber => 6,
            Trap::AcrossRust => 7,
            Trap::Ended => 8,
            Trap::User(code) => Trap::FIRST_USER + code as u32,
        }
    }

    /// The code, if a program can catch the trap.
    #[doc(hidden)]
    pub const fn catch(self) -> Result<u32, Trap> {
        match self {
            Trap::Ended => Err(self),
            trap => Ok(trap.code()),
        }
    }

    /// The trap with this number.
    ///
    /// ```
    /// # use azulejo_core::vocab::Trap;
    /// assert_eq!(Trap::from_code(Trap::User(7).code()), Some(Trap::User(7)));
    /// assert_eq!(Trap::from_code(0), None);
    /// ```
    pub const fn from_code(code: u32) -> Option<Trap> {
        match code {
            1 => Some(Trap::DivideByZero),
            2 => Some(Trap::Overflow),
            3 => Some(Trap::BadConversion),
            4 => Some(Trap::StackOverflow),
            5 => Some(Trap::BadCall),
            6 => Some(Trap::NotInFiber),
            7 => Some(Trap::AcrossRust),
            8 => Some(Trap::Ended),
            Trap::FIRST_USER..=0x1_000f => Some(Trap::User((code - Trap::FIRST_USER) as u16)),
            _ => None,
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::DivideByZero => f.write_str("integer division by zero"),
            Trap::Overflow => f.write_str("integer overflow in division"),
            Trap::BadConversion => f.write_str("float has no integer value in range"),
            Trap::StackOverflow => f.write_str("calls nest too deep"),
            Trap::BadCall => f.write_str("no function has this number, or it takes fewer arguments"),
            Trap::NotInFiber => f.write_str("suspended outside of any fiber"),
            Trap::AcrossRust => f.write_str("suspended across a call that a Rust function made"),
            Trap::Ended => f.write_str("the program was ended"),
            Trap::User(code) => write!(f, "trap {code}"),
        }
    }
}
