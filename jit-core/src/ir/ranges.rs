//! Live ranges: the positions at which each set of joined values is live.
//!
//! An instruction has four positions ([`Pos`]): the gap before it, where moves read and write; its reads; its writes; and the
//! position after it, where moves take its results elsewhere. Segments are half-open, sorted and disjoint; the space between
//! two segments is a hole.

use super::index::{InstId, List, LiveRange, Vreg};
use super::tiles::TileList;
use crate::target::Reg;
use crate::vocab::Class;
use core::fmt;

/// The number of positions of each instruction.
pub const STEP: u32 = 4;

/// A position in the program.
///
/// ```
/// # use azulejo_core::ir::{index::InstId, ranges::Pos};
/// let inst = InstId(7);
/// let all = [inst.gap(), inst.early(), inst.late(), inst.after(), inst.end()];
/// assert!(all.is_sorted() && inst.end() == InstId(8).gap());
/// assert_eq!((inst.late().inst(), inst.late().gap()), (inst, inst.gap()));
/// assert_eq!(all.map(|at| at.to_string()), ["7g", "7e", "7l", "7a", "8g"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Pos(pub u32);

impl Pos {
    /// The first position.
    pub const START: Pos = Pos(0);
    /// A position after all others.
    pub const NEVER: Pos = Pos(u32::MAX);

    /// The instruction that it belongs to.
    #[inline(always)]
    pub const fn inst(self) -> InstId {
        InstId(self.0 / STEP)
    }

    /// The position before the instruction that it belongs to.
    #[inline(always)]
    pub const fn gap(self) -> Pos {
        self.inst().gap()
    }

    /// The position before this one.
    #[inline(always)]
    pub const fn prev(self) -> Pos {
        Pos(self.0 - 1)
    }

    /// The position after this one.
    #[inline(always)]
    pub const fn next(self) -> Pos {
        Pos(self.0 + 1)
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.inst().0, ["g", "e", "l", "a"][(self.0 % STEP) as usize])
    }
}

impl fmt::Debug for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl InstId {
    /// The position of the moves before it.
    #[inline(always)]
    pub const fn gap(self) -> Pos {
        Pos(self.0 * STEP)
    }

    /// The position of its reads.
    #[inline(always)]
    pub const fn early(self) -> Pos {
        Pos(self.0 * STEP + 1)
    }

    /// The position of its writes.
    #[inline(always)]
    pub const fn late(self) -> Pos {
        Pos(self.0 * STEP + 2)
    }

    /// The position at which moves after it read.
    #[inline(always)]
    pub const fn after(self) -> Pos {
        Pos(self.0 * STEP + 3)
    }

    /// The first position after it.
    #[inline(always)]
    pub const fn end(self) -> Pos {
        self.next().gap()
    }
}

/// The positions from `start` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Segment {
    /// The first position.
    pub start: Pos,
    /// The position after the last.
    pub end: Pos,
}

impl Segment {
    /// No positions; reserves an entry in a pool.
    pub const EMPTY: Segment = Segment { start: Pos::START, end: Pos::START };

    /// Whether it contains a position.
    #[inline(always)]
    pub fn contains(self, at: Pos) -> bool {
        self.start <= at && at < self.end
    }

    /// The number of positions.
    #[inline(always)]
    pub const fn n_positions(self) -> u32 {
        self.end.0 - self.start.0
    }
}

/// A live range: values that share one place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LiveRangeData {
    /// Its segments, in [`Ranges::segments`].
    pub segments: List,
    /// One of the virtual registers in it.
    pub vreg: Vreg,
    /// The register class.
    pub class: Class,
    /// A register whose choice would save a move.
    pub hint: Option<Reg>,
}

/// Every live range of a function.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The ranges.
    pub ranges: Vec<LiveRangeData>,
    /// The pool of segments.
    pub segments: Vec<Segment>,
    /// The range of each virtual register.
    pub of: Vec<LiveRange>,
}

impl Ranges {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.segments.clear();
        self.of.clear();
    }

    /// The data of a range.
    #[inline(always)]
    pub fn get(&self, range: LiveRange) -> &LiveRangeData {
        &self.ranges[range.at()]
    }

    /// The segments of a range.
    #[inline(always)]
    pub fn segments(&self, range: LiveRange) -> &[Segment] {
        &self.segments[self.get(range).segments.range()]
    }

    /// The constant that a range holds, if any; a constant shares its range with no other value.
    #[inline]
    pub fn constant(&self, range: LiveRange, tiles: &TileList) -> Option<u64> {
        tiles.constant(self.get(range).vreg)
    }

    /// The range that a virtual register is part of.
    #[inline(always)]
    pub fn of(&self, vreg: Vreg) -> LiveRange {
        self.of[vreg.at()]
    }
}
