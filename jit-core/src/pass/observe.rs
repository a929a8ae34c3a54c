//! Observers and judges of each stage's result.
//!
//! In: a stage's result. Out: whatever an [`Observer`] makes of it, or an error if the result is wrong ([`judge`]).

use super::{Target, allocate};
use crate::check::Violation;
use crate::error::Error;
use crate::ir::assignment::{Assignment, Part};
use crate::ir::emitted::Emitted;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::kinds::KindMask;
use crate::ir::ranges::Ranges;
use crate::ir::schedule::Schedule;
use crate::ir::tiles::TileList;
use core::fmt;

/// The stages that an observer sees, in their order; `kinds` and `lower` are there only if the bytecode type has kinds of
/// values, `renew`, `sink`, `counters`, `offsets` and `peel` only if they changed something, and `rewrite` runs a second time after `forward`.
pub const STAGES: [&str; 17] = [
    "build",
    "renew",
    "kinds",
    "represent",
    "lower",
    "rewrite",
    "sink",
    "counters",
    "offsets",
    "peel",
    "forward",
    "dead",
    "place",
    "tile",
    "live",
    "allocate",
    "emit",
];

/// Sees each stage's result. The default methods ignore it.
pub trait Observer {
    /// A graph, after the pass with this name.
    fn graph(&mut self, _pass: &'static str, _graph: &Graph) {}
    /// The kinds that each value of a graph may be of, which the next graph shown is about. Nothing is shown of graphs without kinds.
    fn kinds(&mut self, _graph: &Graph, _masks: &[KindMask]) {}
    /// The function is built again, and what was shown of it does not count.
    fn again(&mut self) {}
    /// Nodes have been renumbered: the new number of each old node, or `NONE` if it was removed.
    fn renumbered(&mut self, _numbers: &[Node]) {}
    /// The placed graph.
    fn schedule(&mut self, _graph: &Graph, _schedule: &Schedule) {}
    /// The chosen tiles.
    fn tiles(&mut self, _target: &Target<'_>, _tiles: &TileList) {}
    /// The live ranges.
    fn ranges(&mut self, _target: &Target<'_>, _tiles: &TileList, _ranges: &Ranges) {}
    /// The places of operands, and the moves.
    fn assignment(&mut self, _target: &Target<'_>, _allocated: &Allocated<'_>) {}
    /// The machine code. The emitter calls this.
    fn code(&mut self, _target: &Target<'_>, _tiles: &TileList, _code: &Emitted<'_>) {}
}

/// An allocator's result, and how it came about.
#[derive(Clone, Copy)]
pub struct Allocated<'a> {
    /// The instructions.
    pub tiles: &'a TileList,
    /// The live ranges.
    pub ranges: &'a Ranges,
    /// The places and moves.
    pub assignment: &'a Assignment,
    /// The allocator's memory, which records how ranges were cut.
    pub(super) scratch: &'a allocate::Scratch,
}

impl Allocated<'_> {
    /// The parts that ranges were cut into, and the place of each.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.scratch.parts(self.ranges, self.tiles)
    }
}

impl fmt::Debug for Allocated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocated").field("assignment", self.assignment).finish_non_exhaustive()
    }
}

/// Ignores everything.
#[derive(Clone, Copy, Debug)]
pub struct Blind;

impl Observer for Blind {}

/// Whether stages' results are judged.
pub(super) fn is_judged(target: &Target<'_>) -> bool {
    cfg!(debug_assertions) || target.check
}

/// Judges a stage's result. A violation is a fault of the compiler: a debug build panics with the violations, a release
/// build gives up the function.
pub(super) fn judge(
    target: &Target<'_>,
    stage: &'static str,
    violations: impl FnOnce() -> Vec<Violation>,
    text: impl FnOnce() -> String,
) -> Result<(), Error> {
    if !is_judged(target) {
        return Ok(());
    }
    let violations = violations();
    if violations.is_empty() {
        return Ok(());
    }
    if cfg!(debug_assertions) {
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        panic!("after `{stage}`:\n{}\nin\n{}", list.join("\n"), text());
    }
    Err(Error::Internal(stage))
}
