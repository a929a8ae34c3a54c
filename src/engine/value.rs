//! Conversion of Rust values to and from the bits of VM registers.

use azulejo_core::vocab::meaning::Num;

/// A Rust value that fits a VM register.
///
/// ```
/// use azulejo::Slot;
/// assert_eq!((-1i32).to_slot(), 0xffff_ffff);
/// assert_eq!(f64::from_slot(2.5f64.to_slot()), 2.5);
/// assert!(bool::from_slot(2), "all but zero is true, as in functions that templates call");
/// ```
#[diagnostic::on_unimplemented(
    message = "no VM register holds `{Self}`",
    label = "of what type is this?",
    note = "arguments and results are integers of up to 64 bits, floats, `bool`, raw pointers, or `()` for no result; a call's \
            result needs a type: `let result: i64 = engine.call(…)?`"
)]
pub trait Slot: Copy {
    /// Returns the register's bits: those of the value, with zeros above them.
    fn to_slot(self) -> u64;
    /// Returns the value that a register's low bits represent.
    fn from_slot(bits: u64) -> Self;
}

macro_rules! slots {
    ($($signed:ident $unsigned:ident),*) => {$(
        impl Slot for $signed {
            fn to_slot(self) -> u64 {
                Num::to_bits(self)
            }
            fn from_slot(bits: u64) -> Self {
                Num::from_bits(bits)
            }
        }
        impl Slot for $unsigned {
            fn to_slot(self) -> u64 {
                self as u64
            }
            fn from_slot(bits: u64) -> Self {
                bits as $unsigned
            }
        }
    )*};
}
slots!(i8 u8, i16 u16, i32 u32, i64 u64);

macro_rules! float_slots {
    ($($float:ident),*) => {$(
        impl Slot for $float {
            fn to_slot(self) -> u64 {
                Num::to_bits(self)
            }
            fn from_slot(bits: u64) -> Self {
                Num::from_bits(bits)
            }
        }
    )*};
}
float_slots!(f32, f64);

impl Slot for usize {
    fn to_slot(self) -> u64 {
        self as u64
    }
    fn from_slot(bits: u64) -> Self {
        bits as usize
    }
}

impl<T> Slot for *mut T {
    fn to_slot(self) -> u64 {
        self as usize as u64
    }
    fn from_slot(bits: u64) -> Self {
        bits as usize as *mut T
    }
}

impl<T> Slot for *const T {
    fn to_slot(self) -> u64 {
        self as usize as u64
    }
    fn from_slot(bits: u64) -> Self {
        bits as usize as *const T
    }
}

/// A byte, as it is where functions of Rust take a `bool` from a template: all but zero is `true`.
impl Slot for bool {
    fn to_slot(self) -> u64 {
        self as u64
    }
    fn from_slot(bits: u64) -> Self {
        bits as u8 != 0
    }
}

/// The result of a function that returns no value.
impl Slot for () {
    fn to_slot(self) -> u64 {
        0
    }
    fn from_slot(_: u64) -> Self {}
}

/// The arguments of a call: a tuple of up to twelve values, or a slice of register bits.
///
/// No argument is sign-extended: a value has the bits of its own type, with zeros above them. Where a function reads an
/// `i64`, pass an `i64`.
///
/// ```
/// use azulejo::Args;
/// let mut registers = [0; 3];
/// (7u8, -1i64, -1i32).store(&mut registers);
/// assert_eq!(registers, [7, u64::MAX, 0xffff_ffff]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of arguments",
    label = "a tuple, or a slice of register bits",
    note = "one argument is a tuple too: `(7i64,)`; none is `()`; and there are twelve at most"
)]
pub trait Args {
    /// How many arguments there are.
    fn count(&self) -> usize;
    /// Writes the arguments' bits to the first registers.
    fn store(self, frame: &mut [u64]);
}

impl Args for &[u64] {
    fn count(&self) -> usize {
        self.len()
    }
    fn store(self, frame: &mut [u64]) {
        frame[..self.len()].copy_from_slice(self);
    }
}

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        impl<$($name: Slot),*> Args for ($($name,)*) {
            fn count(&self) -> usize {
                const { <[usize]>::len(&[$($at),*]) }
            }
            #[allow(unused_variables, reason = "the empty tuple stores nothing")]
            fn store(self, frame: &mut [u64]) {
                $(frame[$at] = self.$at.to_slot();)*
            }
        }
    )*};
}
tuples! {
    ;
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}

/// The arguments of a call that is made later.
pub(super) enum KeptArguments {
    Few([u64; FEW], usize),
    Many(Vec<u64>),
}

/// So many arguments need no memory of their own.
const FEW: usize = 6;

impl KeptArguments {
    pub(super) fn of<A: Args>(args: A) -> KeptArguments {
        let count = args.count();
        let mut few = [0; FEW];
        if let Some(words) = few.get_mut(..count) {
            args.store(words);
            return KeptArguments::Few(few, count);
        }
        let mut many = vec![0; count];
        args.store(&mut many);
        KeptArguments::Many(many)
    }

    pub(super) fn words(&self) -> &[u64] {
        match self {
            KeptArguments::Few(words, count) => &words[..*count],
            KeptArguments::Many(words) => words,
        }
    }
}
