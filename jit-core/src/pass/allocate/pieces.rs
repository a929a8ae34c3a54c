//! Live ranges and the pieces that they are cut into.
//!
//! In: a tile list and its live ranges. Out: [`Pieces`], at first one for each range. What holds: the pieces of a
//! range are disjoint and together are live wherever the range is; a cut is always before an instruction, so
//! that all operands of one instruction that belong to one range are in one piece.
//!
//! Cutting off the front of a piece costs what the front is long, not what is left: the rest keeps its place in
//! the pool. So a long range that is cut many times costs no more than its length.

use super::super::live::use_end;
use crate::ir::index::{List, Loop, Vreg};
use crate::ir::ranges::{EARLY, GAP, LATE, Ranges, STEP, Segment};
use crate::ir::tiles::{Operand, Role, TileList};
use crate::target::Reg;

/// How much more an instruction in a loop counts than one outside.
const LOOP_WEIGHT: f32 = 8.0;
const MAX_DEPTH: u16 = 8;
/// What an instruction in a cold block counts.
const COLD_WEIGHT: f32 = 0.01;

/// Where a piece is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Waiting,
    Reg(Reg),
    /// In its range's spill slot or, for a constant, nowhere.
    Memory,
}

/// Part of a live range that is in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) range: u32,
    /// In [`Pieces::segments`].
    pub(super) segments: List,
    /// In [`Pieces::uses`]: what touches it.
    uses: List,
    /// How many of its uses are operands of instructions.
    n_operands: u32,
    /// What its uses count together.
    cost: f32,
    /// How many positions it covers.
    length: u32,
    /// What it costs to have it in memory, for each position that it is live.
    pub(super) weight: f32,
    /// Whether all of it is in one loop and of one heat.
    pub(super) is_level: bool,
    pub(super) place: Place,
}

impl Piece {
    /// With its weight.
    fn weighed(self) -> Piece {
        Piece { weight: self.cost / self.length.max(1) as f32, ..self }
    }

    /// Whether no instruction touches it: it only waits. Blocks hand values on from memory to memory as well.
    pub(super) fn is_idle(&self) -> bool {
        self.n_operands == 0
    }
}

/// How a range is touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touch {
    /// By this operand.
    Operand(u32),
    /// It is an argument at the end of a block.
    Argument,
    /// It is a parameter of the block that starts here.
    Parameter,
}

/// Something touches a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// At which position.
    pub(super) at: u32,
    pub(super) touch: Touch,
    /// How often it happens, compared with others.
    pub(super) cost: f32,
}

/// Whether it is cold, and the innermost loop around: between blocks that agree in this a value may move without
/// being moved more often than where it is needed.
type Level = (bool, Loop);

/// A block of the tile list as the allocator sees it.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    end: u32,
    cost: f32,
    level: Level,
}

/// Every piece.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) all: Vec<Piece>,
    segments: Vec<Segment>,
    /// By range, sorted by position.
    uses: Vec<Use>,
    /// Where each range's uses start.
    first_use: Vec<u32>,
    blocks: Vec<Stretch>,
    parts: Vec<(Level, Segment)>,
    touches: Vec<Use>,
    levels: Vec<Level>,
}

impl Pieces {
    /// One piece for each range.
    pub(super) fn fill(&mut self, tiles: &TileList, ranges: &Ranges) {
        self.blocks.clear();
        self.blocks.extend(tiles.blocks.iter().map(|block| {
            let often = LOOP_WEIGHT.powi(tiles.depth(block.inner).min(MAX_DEPTH) as i32);
            Stretch {
                end: (block.insts.start + block.insts.len) * STEP,
                cost: often * if block.cold { COLD_WEIGHT } else { 1.0 },
                level: (block.cold, block.inner),
            }
        }));
        self.find_uses(tiles, ranges);
        self.segments.clone_from(&ranges.segments);
        let is_level = self.blocks.iter().all(|block| block.level == self.blocks[0].level);
        self.all.clear();
        for (at, range) in ranges.ranges.iter().enumerate() {
            let uses = List { start: self.first_use[at], len: self.first_use[at + 1] - self.first_use[at] };
            let piece = self.measure(at as u32, range.segments, uses);
            self.all.push(Piece { is_level, ..piece });
        }
    }

