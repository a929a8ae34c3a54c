//! What can be seen of a module that is instantiated and called: results, traps, memories and globals.

use std::fmt;

/// A value, as far as it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// An integer.
    Int(u64),
    /// A float's bits; all NaNs are one.
    Float(u64),
    /// A reference, and whether it is null.
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

/// Why something has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `unreachable`.
    Unreachable,
    /// A memory access.
    Memory,
    /// A table access, or an indirect call beyond the table's end.
    Table,
    /// An indirect call of nothing.
    Null,
    /// An indirect call of another type.
    Signature,
    /// A division by zero.
    DivideByZero,
    /// A quotient or an integer made of a float that is too large.
    Overflow,
    /// An integer made of NaN.
    Conversion,
    /// How deep calls may nest is each engine's own business, and so what such a call leaves behind.
    Stack,
    /// The judge gave up: the call takes too long.
    Fuel,
    /// Something that no module should be able to cause.
    Other,
}

/// How a call ended.
pub type End = Result<Vec<Seen>, Kind>;

/// All that was seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// What became of the module itself: `None` if it is not valid or cannot be linked.
    pub start: Option<End>,
    /// What each call gave.
    pub calls: Vec<End>,
    /// The sizes of the exported memories, and hashes of what is in them.
    pub memories: Vec<(usize, u64)>,
    /// The exported globals.
    pub globals: Vec<Seen>,
}

impl Outcome {
    /// Whether nothing more can be compared after this.
    pub fn is_last(end: &End) -> bool {
        matches!(end, Err(Kind::Stack | Kind::Fuel | Kind::Other))
    }

    /// What is in a memory, as a number (FNV-1a, over words).
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
