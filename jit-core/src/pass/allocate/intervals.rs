//! Live ranges, and the intervals that they are cut into.
//!
//! In: a tile list and its live ranges. Out: [`Intervals`], at first one for each range. Holds afterwards: the intervals of
//! a range are disjoint and together cover the range. A cut is always before an instruction, so all operands of one
//! instruction that belong to one range are in one interval.
//!
//! Cutting off the front of an interval takes time linear in the front, since the rest stays in place in the pool. So
//! cutting a long range many times costs no more than its length.

use super::super::live::use_end;
use crate::ir::grouped::Grouped;
use crate::ir::index::{InstId, List, LiveRange, Vreg, index};
use crate::ir::ranges::{Pos, Ranges, Segment};
use crate::ir::tiles::{Constraint, Operand, Role, TileList};
use crate::target::Reg;

/// How much more an instruction in a loop counts than one outside.
const LOOP_WEIGHT: f32 = 8.0;
const MAX_DEPTH: u16 = 8;
/// The cost of an instruction in a cold block, relative to hot code.
const COLD_WEIGHT: f32 = 0.01;

/// The place of an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IntervalPlace {
    Waiting,
    Reg(Reg),
    /// In its range's spill slot; a constant is in no place.
    Memory,
}

index! {
    /// An interval: part of a live range that is in one place.
    pub(super) Interval, "interval"
}

/// An interval's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalData {
    pub(super) range: LiveRange,
    /// In [`Intervals::segments`].
    pub(super) segments: List,
    /// Its uses, in [`Intervals::uses`].
    uses: List,
    /// How many of its uses are operands of instructions.
    n_operands: u32,
    /// The sum of its uses' costs.
    cost: f32,
    /// How many positions it covers.
    length: u32,
    /// The cost of having it in memory, per position.
    pub(super) weight: f32,
    /// Whether all its blocks have the same level: one loop and one heat.
    pub(super) is_level: bool,
    pub(super) place: IntervalPlace,
}

impl IntervalData {
    /// Sets the weight.
    fn weighed(self) -> IntervalData {
        IntervalData { weight: self.cost / self.length.max(1) as f32, ..self }
    }

    /// Whether no instruction touches it. Edges can move values from memory to memory.
    pub(super) fn is_idle(&self) -> bool {
        self.n_operands == 0
    }
}

/// The kind of a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Touch {
    /// It is an operand; the index in [`TileList::operands`].
    Operand(u32),
    /// It is an argument of an edge at the end of a block.
    Argument,
    /// It is a parameter of the block that starts here.
    Parameter,
}

/// A use of a range, definitions included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// Its position.
    pub(super) at: Pos,
    pub(super) touch: Touch,
    /// How often it happens, relative to other uses.
    pub(super) cost: f32,
}

/// A block of the tile list, as the allocator sees it.
#[derive(Clone, Copy, Debug)]
struct BlockSpan {
    end: Pos,
    cost: f32,
    /// Identifies the block's heat and its innermost loop, or that it runs before the frame is made. A move between blocks of the same level runs no more often than
    /// the code that needs the value.
    level: Level,
    /// Its region, or [`HOT`].
    region: Region,
}

index! {
    /// A set of blocks between which moving a value is cheap; an interval is cut into one for each level.
    Level, "level"
}
index! {
    /// A sequence of cold blocks that are entered only at the first.
    pub(super) Region, "region"
}

/// The region of hot blocks.
const HOT: Region = Region::NONE;
/// Marks a block with predecessors in several regions, or in hot code.
const MANY: Region = Region(u32::MAX - 1);

/// A region's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegionData {
    /// The end of the last predecessor that comes before its first block.
    pub(super) before: Pos,
}

impl Region {
    /// The level of its blocks while an interval is cut by regions; the first level is that of all other blocks.
    fn level(self) -> Level {
        Level(self.0 + 1)
    }
}

/// The part at one level of an interval that is being cut.
#[derive(Clone, Copy, Debug)]
struct AtLevel {
    n_segments: u32,
    n_uses: u32,
    /// Index of its last part.
    last: u32,
    /// Where its next segment and its next use go.
    next_segment: u32,
    next_use: u32,
}

impl AtLevel {
    const NONE: AtLevel = AtLevel { n_segments: 0, n_uses: 0, last: u32::MAX, next_segment: 0, next_use: 0 };
}

/// An interval that touches at most this many levels is cut into one for each. If there are more, the levels without uses
/// share one interval.
const MAX_LEVELS: usize = 64;

