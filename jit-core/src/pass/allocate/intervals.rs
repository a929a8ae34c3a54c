//! Live ranges and the intervals that they are cut into.
//!
//! In: a tile list and its live ranges. Out: [`Intervals`], at first one for each range. What holds: the intervals of a
//! range are disjoint and together are live wherever the range is; a cut is always before an instruction, so
//! that all operands of one instruction that belong to one range are in one interval.
//!
//! Cutting off the front of an interval costs what the front is long, not what is left: the rest keeps its place in
//! the pool. So a long range that is cut many times costs no more than its length.

use super::super::live::use_end;
use crate::ir::index::{List, Vreg};
use crate::ir::ranges::{EARLY, GAP, LATE, Ranges, STEP, Segment};
use crate::ir::tiles::{Operand, Role, TileList};
use crate::target::Reg;

/// How much more an instruction in a loop counts than one outside.
const LOOP_WEIGHT: f32 = 8.0;
const MAX_DEPTH: u16 = 8;
/// What an instruction in a cold block counts.
const COLD_WEIGHT: f32 = 0.01;

/// Where an interval is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Waiting,
    Reg(Reg),
    /// In its range's spill slot or, for a constant, nowhere.
    Memory,
}

/// Part of a live range that is in one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) range: u32,
    /// In [`Intervals::segments`].
    pub(super) segments: List,
    /// In [`Intervals::uses`]: what touches it.
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

impl Interval {
    /// With its weight.
    fn weighed(self) -> Interval {
        Interval { weight: self.cost / self.length.max(1) as f32, ..self }
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

/// A block of the tile list as the allocator sees it.
#[derive(Clone, Copy, Debug)]
struct BlockSpan {
    end: u32,
    cost: f32,
    /// A number for whether it is cold, and the innermost loop around: between blocks that agree in this a value may move
    /// without being moved more often than where it is needed.
    level: u32,
    /// The region that it is part of, or [`HOT`].
    region: u32,
}

/// The region of blocks that are not cold.
const HOT: u32 = u32::MAX;
/// Blocks of different regions lead to a block, or hot ones.
const MANY: u32 = u32::MAX - 1;

/// Cold blocks in a row that are entered at the first of them only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// The last position of a block that leads there.
    pub(super) before: u32,
}

/// What an interval that is being cut has at one level.
#[derive(Clone, Copy, Debug)]
struct AtLevel {
    n_segments: u32,
    n_uses: u32,
    /// The last of its parts.
    last: u32,
    /// Where the next segment and the next use go.
    next_segment: u32,
    next_use: u32,
}

impl AtLevel {
    const NONE: AtLevel = AtLevel { n_segments: 0, n_uses: 0, last: u32::MAX, next_segment: 0, next_use: 0 };
}

/// The most levels of which each gets an interval, whether it uses the range or not. Of more, those that do not are one: they
/// have it in memory.
const MAX_LEVELS: usize = 64;

/// Room for a use.
const NO_USE: Use = Use { at: 0, touch: Touch::Argument, cost: 0.0 };

/// Every interval.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    pub(super) all: Vec<Interval>,
    segments: Vec<Segment>,
    /// By range, sorted by position.
    uses: Vec<Use>,
    /// Where each range's uses start.
    first_use: Vec<u32>,
    blocks: Vec<BlockSpan>,
    /// Of an interval that is being cut the parts and the uses, with their levels, and which levels those are.
    parts: Vec<(u32, Segment)>,
    touches: Vec<(u32, Use)>,
    touched: Vec<u32>,
    /// By level; nothing is at any unless an interval is being cut.
    levels: Vec<AtLevel>,
    pub(super) regions: Vec<Region>,
    /// By block: the region of those that lead there, as far as they stand before it, and where the last one ends.
    led_from: Vec<(u32, u32)>,
    /// By region or level: the last interval that was cut for which it was asked for.
    wanted: Vec<u32>,
    /// Where the first cold block starts.
    pub(super) first_cold: u32,
    /// Ranges that are moved where blocks hand values on, and where; sorted. Found when somebody asks.
    moved: Vec<(u32, u32)>,
    is_moved_known: bool,
}