    fn find_uses(&mut self, tiles: &TileList, ranges: &Ranges) {
        self.first_use.clear();
        self.first_use.resize(ranges.ranges.len() + 1, 0);
        each_touch(tiles, |vreg, _, _, _| self.first_use[ranges.of[vreg.at()] as usize + 1] += 1);
        for at in 0..ranges.ranges.len() {
            self.first_use[at + 1] += self.first_use[at];
        }
        let count = self.first_use[ranges.ranges.len()] as usize;
        self.uses.clear();
        self.uses.resize(count, Use { at: 0, touch: Touch::Argument, cost: 0.0 });
        // Each entry is where the next use goes, and so in the end where the next range starts.
        each_touch(tiles, |vreg, block, at, touch| {
            let next = &mut self.first_use[ranges.of[vreg.at()] as usize];
            self.uses[*next as usize] = Use { at, touch, cost: self.blocks[block].cost };
            *next += 1;
        });
        self.first_use.rotate_right(1);
        self.first_use[0] = 0;
    }

    /// A new piece of these segments.
    fn measure(&self, range: u32, segments: List, uses: List) -> Piece {
        let length = self.segments[segments.range()].iter().map(|segment| segment.end - segment.start).sum();
        let (mut n_operands, mut cost) = (0, 0.0);
        for touch in &self.uses[uses.range()] {
            n_operands += matches!(touch.touch, Touch::Operand(_)) as u32;
            cost += touch.cost;
        }
        let (is_level, place) = (false, Place::Waiting);
        Piece { range, segments, uses, n_operands, cost, length, weight: 0.0, is_level, place }.weighed()
    }

    pub(super) fn segments(&self, piece: u32) -> &[Segment] {
        &self.segments[self.all[piece as usize].segments.range()]
    }

    /// Everything that touches a piece, in order.
    pub(super) fn uses(&self, piece: u32) -> &[Use] {
        &self.uses[self.all[piece as usize].uses.range()]
    }

    /// Everything that touches a range, in order.
    pub(super) fn uses_of_range(&self, range: u32) -> &[Use] {
        &self.uses[self.first_use[range as usize] as usize..self.first_use[range as usize + 1] as usize]
    }

    /// The block, by position in the tile list, that a position is in.
    pub(super) fn block_at(&self, position: u32) -> usize {
        block_at(&self.blocks, position)
    }

    /// How often a block is run, compared with others.
    pub(super) fn cost_of_block(&self, block: usize) -> f32 {
        self.blocks[block].cost
    }

    /// Cuts off what is before a position, which is before an instruction and inside the piece. The front keeps
    /// the piece's number; the rest has the number that is returned.
    pub(super) fn cut_before(&mut self, piece: u32, at: u32) -> u32 {
        debug_assert_eq!(at % STEP, GAP, "cuts are between instructions");
        let whole = self.all[piece as usize];
        let segments = &self.segments[whole.segments.range()];
        let n_before = segments.iter().take_while(|segment| segment.end <= at).count() as u32;
        let rest_at = whole.segments.start + n_before;
        let mut front = List { start: whole.segments.start, len: n_before };
        let crossed = self.segments[rest_at as usize];
        if crossed.start < at {
            // The segment that is cut in two stays in its place for the rest; the front is written anew.
            front = List { start: self.segments.len() as u32, len: n_before + 1 };
            self.segments.extend_from_within(whole.segments.start as usize..rest_at as usize);
            self.segments.push(Segment { start: crossed.start, end: at });
            self.segments[rest_at as usize].start = at;
        }
        let uses = &self.uses[whole.uses.range()];
        let uses_before = uses.iter().take_while(|touch| touch.at < at).count() as u32;
        let front_uses = List { start: whole.uses.start, len: uses_before };
        let front = self.measure(whole.range, front, front_uses);
        self.all[piece as usize] = Piece { is_level: whole.is_level, place: whole.place, ..front };
        let rest = Piece {
            segments: List { start: rest_at, len: whole.segments.len - n_before },
            uses: List { start: whole.uses.start + uses_before, len: whole.uses.len - uses_before },
            n_operands: whole.n_operands - front.n_operands,
            cost: (whole.cost - front.cost).max(0.0),
            length: whole.length - front.length,
            ..whole
        };
        self.all.push(rest.weighed());
        self.all.len() as u32 - 1
    }