/// A placeholder in the pool of uses.
const NO_USE: Use = Use { at: Pos::START, touch: Touch::Argument, cost: 0.0 };

/// All intervals.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    pub(super) all: Vec<IntervalData>,
    segments: Vec<Segment>,
    /// Uses by range, sorted by position. After them in the pool, those of intervals that were cut out of the middle of
    /// others.
    uses: Grouped<Use>,
    blocks: Vec<BlockSpan>,
    /// While an interval is cut: its parts and uses with their levels, and the levels that it touches.
    parts: Vec<(Level, Segment)>,
    touches: Vec<(Level, Use)>,
    touched: Vec<Level>,
    /// By level; all empty unless an interval is being cut.
    levels: Vec<AtLevel>,
    pub(super) regions: Vec<RegionData>,
    /// By block: the region of those predecessors that come before the block, and where the last of these predecessors
    /// ends.
    led_from: Vec<(Region, Pos)>,
    /// By region or level: the last interval that was cut and for which it was wanted.
    wanted: Vec<Interval>,
    /// Where the first cold block starts.
    pub(super) first_cold: Pos,
    /// Ranges and positions at which edges move values between different ranges; sorted. Computed on demand.
    moved: Vec<(LiveRange, Pos)>,
    is_moved_known: bool,
}

impl Intervals {
    /// Makes one interval for each range.
    pub(super) fn fill(&mut self, tiles: &TileList, ranges: &Ranges) {
        let n_places = tiles.loops.len() as u32 + 1;
        self.blocks.clear();
        self.blocks.extend(tiles.blocks.iter().map(|block| {
            let often = LOOP_WEIGHT.powi(tiles.depth(block.inner).min(MAX_DEPTH) as i32);
            BlockSpan {
                end: block.last().end(),
                cost: often * if block.cold { COLD_WEIGHT } else { 1.0 },
                // Hot levels come before cold ones; of each heat, blocks outside of loops come last.
                level: match block.framed {
                    true => Level(block.cold as u32 * n_places + block.inner.0.min(n_places - 1)),
                    false => Level(2 * n_places),
                },
                region: HOT,
            }
        }));
        self.find_regions(tiles);
        self.is_moved_known = false;
        self.levels.clear();
        self.levels.resize(self.regions.len().max(2 * n_places as usize + 1) + 1, AtLevel::NONE);
        self.wanted.clear();
        self.wanted.resize(self.levels.len(), Interval::NONE);
        self.find_uses(tiles, ranges);
        self.segments.clone_from(&ranges.segments);
        let is_level = self.blocks.iter().all(|block| block.level == self.blocks[0].level);
        self.all.clear();
        for (at, range) in ranges.ranges.iter().enumerate() {
            let interval = self.measure(LiveRange::from(at), range.segments, self.uses.list(at));
            self.all.push(IntervalData { is_level, ..interval });
        }
    }

    /// Finds regions: a cold block begins a new one unless all predecessors that come before it are in the current region.
    fn find_regions(&mut self, tiles: &TileList) {
        self.regions.clear();
        self.first_cold = Pos::NEVER;
        let Some(first) = tiles.blocks.iter().position(|block| block.cold) else { return };
        self.first_cold = tiles.blocks[first].first().gap();
        self.led_from.clear();
        self.led_from.resize(tiles.blocks.len(), (HOT, Pos::START));
        for (at, block) in tiles.blocks.iter().enumerate() {
            if block.cold {
                let (from, before) = self.led_from[at];
                if self.regions.is_empty() || from.at() != self.regions.len() - 1 {
                    self.regions.push(RegionData { before });
                }
                self.blocks[at].region = Region::from(self.regions.len() - 1);
            }
            for edge in tiles.edges(block) {
                let to = tiles.position[edge.to.at()] as usize;
                if to > at {
                    let (from, before) = &mut self.led_from[to];
                    let this = if block.cold { self.blocks[at].region } else { MANY };
                    *from = if *from == HOT || *from == this { this } else { MANY };
                    *before = block.last().gap();
                }
            }
        }
    }

    fn find_uses(&mut self, tiles: &TileList, ranges: &Ranges) {
        let Intervals { uses, blocks, .. } = self;
        uses.start(ranges.ranges.len());
        each_touch(tiles, |vreg, _, _, _| uses.count(ranges.of(vreg).at()));
        uses.make_room(NO_USE);
        each_touch(tiles, |vreg, block, at, touch| {
            uses.add(ranges.of(vreg).at(), Use { at, touch, cost: blocks[block].cost });
        });
        uses.finish();
    }

