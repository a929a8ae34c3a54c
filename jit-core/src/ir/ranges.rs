//! Live ranges: where each set of joined values is live.
//!
//! Four positions for each instruction: before it, where moves read and write ([`GAP`]); where it reads
//! ([`EARLY`]); where it writes ([`LATE`]); and behind it, where moves take its results elsewhere ([`AFTER`]).
//! Segments are half-open, sorted and disjoint; what lies between them is a hole.

use super::index::{List, Vreg};
use super::tiles::TileList;
use crate::target::Reg;
use crate::vocab::Class;

/// Positions for each instruction.
pub const STEP: u32 = 4;
/// Where moves before the instruction happen.
pub const GAP: u32 = 0;
/// Where the instruction reads.
pub const EARLY: u32 = 1;
/// Where the instruction writes.
pub const LATE: u32 = 2;
/// Where moves behind the instruction read.
pub const AFTER: u32 = 3;

/// From a position up to, not including, another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Segment {
    /// The first position.
    pub start: u32,
    /// The position behind the last.
    pub end: u32,
}

/// Values that share one place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
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
    pub ranges: Vec<Range>,
    /// The pool of segments.
    pub segments: Vec<Segment>,
    /// For each virtual register its range.
    pub of: Vec<u32>,
}

impl Ranges {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.segments.clear();
        self.of.clear();
    }

    /// The segments of a range.
    #[inline(always)]
    pub fn segments(&self, range: &Range) -> &[Segment] {
        &self.segments[range.segments.range()]
    }

    /// The constant that a range is; constants share no range with anything else.
    #[inline]
    pub fn constant(&self, range: u32, tiles: &TileList) -> Option<u64> {
        tiles.constant(self.ranges[range as usize].vreg)
    }

    /// The range that a virtual register is part of.
    #[inline(always)]
    pub fn of(&self, vreg: Vreg) -> &Range {
        &self.ranges[self.of[vreg.at()] as usize]
    }
}
