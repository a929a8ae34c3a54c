//! Live ranges: where each set of joined values is live.
//!
//! An instruction has four positions ([`Pos`]): before it, where moves read and write; where it reads; where it writes; and
//! behind it, where moves take its results elsewhere. Segments are half-open, sorted and disjoint; what lies between them
//! is a hole.

use super::index::{InstId, List, LiveRange, Vreg};
use super::tiles::TileList;
use crate::target::Reg;
use crate::vocab::Class;
use core::fmt;

/// Positions for each instruction.
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
    /// The first of all.
    pub const START: Pos = Pos(0);
    /// Behind all others.
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

    /// The one before.
    #[inline(always)]
    pub const fn prev(self) -> Pos {
        Pos(self.0 - 1)
    }

    /// The one behind.
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
    /// Where moves before it happen.
    #[inline(always)]
    pub const fn gap(self) -> Pos {
        Pos(self.0 * STEP)
    }

    /// Where it reads.
    #[inline(always)]
    pub const fn early(self) -> Pos {
        Pos(self.0 * STEP + 1)
    }

    /// Where it writes.
    #[inline(always)]
    pub const fn late(self) -> Pos {
        Pos(self.0 * STEP + 2)
    }

    /// Where moves behind it read.
    #[inline(always)]
    pub const fn after(self) -> Pos {
        Pos(self.0 * STEP + 3)
    }

    /// The first position behind it.
    #[inline(always)]
    pub const fn end(self) -> Pos {
        self.next().gap()
    }
}

/// From a position up to, not including, another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Segment {
    /// The first position.
    pub start: Pos,
    /// The position behind the last.
    pub end: Pos,
}

impl Segment {
    /// No position: room in a pool.
    pub const EMPTY: Segment = Segment { start: Pos::START, end: Pos::START };

    /// Whether a position is in it.
    #[inline(always)]
    pub fn contains(self, at: Pos) -> bool {
        self.start <= at && at < self.end
    }

    /// How many positions it has.
    #[inline(always)]
    pub const fn n_positions(self) -> u32 {
        self.end.0 - self.start.0
    }
}

/// Values that share one place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LiveRangeData {
    /// In [`Ranges::segments`].
    pub segments: List,
    /// One of the virtual registers in it.
    pub vreg: Vreg,
    /// The register class.
    pub class: Class,
    /// A register that would save a move.
    pub hint: Option<Reg>,
}

/// Every live range of a function.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The ranges.
    pub ranges: Vec<LiveRangeData>,
    /// The pool of segments.
    pub segments: Vec<Segment>,
    /// For each virtual register its range.
    pub of: Vec<LiveRange>,
}

impl Ranges {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.segments.clear();
        self.of.clear();
    }

    /// What is known of a range.
    #[inline(always)]
    pub fn get(&self, range: LiveRange) -> &LiveRangeData {
        &self.ranges[range.at()]
    }

    /// The segments of a range.
    #[inline(always)]
    pub fn segments(&self, range: LiveRange) -> &[Segment] {
        &self.segments[self.get(range).segments.range()]
    }

    /// The constant that a range is; constants share no range with anything else.
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