    /// Makes an interval of these segments and uses.
    fn measure(&self, range: LiveRange, segments: List, uses: List) -> IntervalData {
        let length = self.segments[segments.range()].iter().map(|segment| segment.n_positions()).sum();
        let (mut n_operands, mut cost) = (0, 0.0);
        for touch in &self.uses.pool[uses.range()] {
            n_operands += matches!(touch.touch, Touch::Operand(_)) as u32;
            cost += touch.cost;
        }
        let (is_level, place) = (false, IntervalPlace::Waiting);
        IntervalData { range, segments, uses, n_operands, cost, length, weight: 0.0, is_level, place }
            .weighed()
    }

    pub(super) fn segments(&self, interval: Interval) -> &[Segment] {
        &self.segments[self.all[interval.at()].segments.range()]
    }

    /// All uses of an interval, in order.
    pub(super) fn uses(&self, interval: Interval) -> &[Use] {
        &self.uses.pool[self.all[interval.at()].uses.range()]
    }

    /// All uses of a range, in order.
    pub(super) fn uses_of_range(&self, range: LiveRange) -> &[Use] {
        self.uses.group(range.at())
    }

    /// Whether an interval begins in a loop, in hot code.
    pub(super) fn is_in_loop(&self, interval: Interval) -> bool {
        self.blocks[block_at(&self.blocks, self.segments(interval)[0].start)].cost > 1.0
    }

    /// Whether edges move values of other ranges into an interval, or its value into other ranges.
    pub(super) fn is_moved(&mut self, interval: Interval, tiles: &TileList, ranges: &Ranges) -> bool {
        if self.uses(interval).is_empty() {
            return false;
        }
        if !core::mem::replace(&mut self.is_moved_known, true) {
            self.find_moved(tiles, ranges);
        }
        let range = self.all[interval.at()].range;
        self.uses(interval).iter().any(|touch| self.moved.binary_search(&(range, touch.at)).is_ok())
    }

    fn find_moved(&mut self, tiles: &TileList, ranges: &Ranges) {
        self.moved.clear();
        for block in &tiles.blocks {
            for edge in tiles.edges(block) {
                let to = tiles.block(edge.to);
                let args = tiles.args[edge.args.range()].iter();
                for (arg, param) in core::iter::zip(args, &tiles.args[to.params.range()]) {
                    let (arg, param) = (ranges.of(*arg), ranges.of(*param));
                    if arg != param {
                        self.moved.extend([(arg, block.last().gap()), (param, to.first().gap())]);
                    }
                }
            }
        }
        self.moved.sort_unstable();
    }

    /// Whether an interval begins in cold code. No hot code follows that.
    pub(super) fn is_cold(&self, interval: Interval) -> bool {
        self.segments(interval)[0].start >= self.first_cold
    }

    /// The region in which an interval starts.
    pub(super) fn region(&self, interval: Interval) -> Region {
        let first = self.segments(interval)[0];
        self.blocks[self.block_at(first.start)].region
    }

    /// Whether an interval is only in cold code, and in several regions.
    pub(super) fn is_in_regions(&self, interval: Interval) -> bool {
        let end = |last: &Segment| self.blocks[self.block_at(last.end.prev())].region;
        self.is_cold(interval)
            && self.segments(interval).last().is_some_and(|last| end(last) != self.region(interval))
    }

    /// The block, by position in the tile list, that contains a position.
    pub(super) fn block_at(&self, position: Pos) -> usize {
        block_at(&self.blocks, position)
    }

    /// How often a block runs, relative to other blocks.
    pub(super) fn cost_of_block(&self, block: usize) -> f32 {
        self.blocks[block].cost
    }