    /// Cuts a piece into one for each level that it touches. The first keeps its number, the others follow from
    /// the number that is returned; there may be none.
    pub(super) fn cut_levels(&mut self, piece: u32) -> u32 {
        let first_new = self.all.len() as u32;
        let whole = self.all[piece as usize];
        if whole.is_level {
            return first_new;
        }
        self.all[piece as usize].is_level = true;
        let Pieces { parts, touches, levels, blocks, segments, .. } = self;
        parts.clear();
        for segment in &segments[whole.segments.range()] {
            let mut start = segment.start;
            let mut block = block_at(blocks, start);
            while start < segment.end {
                let end = segment.end.min(blocks[block].end);
                parts.push((blocks[block].level, Segment { start, end }));
                (start, block) = (end, block + 1);
            }
        }
        levels.clear();
        levels.extend(parts.iter().map(|(level, _)| *level));
        levels.sort_unstable();
        levels.dedup();
        if levels.len() == 1 {
            return first_new;
        }
        parts.sort_by_key(|(level, _)| *level);
        touches.clear();
        touches.extend_from_slice(&self.uses[whole.uses.range()]);
        touches.sort_by_key(|touch| blocks[block_at(blocks, touch.at)].level);
        self.write_levels(piece);
        first_new
    }

    /// Makes pieces of the sorted parts and uses.
    fn write_levels(&mut self, piece: u32) {
        let (mut part, mut touch) = (0, 0);
        for at in 0..self.levels.len() {
            let level = self.levels[at];
            let first = self.segments.len();
            while let Some((_, next)) = self.parts.get(part).filter(|(of, _)| *of == level) {
                match self.segments[first..].last_mut() {
                    Some(last) if last.end == next.start => last.end = next.end,
                    _ => self.segments.push(*next),
                }
                part += 1;
            }
            let segments = List { start: first as u32, len: (self.segments.len() - first) as u32 };
            let start = self.uses.len() as u32;
            while let Some(next) = self.touches.get(touch)
                && self.blocks[self.block_at(next.at)].level == level
            {
                self.uses.push(*next);
                touch += 1;
            }
            let uses = List { start, len: self.uses.len() as u32 - start };
            let new = self.measure(self.all[piece as usize].range, segments, uses);
            let new = Piece { is_level: true, ..new };
            match at {
                0 => self.all[piece as usize] = new,
                _ => self.all.push(new),
            }
        }
    }
}

/// The block that a position is in.
fn block_at(blocks: &[Stretch], position: u32) -> usize {
    blocks.partition_point(|block| block.end <= position)
}

/// Tells everything that touches a virtual register: which, in which block (by position), where and how.
/// In the order of positions, as far as one virtual register is concerned.
fn each_touch(tiles: &TileList, mut tell: impl FnMut(Vreg, usize, u32, Touch)) {
    for (at, block) in tiles.blocks.iter().enumerate() {
        for param in &tiles.args[block.params.range()] {
            tell(*param, at, block.insts.start * STEP, Touch::Parameter);
        }
        let last = block.insts.start + block.insts.len - 1;
        for inst in block.insts.range() {
            if inst as u32 == last {
                for edge in tiles.edges(block) {
                    for arg in &tiles.args[edge.args.range()] {
                        tell(*arg, at, last * STEP + GAP, Touch::Argument);
                    }
                }
            }
            for index in tiles.insts[inst].operands.range() {
                let operand = &tiles.operands[index];
                tell(operand.vreg, at, position(operand, inst as u32), Touch::Operand(index as u32));
            }
        }
    }
}

/// At which of its instruction's positions an operand is surely live.
fn position(operand: &Operand, inst: u32) -> u32 {
    match (use_end(operand, inst), operand.role) {
        (Some(end), _) => end - 1,
        (None, Role::EarlyDef | Role::Temp) => inst * STEP + EARLY,
        (None, _) => inst * STEP + LATE,
    }
}
