//! Machine code as the emitter hands it on, for who looks at it.

/// A function's machine code, before it is put where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    /// The code, without the constants behind it.
    pub code: &'a [u8],
    /// Where each piece starts, in order, and what made it.
    pub pieces: &'a [(u32, Maker)],
    /// Where four bytes will hold the distance from behind them to an address.
    pub addresses: &'a [(u32, u64)],
}

/// What made a piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// This instruction of the tile list.
    Inst(u32),
    /// The allocator's moves before this instruction.
    Moves(u32),
    /// The function itself: what is needed to enter and to leave it.
    Frame,
}

impl Maker {
    /// The instruction that it is made for.
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