    /// Cuts an interval at a position, which is before an instruction and inside the interval. The front keeps the
    /// interval's number; the number of the rest is returned.
    pub(super) fn cut_before(&mut self, interval: Interval, at: Pos) -> Interval {
        debug_assert_eq!(at, at.gap(), "cuts are between instructions");
        let whole = self.all[interval.at()];
        let segments = &self.segments[whole.segments.range()];
        let n_before = segments.iter().take_while(|segment| segment.end <= at).count() as u32;
        let rest_at = whole.segments.start + n_before;
        let mut front = List { start: whole.segments.start, len: n_before };
        let crossed = self.segments[rest_at as usize];
        if crossed.start < at {
            // The rest keeps the place of the segment that is cut in two; the segments of the front are written anew.
            front = List { start: self.segments.len() as u32, len: n_before + 1 };
            self.segments.extend_from_within(whole.segments.start as usize..rest_at as usize);
            self.segments.push(Segment { start: crossed.start, end: at });
            self.segments[rest_at as usize].start = at;
        }
        let uses = &self.uses.pool[whole.uses.range()];
        let uses_before = uses.iter().take_while(|touch| touch.at < at).count() as u32;
        let front_uses = List { start: whole.uses.start, len: uses_before };
        let front = self.measure(whole.range, front, front_uses);
        self.all[interval.at()] = IntervalData { is_level: whole.is_level, place: whole.place, ..front };
        let rest = IntervalData {
            segments: List { start: rest_at, len: whole.segments.len - n_before },
            uses: List { start: whole.uses.start + uses_before, len: whole.uses.len - uses_before },
            n_operands: whole.n_operands - front.n_operands,
            cost: (whole.cost - front.cost).max(0.0),
            length: whole.length - front.length,
            ..whole
        };
        self.all.push(rest.weighed());
        Interval::from(self.all.len() - 1)
    }

    /// Cuts an interval into one for each level that it touches; see [`MAX_LEVELS`]. The first keeps its number, the others
    /// are returned; there may be none.
    pub(super) fn cut_levels(&mut self, interval: Interval) -> NewIntervals {
        let first_new = self.all.len();
        let whole = self.all[interval.at()];
        if whole.is_level {
            return self.new_from(first_new);
        }
        self.all[interval.at()].is_level = true;
        if !self.cut_by(interval, MAX_LEVELS, |block, _| block.level) {
            let uses = self.all[interval.at()].uses;
            let idle = Level::from(self.levels.len() - 1);
            let mut block = 0;
            for touch in &self.uses.pool[uses.range()] {
                block = block_from(&self.blocks, block, touch.at);
                self.wanted[self.blocks[block].level.at()] = interval;
            }
            self.cut_by(interval, usize::MAX, |block, wanted| match wanted[block.level.at()] == interval {
                true => block.level,
                false => idle,
            });
        }
        self.new_from(first_new)
    }

    fn new_from(&self, first: usize) -> NewIntervals {
        (first..self.all.len()).map(Interval::from as fn(usize) -> Interval)
    }

    /// Cuts a cold interval into one for each region that uses it or is in `others`, and one for all remaining regions, for
    /// which [`is_wanted`](Self::is_wanted) is false. The first keeps its number, the others are returned; there may be
    /// none.
    pub(super) fn cut_regions(
        &mut self,
        interval: Interval,
        others: impl Iterator<Item = Region>,
    ) -> NewIntervals {
        let first_new = self.all.len();
        let uses = self.all[interval.at()].uses;
        let mut block = 0;
        for touch in &self.uses.pool[uses.range()] {
            block = block_from(&self.blocks, block, touch.at);
            self.wanted[self.blocks[block].region.at()] = interval;
        }
        others.for_each(|region| self.wanted[region.at()] = interval);
        self.cut_by(interval, usize::MAX, |block, wanted| match wanted[block.region.at()] == interval {
            true => block.region.level(),
            false => Level(0),
        });
        self.new_from(first_new)
    }

    /// Whether a region was wanted when the interval with this number was last cut by regions.
    pub(super) fn is_wanted(&self, region: Region, interval: Interval) -> bool {
        self.wanted[region.at()] == interval
    }

    /// Cuts an interval into one for each level that it touches, the lowest first; returns false if that is more than
    /// `max_levels`.
    fn cut_by(
        &mut self,
        interval: Interval,
        max_levels: usize,
        level: impl Fn(&BlockSpan, &[Interval]) -> Level,
    ) -> bool {
        let whole = self.all[interval.at()];
        self.find_parts(whole.segments, max_levels, &level);
        let is_cut = self.touched.len() <= max_levels;
        if is_cut && self.touched.len() > 1 {
            self.touched.sort_unstable();
            self.find_touches(whole.uses, &level);
            self.write_levels(interval);
        }
        for level in self.touched.drain(..) {
            self.levels[level.at()] = AtLevel::NONE;
        }
        is_cut
    }

