//! The assignment: the place of every operand, and the moves between places.

use super::index::{InstId, LiveRange, Slot};
use super::ranges::Segment;
use crate::target::{Reg, RegSet};
use crate::vocab::Type;

/// The place of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Loc {
    /// In a register.
    Reg(Reg),
    /// In a spill slot.
    Slot(Slot),
    /// In this 8-byte unit of the outgoing argument area. Moves only write there, never read.
    OutArg(u16),
}

/// The source of a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The value in a place.
    Loc(Loc),
    /// A constant.
    Const(u64),
}

/// One move. Moves never change the CPU's flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The instruction that the move precedes.
    pub before: InstId,
    /// The source.
    pub from: Source,
    /// The destination.
    pub to: Loc,
    /// The type of the value. A move from slot to slot moves the whole slot.
    pub ty: Type,
}

/// A part of a live range that is in one place. Observers use it to show the allocator's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// The live range.
    pub range: LiveRange,
    /// The positions at which the part is live.
    pub segments: &'a [Segment],
    /// The place; none for a constant that is in no register, since it is rematerialized.
    pub place: Option<Loc>,
}

/// The result of register allocation, which complements the tile list.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The place of each entry of `TileList::operands`; `OutArg` for an operand that was stored there.
    pub locs: Vec<Loc>,
    /// The moves, sorted by instruction; those before one instruction are executed in order. Moves on an edge precede the last
    /// instruction of its source (if the source has one successor) or the first instruction of its target.
    pub moves: Vec<Move>,
    /// The number of spill slots.
    pub slots: u32,
    /// Every register that is written.
    pub used: RegSet,
    /// Whether some blocks run without the function's frame, as the tile list says: none of these uses a slot, an outgoing argument or a
    /// register that callees save. Otherwise the frame is made on entry.
    pub has_late_frame: bool,
}