impl Intervals {
    /// One interval for each range.
    pub(super) fn fill(&mut self, tiles: &TileList, ranges: &Ranges) {
        let n_places = tiles.loops.len() as u32 + 1;
        self.blocks.clear();
        self.blocks.extend(tiles.blocks.iter().map(|block| {
            let often = LOOP_WEIGHT.powi(tiles.depth(block.inner).min(MAX_DEPTH) as i32);
            BlockSpan {
                end: (block.insts.start + block.insts.len) * STEP,
                cost: often * if block.cold { COLD_WEIGHT } else { 1.0 },
                // What is hot comes first, and what is in no loop last.
                level: block.cold as u32 * n_places + block.inner.0.min(n_places - 1),
                region: HOT,
            }
        }));
        self.find_regions(tiles);
        self.is_moved_known = false;
        self.levels.clear();
        self.levels.resize(self.regions.len().max(2 * n_places as usize) + 1, AtLevel::NONE);
        self.wanted.clear();
        self.wanted.resize(self.levels.len(), u32::MAX);
        self.find_uses(tiles, ranges);
        self.segments.clone_from(&ranges.segments);
        let is_level = self.blocks.iter().all(|block| block.level == self.blocks[0].level);
        self.all.clear();
        for (at, range) in ranges.ranges.iter().enumerate() {
            let uses = List { start: self.first_use[at], len: self.first_use[at + 1] - self.first_use[at] };
            let interval = self.measure(at as u32, range.segments, uses);
            self.all.push(Interval { is_level, ..interval });
        }
    }