    /// Cuts segments where the level changes, and counts the segments of each level. Stops if there are too many levels.
    fn find_parts(
        &mut self,
        segments: List,
        max_levels: usize,
        level: impl Fn(&BlockSpan, &[Interval]) -> Level,
    ) {
        let Intervals { parts, touched, levels, blocks, wanted, .. } = self;
        parts.clear();
        let mut block = 0;
        for segment in &self.segments[segments.range()] {
            let mut start = segment.start;
            block = block_from(blocks, block, start);
            while start < segment.end {
                let (end, level) = (blocks[block].end, level(&blocks[block], wanted));
                let at_level = &mut levels[level.at()];
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

    /// Finds the level of each use, and counts the uses of each level.
    fn find_touches(&mut self, uses: List, level: impl Fn(&BlockSpan, &[Interval]) -> Level) {
        let Intervals { touches, levels, blocks, wanted, .. } = self;
        touches.clear();
        let mut block = 0;
        for touch in &self.uses.pool[uses.range()] {
            block = block_from(blocks, block, touch.at);
            let level = level(&blocks[block], wanted);
            levels[level.at()].n_uses += 1;
            touches.push((level, *touch));
        }
    }

    /// Makes an interval of the parts and uses of each level, in order.
    fn write_levels(&mut self, interval: Interval) {
        let (n_segments, n_uses) = (self.segments.len(), self.uses.pool.len());
        let (mut segments_end, mut uses_end) = (n_segments as u32, n_uses as u32);
        for &level in &self.touched {
            let at_level = &mut self.levels[level.at()];
            (at_level.next_segment, at_level.next_use) = (segments_end, uses_end);
            (segments_end, uses_end) = (segments_end + at_level.n_segments, uses_end + at_level.n_uses);
        }
        self.segments.resize(segments_end as usize, Segment::EMPTY);
        for (level, part) in &self.parts {
            let next = &mut self.levels[level.at()].next_segment;
            self.segments[*next as usize] = *part;
            *next += 1;
        }
        self.uses.pool.resize(uses_end as usize, NO_USE);
        for (level, touch) in &self.touches {
            let next = &mut self.levels[level.at()].next_use;
            self.uses.pool[*next as usize] = *touch;
            *next += 1;
        }
        let range = self.all[interval.at()].range;
        for at in 0..self.touched.len() {
            let AtLevel { n_segments, n_uses, next_segment, next_use, .. } =
                self.levels[self.touched[at].at()];
            let segments = List { start: next_segment - n_segments, len: n_segments };
            let uses = List { start: next_use - n_uses, len: n_uses };
            let new = IntervalData { is_level: true, ..self.measure(range, segments, uses) };
            match at {
                0 => self.all[interval.at()] = new,
                _ => self.all.push(new),
            }
        }
    }
}

/// The new intervals of a cut.
pub(super) type NewIntervals = core::iter::Map<core::ops::Range<usize>, fn(usize) -> Interval>;

/// How many blocks are scanned before a binary search.
const MAX_STEPS: usize = 8;

/// The block that contains a position; it is `first` or a later one.
fn block_from(blocks: &[BlockSpan], first: usize, position: Pos) -> usize {
    let is_before = |block: &BlockSpan| block.end <= position;
    let n_before = blocks[first..].iter().take(MAX_STEPS).take_while(|block| is_before(block)).count();
    match n_before {
        MAX_STEPS => first + MAX_STEPS + blocks[first + MAX_STEPS..].partition_point(is_before),
        n_before => first + n_before,
    }
}

/// The block that contains a position.
fn block_at(blocks: &[BlockSpan], position: Pos) -> usize {
    blocks.partition_point(|block| block.end <= position)
}

/// Reports all uses of virtual registers: which register, in which block (by position), where and how. The uses of one
/// virtual register come in order of position.
fn each_touch(tiles: &TileList, mut tell: impl FnMut(Vreg, usize, Pos, Touch)) {
    for (at, block) in tiles.blocks.iter().enumerate() {
        for param in &tiles.args[block.params.range()] {
            tell(*param, at, block.first().gap(), Touch::Parameter);
        }
        for inst in block.insts() {
            if inst == block.last() {
                for edge in tiles.edges(block) {
                    for arg in &tiles.args[edge.args.range()] {
                        tell(*arg, at, inst.gap(), Touch::Argument);
                    }
                }
            }
            for index in tiles.insts[inst.at()].operands.range() {
                let operand = &tiles.operands[index];
                // A state takes a value from where it is: for that it need not be anywhere.
                if operand.constraint == Constraint::Anywhere {
                    continue;
                }
                tell(operand.vreg, at, position(operand, inst), Touch::Operand(index as u32));
            }
        }
    }
}

/// A position of the instruction at which an operand is certainly live.
fn position(operand: &Operand, inst: InstId) -> Pos {
    match (use_end(operand, inst), operand.role) {
        (Some(end), _) => end.prev(),
        (None, Role::EarlyDef | Role::Temp) => inst.early(),
        (None, _) => inst.late(),
    }
}
