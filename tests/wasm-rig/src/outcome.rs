//! The observable outcome of instantiating and calling a module: results, traps, memories and globals.

use std::fmt;

/// The part of a value that is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// An integer.
    Int(u64),
    /// A float's bits; all NaNs are mapped to one.
    Float(u64),
    /// A reference: whether it is null.
    Null(bool),
}

impl Seen {
    /// An `f32` by its bits.
    pub fn of_f32(bits: u32) -> Seen {
        Seen::Float(if f32::from_bits(bits).is_nan() { f32::NAN.to_bits().into() } else { bits.into() })
    }

    /// An `f64` by its bits.
    pub fn of_f64(bits: u64) -> Seen {
        Seen::Float(if f64::from_bits(bits).is_nan() { f64::NAN.to_bits() } else { bits })
    }
}

/// The reason for a trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `unreachable`.
    Unreachable,
    /// A memory access.
    Memory,
    /// A table access, or an indirect call beyond the table's end.
    Table,
    /// An indirect call of a null reference.
    Null,
    /// An indirect call with the wrong type.
    Signature,
    /// A division by zero.
    DivideByZero,
    /// An integer overflow, in a division or in the conversion of a float.
    Overflow,
    /// The conversion of NaN to an integer.
    Conversion,
    /// A stack overflow. Each engine has its own limit, so the state afterwards differs.
    Stack,
    /// The judge gave up, because the call takes too long.
    Fuel,
    /// An error that no module should be able to cause.
    Other,
}

/// The result of a call.
pub type End = Result<Vec<Seen>, Kind>;

/// Everything observable about a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// The result of instantiation: `None` if the module is not valid or cannot be linked.
    pub start: Option<End>,
    /// The result of each call.
    pub calls: Vec<End>,
    /// The sizes of the exported memories, and hashes of their contents.
    pub memories: Vec<(usize, u64)>,
    /// The exported globals.
    pub globals: Vec<Seen>,
}

impl Outcome {
    /// Whether nothing more can be compared after this.
    pub fn is_last(end: &End) -> bool {
        matches!(end, Err(Kind::Stack | Kind::Fuel | Kind::Other))
    }

    /// The hash of a memory's contents (FNV-1a, over words).
    pub fn hash(bytes: &[u8]) -> u64 {
        bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "start {:?}", self.start)?;
        for (at, end) in self.calls.iter().enumerate() {
            writeln!(f, "call {at}: {end:x?}")?;
        }
        writeln!(f, "memories {:x?}", self.memories)?;
        writeln!(f, "globals {:x?}", self.globals)
    }
}