    /// Finds regions: a cold block begins one unless all that leads there from before it is in the region at hand.
    fn find_regions(&mut self, tiles: &TileList) {
        self.regions.clear();
        self.first_cold = u32::MAX;
        let Some(first) = tiles.blocks.iter().position(|block| block.cold) else { return };
        self.first_cold = tiles.blocks[first].insts.start * STEP;
        self.led_from.clear();
        self.led_from.resize(tiles.blocks.len(), (HOT, 0));
        for (at, block) in tiles.blocks.iter().enumerate() {
            let last = (block.insts.start + block.insts.len - 1) * STEP + GAP;
            if block.cold {
                let (from, before) = self.led_from[at];
                if self.regions.is_empty() || from as usize != self.regions.len() - 1 {
                    self.regions.push(Region { before });
                }
                self.blocks[at].region = self.regions.len() as u32 - 1;
            }
            for edge in tiles.edges(block) {
                let to = tiles.position[edge.to.at()] as usize;
                if to > at {
                    let (from, before) = &mut self.led_from[to];
                    let this = if block.cold { self.blocks[at].region } else { MANY };
                    *from = if *from == HOT || *from == this { this } else { MANY };
                    *before = last;
                }
            }
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
        self.uses.resize(count, NO_USE);
        // Each entry is where the next use goes, and so in the end where the next range starts.
        each_touch(tiles, |vreg, block, at, touch| {
            let next = &mut self.first_use[ranges.of[vreg.at()] as usize];
            self.uses[*next as usize] = Use { at, touch, cost: self.blocks[block].cost };
            *next += 1;
        });
        self.first_use.rotate_right(1);
        self.first_use[0] = 0;
    }

    /// A new interval of these segments.
    fn measure(&self, range: u32, segments: List, uses: List) -> Interval {
        let length = self.segments[segments.range()].iter().map(|segment| segment.end - segment.start).sum();
        let (mut n_operands, mut cost) = (0, 0.0);
        for touch in &self.uses[uses.range()] {
            n_operands += matches!(touch.touch, Touch::Operand(_)) as u32;
            cost += touch.cost;
        }
        let (is_level, place) = (false, Place::Waiting);
        Interval { range, segments, uses, n_operands, cost, length, weight: 0.0, is_level, place }.weighed()
    }

    pub(super) fn segments(&self, interval: u32) -> &[Segment] {
        &self.segments[self.all[interval as usize].segments.range()]
    }

    /// Everything that touches an interval, in order.
    pub(super) fn uses(&self, interval: u32) -> &[Use] {
        &self.uses[self.all[interval as usize].uses.range()]
    }

    /// Everything that touches a range, in order.
    pub(super) fn uses_of_range(&self, range: u32) -> &[Use] {
        &self.uses[self.first_use[range as usize] as usize..self.first_use[range as usize + 1] as usize]
    }

    /// Whether an interval begins in a loop, in hot code.
    pub(super) fn is_in_loop(&self, interval: u32) -> bool {
        self.blocks[block_at(&self.blocks, self.segments(interval)[0].start)].cost > 1.0
    }

    /// Whether blocks bring an interval values of other ranges, or take its value to other ranges.
    pub(super) fn is_moved(&mut self, interval: u32, tiles: &TileList, ranges: &Ranges) -> bool {
        if self.uses(interval).is_empty() {
            return false;
        }
        if !core::mem::replace(&mut self.is_moved_known, true) {
            self.find_moved(tiles, ranges);
        }
        let range = self.all[interval as usize].range;
        self.uses(interval).iter().any(|touch| self.moved.binary_search(&(range, touch.at)).is_ok())
    }

    fn find_moved(&mut self, tiles: &TileList, ranges: &Ranges) {
        self.moved.clear();
        for block in &tiles.blocks {
            let end = (block.insts.start + block.insts.len - 1) * STEP + GAP;
            for edge in tiles.edges(block) {
                let to = tiles.block(edge.to);
                let args = tiles.args[edge.args.range()].iter();
                for (arg, param) in core::iter::zip(args, &tiles.args[to.params.range()]) {
                    let (arg, param) = (ranges.of[arg.at()], ranges.of[param.at()]);
                    if arg != param {
                        self.moved.extend([(arg, end), (param, to.insts.start * STEP)]);
                    }
                }
            }
        }
        self.moved.sort_unstable();
    }

    /// Whether an interval begins in cold code, behind which nothing hot stands.
    pub(super) fn is_cold(&self, interval: u32) -> bool {
        self.segments(interval)[0].start >= self.first_cold
    }

    /// The region that an interval starts in.
    pub(super) fn region(&self, interval: u32) -> u32 {
        let first = self.segments(interval)[0];
        self.blocks[self.block_at(first.start)].region
    }

    /// Whether an interval is in cold code only, and in several regions.
    pub(super) fn is_in_regions(&self, interval: u32) -> bool {
        let end = |last: &Segment| self.blocks[self.block_at(last.end - 1)].region;
        self.is_cold(interval)
            && self.segments(interval).last().is_some_and(|last| end(last) != self.region(interval))
    }

    /// The block, by position in the tile list, that a position is in.
    pub(super) fn block_at(&self, position: u32) -> usize {
        block_at(&self.blocks, position)
    }

    /// How often a block is run, compared with others.
    pub(super) fn cost_of_block(&self, block: usize) -> f32 {
        self.blocks[block].cost
    }

    /// Cuts off what is before a position, which is before an instruction and inside the interval. The front keeps
    /// the interval's number; the rest has the number that is returned.
    pub(super) fn cut_before(&mut self, interval: u32, at: u32) -> u32 {
        debug_assert_eq!(at % STEP, GAP, "cuts are between instructions");
        let whole = self.all[interval as usize];
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
        self.all[interval as usize] = Interval { is_level: whole.is_level, place: whole.place, ..front };
        let rest = Interval {
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

    /// Cuts an interval into one for each level that it touches. The first keeps its number, the others follow from
    /// the number that is returned; there may be none.
    pub(super) fn cut_levels(&mut self, interval: u32) -> u32 {
        let first_new = self.all.len() as u32;
        let whole = self.all[interval as usize];
        if whole.is_level {
            return first_new;
        }
        self.all[interval as usize].is_level = true;
        if !self.cut_by(interval, MAX_LEVELS, |block, _| block.level) {
            let uses = self.all[interval as usize].uses;
            let idle = self.levels.len() as u32 - 1;
            let mut block = 0;
            for touch in &self.uses[uses.range()] {
                block = block_from(&self.blocks, block, touch.at);
                self.wanted[self.blocks[block].level as usize] = interval;
            }
            self.cut_by(interval, usize::MAX, |block, wanted| {
                match wanted[block.level as usize] == interval {
                    true => block.level,
                    false => idle,
                }
            });
        }
        first_new
    }

    /// Cuts a cold interval into one for each region where it is used or that is among these, and one for all others, which is
    /// none of those that [`is_wanted`](Self::is_wanted). The first keeps its number, the others follow from the number
    /// that is returned; there may be none.
    pub(super) fn cut_regions(&mut self, interval: u32, others: impl Iterator<Item = u32>) -> u32 {
        let first_new = self.all.len() as u32;
        let uses = self.all[interval as usize].uses;
        let mut block = 0;
        for touch in &self.uses[uses.range()] {
            block = block_from(&self.blocks, block, touch.at);
            self.wanted[self.blocks[block].region as usize] = interval;
        }
        others.for_each(|region| self.wanted[region as usize] = interval);
        self.cut_by(interval, usize::MAX, |block, wanted| match wanted[block.region as usize] == interval {
            true => block.region + 1,
            false => 0,
        });
        first_new
    }

    /// Whether a region was asked for when an interval was cut that had this number.
    pub(super) fn is_wanted(&self, region: u32, interval: u32) -> bool {
        self.wanted[region as usize] == interval
    }

    /// Cuts an interval into one for each level that it touches, the lowest first, if there are no more levels than that.
    fn cut_by(
        &mut self,
        interval: u32,
        max_levels: usize,
        level: impl Fn(&BlockSpan, &[u32]) -> u32,
    ) -> bool {
        let whole = self.all[interval as usize];
        self.find_parts(whole.segments, max_levels, &level);
        let is_cut = self.touched.len() <= max_levels;
        if is_cut && self.touched.len() > 1 {
            self.touched.sort_unstable();
            self.find_touches(whole.uses, &level);
            self.write_levels(interval);
        }
        for level in self.touched.drain(..) {
            self.levels[level as usize] = AtLevel::NONE;
        }
        is_cut
    }

    /// Cuts segments where the level changes, and counts what each level gets of them; but no further than where there are
    /// too many levels.
    fn find_parts(&mut self, segments: List, max_levels: usize, level: impl Fn(&BlockSpan, &[u32]) -> u32) {
        let Intervals { parts, touched, levels, blocks, wanted, .. } = self;
        parts.clear();
        let mut block = 0;
        for segment in &self.segments[segments.range()] {
            let mut start = segment.start;
            block = block_from(blocks, block, start);
            while start < segment.end {
                let (end, level) = (blocks[block].end, level(&blocks[block], wanted));
                let at_level = &mut levels[level as usize];
                let end = end.min(segment.end);
                match parts.get_mut(at_level.last as usize) {
                    Some((_, last)) if last.end == start => last.end = end,
                    _ => {
                        if at_level.n_segments == 0 {
                            touched.push(level);
                            if touched.len() > max_levels {
                                return;
                            }
                        }
                        at_level.last = parts.len() as u32;
                        at_level.n_segments += 1;
                        parts.push((level, Segment { start, end }));
                    }
                }
                start = end;
                block += (end == blocks[block].end) as usize;
            }
        }
    }

    /// Finds the level of each use, and counts what each level gets of them.
    fn find_touches(&mut self, uses: List, level: impl Fn(&BlockSpan, &[u32]) -> u32) {
        let Intervals { touches, levels, blocks, wanted, .. } = self;
        touches.clear();
        let mut block = 0;
        for touch in &self.uses[uses.range()] {
            block = block_from(blocks, block, touch.at);
            let level = level(&blocks[block], wanted);
            levels[level as usize].n_uses += 1;
            touches.push((level, *touch));
        }
    }

    /// Makes an interval for each level, with its parts and uses in order.
    fn write_levels(&mut self, interval: u32) {
        let (n_segments, n_uses) = (self.segments.len(), self.uses.len());
        let (mut segments_end, mut uses_end) = (n_segments as u32, n_uses as u32);
        for &level in &self.touched {
            let at_level = &mut self.levels[level as usize];
            (at_level.next_segment, at_level.next_use) = (segments_end, uses_end);
            (segments_end, uses_end) = (segments_end + at_level.n_segments, uses_end + at_level.n_uses);
        }
        self.segments.resize(segments_end as usize, Segment { start: 0, end: 0 });
        for (level, part) in &self.parts {
            let next = &mut self.levels[*level as usize].next_segment;
            self.segments[*next as usize] = *part;
            *next += 1;
        }
        self.uses.resize(uses_end as usize, NO_USE);
        for (level, touch) in &self.touches {
            let next = &mut self.levels[*level as usize].next_use;
            self.uses[*next as usize] = *touch;
            *next += 1;
        }
        let range = self.all[interval as usize].range;
        for at in 0..self.touched.len() {
            let AtLevel { n_segments, n_uses, next_segment, next_use, .. } =
                self.levels[self.touched[at] as usize];
            let segments = List { start: next_segment - n_segments, len: n_segments };
            let uses = List { start: next_use - n_uses, len: n_uses };
            let new = Interval { is_level: true, ..self.measure(range, segments, uses) };
            match at {
                0 => self.all[interval as usize] = new,
                _ => self.all.push(new),
            }
        }
    }
}

/// How many blocks are looked at one by one before others are searched.
const MAX_STEPS: usize = 8;

/// The block that a position is in, which is this one or one behind it.
fn block_from(blocks: &[BlockSpan], first: usize, position: u32) -> usize {
    let is_before = |block: &BlockSpan| block.end <= position;
    let n_before = blocks[first..].iter().take(MAX_STEPS).take_while(|block| is_before(block)).count();
    match n_before {
        MAX_STEPS => first + MAX_STEPS + blocks[first + MAX_STEPS..].partition_point(is_before),
        n_before => first + n_before,
    }
}

/// The block that a position is in.
fn block_at(blocks: &[BlockSpan], position: u32) -> usize {
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
