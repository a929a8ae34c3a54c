//! Machine code as the emitter shows it to observers.

/// A function's machine code before it is copied to its final place.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    /// The code, without the constants after it.
    pub code: &'a [u8],
    /// The start of each piece of code, in order, and its origin.
    pub pieces: &'a [(u32, Maker)],
    /// The positions of 32-bit distances that are filled in later, each with the address that it leads to. A distance counts
    /// from the end of its four bytes.
    pub addresses: &'a [(u32, u64)],
}

/// The origin of a piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// It implements this instruction of the tile list.
    Inst(u32),
    /// The allocator's moves before this instruction.
    Moves(u32),
    /// It is part of the prologue or an epilogue.
    Frame,
}

impl Maker {
    /// The instruction that the piece belongs to.
    ///
    /// ```
    /// use azulejo_core::ir::emitted::Maker;
    /// assert_eq!(Maker::Moves(3).inst(), Some(3));
    /// assert_eq!(Maker::Frame.inst(), None);
    /// ```
    pub fn inst(self) -> Option<u32> {
        match self {
            Maker::Inst(inst) | Maker::Moves(inst) => Some(inst),
            Maker::Frame => None,
        }
    }
}
