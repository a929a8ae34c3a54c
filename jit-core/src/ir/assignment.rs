//! The assignment: where every operand is, and what moves between.

use super::index::{InstId, LiveRange, Slot};
use super::ranges::Segment;
use crate::target::{Reg, RegSet};
use crate::vocab::Type;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Loc {
    /// In a register.
    Reg(Reg),
    /// In a spill slot.
    Slot(Slot),
    /// In this 8-byte unit of the outgoing argument area (only ever a move's destination).
    OutArg(u16),
}

/// Where a move takes its value from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// From where a value is.
    Loc(Loc),
    /// It is a constant.
    Const(u64),
}

/// One move. Moves never change the CPU's flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Before which instruction.
    pub before: InstId,
    /// From where.
    pub from: Source,
    /// To where.
    pub to: Loc,
    /// What is moved; the whole slot for slot to slot.
    pub ty: Type,
}

/// Part of a live range that is in one place, for who wants to see what the allocator did with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// Of which range.
    pub range: LiveRange,
    /// Where the part is live.
    pub segments: &'a [Segment],
    /// Where it is; a constant that is in no register is nowhere: it is made again.
    pub place: Option<Loc>,
}

/// The allocator's answer, beside the tile list it is about.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// For each entry of `TileList::operands` its place. (`OutArg` for an operand that was stored there.)
    pub locs: Vec<Loc>,
    /// Sorted by instruction; those before one instruction are done in order. Moves on an edge stand before the
    /// last instruction of its source (if that has one successor) or the first of its target.
    pub moves: Vec<Move>,
    /// How many spill slots there are.
    pub slots: u32,
    /// Every register that is written.
    pub used: RegSet,
}
