//! Find live ranges, and join those that can share a place.
//!
//! In: a tile list. Out: [`Ranges`]. Needs: each virtual register has one definition, which dominates its uses. Cost: the
//! sum of the ranges' lengths in blocks, plus sorting.
//!
//! A virtual register that is used only in its own block is live from its definition to its last use. Otherwise liveness is
//! propagated from each use backwards to the definition, block by block, stopping at blocks already visited; this is right
//! for loops of any shape, and costs no more than the length of the result. Union-find joins a tied result with its
//! operand, and block parameters with their arguments, innermost loops first, if the two are never live at once. Values
//! that are not joined need moves. Constants are never joined: they are rematerialized for free.

use crate::ir::grouped::Grouped;
use crate::ir::index::{InstId, List, LiveRange, Vreg, index};
use crate::ir::ranges::{LiveRangeData, Pos, Ranges, Segment};
use crate::ir::tiles::{Constraint, Edge, Operand, Role, TileList};
use crate::target::RegSet;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The predecessors of each block.
    preds: Grouped<u32>,
    spans: Vec<Span>,
    far: Vec<FarUse>,
    /// By block: the last virtual register found to be live-in, and the last found to be live-out.
    live_in: Vec<Vreg>,
    live_out: Vec<Vreg>,
    /// By block: the end of the virtual register's last use there, if it is not live-out.
    ends: Vec<Pos>,
    /// The blocks in which it is live, and those whose predecessors are still to be visited.
    touched: Vec<u32>,
    open: Vec<u32>,
    found: Vec<Segment>,
    /// Union-find: for each virtual register another one that it is joined to, or itself.
    joined: Vec<Vreg>,
    /// The virtual registers of values that stay in registers of their own.
    kept: Vec<Vreg>,
    lists: Lists,
    pairs: Vec<(u16, Vreg, Vreg)>,
}

/// The live range of a virtual register within its defining block, from the definition to the last use there.
#[derive(Clone, Copy, Debug)]
struct Span {
    block: u32,
    segment: Segment,
    /// Index in [`Scratch::far`] of the last of its uses in other blocks; the head of a linked list.
    far: u32,
}

/// Up to this ratio of blocks scanned to live blocks, a scan is quicker than sorting the live ones.
const MAX_SPARSE: usize = 4;

/// How many segments of a list may be shifted by one insertion.
const MAX_SHIFTED: usize = 32;

const NONE: u32 = u32::MAX;
const UNDEFINED: Span = Span { block: NONE, segment: Segment::EMPTY, far: NONE };

/// The last use of a virtual register in a block that does not define it.
#[derive(Clone, Copy, Debug)]
struct FarUse {
    block: u32,
    end: Pos,
    /// The next use of the list, which is in an earlier block.
    next: u32,
}

/// The end of an operand's use; `None` if it is a result or scratch.
pub(super) fn use_end(operand: &Operand, inst: InstId) -> Option<Pos> {
    match (operand.role, operand.constraint) {
        // A move before the instruction puts it into its place.
        (Role::Use | Role::LateUse, Constraint::Fixed(_) | Constraint::OutArg(_)) => Some(inst.early()),
        (Role::Use, _) => Some(inst.late()),
        (Role::LateUse, _) => Some(inst.after()),
        _ => None,
    }
}

/// Finds the live ranges of a function. The values in the `kept` registers have ranges of their own.
pub fn live(scratch: &mut Scratch, tiles: &TileList, kept: RegSet, out: &mut Ranges) {
    out.clear();
    scratch.find_spans(tiles);
    if !scratch.far.is_empty() {
        find_preds(tiles, &mut scratch.preds);
    }
    scratch.find_segments(tiles);
    scratch.find_kept(tiles, kept);
    scratch.join(tiles);
    scratch.finish(tiles, out);
}

/// Finds the predecessors of each block; blocks are named by position.
pub(super) fn find_preds(tiles: &TileList, preds: &mut Grouped<u32>) {
    let position = |edge: &Edge| tiles.position[edge.to.at()] as usize;
    preds.start(tiles.blocks.len());
    tiles.edges.iter().for_each(|edge| preds.count(position(edge)));
    preds.make_room(0);
    for (at, block) in tiles.blocks.iter().enumerate() {
        tiles.edges(block).iter().for_each(|edge| preds.add(position(edge), at as u32));
    }
    preds.finish();
}

impl Scratch {
    /// Finds the values that are in `kept` registers.
    fn find_kept(&mut self, tiles: &TileList, kept: RegSet) {
        self.kept.clear();
        if kept.is_empty() {
            return;
        }
        for operand in &tiles.operands {
            if matches!(operand.constraint, Constraint::Fixed(reg) if kept.contains(reg)) {
                self.kept.push(operand.vreg);
            }
        }
    }

    /// Finds definitions and uses. A block comes after its dominators, so a definition comes before its uses.
    fn find_spans(&mut self, tiles: &TileList) {
        self.spans.clear();
        self.spans.resize(tiles.vregs.len(), UNDEFINED);
        self.far.clear();
        for (at, block) in tiles.blocks.iter().enumerate() {
            let at = at as u32;
            for param in &tiles.args[block.params.range()] {
                let segment = Segment { start: block.first().gap(), end: block.first().early() };
                self.spans[param.at()] = Span { block: at, segment, far: NONE };
            }
            for inst in block.insts() {
                for operand in tiles.operands(inst.at()) {
                    if let Some(end) = use_end(operand, inst) {
                        self.add_use(operand.vreg, at, end);
                        continue;
                    }
                    let (start, end) = match operand.role {
                        Role::Def => (inst.late(), inst.end()),
                        Role::EarlyDef => (inst.early(), inst.end()),
                        _ => (inst.early(), inst.after()),
                    };
                    let segment = Segment { start, end };
                    self.spans[operand.vreg.at()] = Span { block: at, segment, far: NONE };
                }
            }
            for edge in tiles.edges(block) {
                for arg in &tiles.args[edge.args.range()] {
                    self.add_use(*arg, at, block.last().early());
                }
            }
        }
    }

    fn add_use(&mut self, vreg: Vreg, block: u32, end: Pos) {
        let span = &mut self.spans[vreg.at()];
        debug_assert_ne!(span.block, NONE, "{vreg} is used in front of its definition");
        if span.block == block {
            span.segment.end = span.segment.end.max(end);
            return;
        }
        if let Some(last) = self.far.get_mut(span.far as usize)
            && last.block == block
        {
            last.end = last.end.max(end);
            return;
        }
        self.far.push(FarUse { block, end, next: span.far });
        span.far = self.far.len() as u32 - 1;
    }

    fn find_segments(&mut self, tiles: &TileList) {
        self.lists.clear();
        for marks in [&mut self.live_in, &mut self.live_out] {
            marks.clear();
            marks.resize(tiles.blocks.len(), Vreg::NONE);
        }
        self.ends.resize(tiles.blocks.len(), Pos::START);
        for vreg in 0..tiles.vregs.len() {
            let span = self.spans[vreg];
            if span.block == NONE {
                self.lists.add(&[]);
            } else if span.far == NONE {
                self.lists.add(&[span.segment]);
            } else {
                self.find_blocks(tiles, Vreg::from(vreg), span);
                self.lists.add(&self.found);
            }
        }
    }

    /// Finds the segments of a virtual register that is used in other blocks than its own.
    fn find_blocks(&mut self, tiles: &TileList, vreg: Vreg, span: Span) {
        self.touched.clear();
        self.touched.push(span.block);
        let mut last = span.block;
        self.live_in[span.block as usize] = vreg;
        self.ends[span.block as usize] = span.segment.end;
        let mut at = span.far;
        while let Some(&FarUse { block, end, next }) = self.far.get(at as usize) {
            at = next;
            if core::mem::replace(&mut self.live_in[block as usize], vreg) == vreg {
                continue;
            }
            self.ends[block as usize] = end;
            self.touched.push(block);
            last = last.max(block);
            let mut open = Some(block);
            while let Some(block) = open {
                for &pred in self.preds.group(block as usize) {
                    if core::mem::replace(&mut self.live_out[pred as usize], vreg) == vreg {
                        continue;
                    }
                    if core::mem::replace(&mut self.live_in[pred as usize], vreg) != vreg {
                        self.touched.push(pred);
                        last = last.max(pred);
                        self.open.push(pred);
                    }
                }
                open = self.open.pop();
            }
        }
        self.found.clear();
        // A block comes after its dominators, so the definition's block comes first.
        let first = span.block;
        if ((last - first) as usize) < self.touched.len() * MAX_SPARSE {
            for block in first..=last {
                if self.live_in[block as usize] == vreg {
                    self.add_block(tiles, vreg, block, span);
                }
            }
        } else {
            self.touched.sort_unstable();
            for at in 0..self.touched.len() {
                self.add_block(tiles, vreg, self.touched[at], span);
            }
        }
    }

    /// Adds a block to the segments of a virtual register; blocks are added in order.
    fn add_block(&mut self, tiles: &TileList, vreg: Vreg, block: u32, span: Span) {
        let data = &tiles.blocks[block as usize];
        let start = if block == span.block { span.segment.start } else { data.first().gap() };
        let is_live_out = self.live_out[block as usize] == vreg;
        let end = if is_live_out { data.last().end() } else { self.ends[block as usize] };
        match self.found.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.found.push(Segment { start, end }),
        }
    }

    /// Joins ranges. A tied result that is not joined to its operand must be free where the operand is read, because a move
    /// puts the operand into the result's place.
    fn join(&mut self, tiles: &TileList) {
        self.joined.clear();
        self.joined.extend((0..tiles.vregs.len()).map(Vreg::from));
        for (inst, data) in tiles.insts.iter().enumerate() {
            let operands = &tiles.operands[data.operands.range()];
            for operand in operands {
                let Constraint::Tied(to) = operand.constraint else { continue };
                if !self.try_join(tiles, operand.vreg, operands[to as usize].vreg) {
                    let (list, inst) = (find(&mut self.joined, operand.vreg), InstId::from(inst));
                    self.lists.insert(list, Segment { start: inst.early(), end: inst.end() });
                }
            }
        }
        self.pairs.clear();
        for block in &tiles.blocks {
            for edge in tiles.edges(block).iter().filter(|edge| edge.args.len > 0) {
                let to = tiles.block(edge.to);
                let depth = tiles.depth(tiles.loop_around(block.inner, to.inner));
                let args = tiles.args[edge.args.range()].iter();
                let params = tiles.args[to.params.range()].iter();
                self.pairs.extend(core::iter::zip(args, params).map(|(arg, param)| (depth, *arg, *param)));
            }
        }
        if !tiles.loops.is_empty() {
            self.pairs.sort_by_key(|(depth, ..)| core::cmp::Reverse(*depth));
        }
        for at in 0..self.pairs.len() {
            let (_, arg, param) = self.pairs[at];
            self.try_join(tiles, param, arg);
        }
    }

    fn try_join(&mut self, tiles: &TileList, a: Vreg, b: Vreg) -> bool {
        // Constants are made again, and what is kept in a register of its own never leaves it.
        let is_alone = |vreg: Vreg| tiles.constant(vreg).is_some() || self.kept.contains(&vreg);
        let (data_a, data_b) = (&tiles.vregs[a.at()], &tiles.vregs[b.at()]);
        if is_alone(a) || is_alone(b) || data_a.ty.class() != data_b.ty.class() {
            return false;
        }
        let (a, b) = (find(&mut self.joined, a), find(&mut self.joined, b));
        if a == b {
            return true;
        }
        if self.lists.intersect(a, b) {
            return false;
        }
        let (keep, give) = if self.lists.len(a) >= self.lists.len(b) { (a, b) } else { (b, a) };
        self.lists.give(give, keep);
        self.joined[give.at()] = keep;
        true
    }

    fn finish(&mut self, tiles: &TileList, out: &mut Ranges) {
        let n_vregs = tiles.vregs.len();
        out.of.resize(n_vregs, LiveRange::NONE);
        for vreg in 0..n_vregs {
            let root = find(&mut self.joined, Vreg::from(vreg));
            if out.of[root.at()] == LiveRange::NONE {
                out.of[root.at()] = LiveRange::from(out.ranges.len());
                let segments = List::push(&mut out.segments, self.lists.whole(root));
                let class = tiles.vregs[root.at()].ty.class();
                out.ranges.push(LiveRangeData { segments, vreg: root, class, hint: None });
            }
            out.of[vreg] = out.of[root.at()];
        }
        for operand in &tiles.operands {
            if let Constraint::Fixed(reg) = operand.constraint {
                out.ranges[out.of[operand.vreg.at()].at()].hint.get_or_insert(reg);
            }
        }
    }
}

/// The representative of all virtual registers joined to this one.
fn find(joined: &mut [Vreg], vreg: Vreg) -> Vreg {
    let mut at = vreg;
    while joined[at.at()] != at {
        joined[at.at()] = joined[joined[at.at()].at()];
        at = joined[at.at()];
    }
    at
}

/// Whether two sorted lists have a position in common.
pub(super) fn intersect(a: &[Segment], b: &[Segment]) -> bool {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return false };
    let (mut at_a, mut at_b) = (ends_by(a, first_b.start), ends_by(b, first_a.start));
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        if x.end <= y.start {
            at_a = skip(a, at_a, y.start);
        } else if y.end <= x.start {
            at_b = skip(b, at_b, x.start);
        } else {
            return true;
        }
    }
    false
}

/// The first segment after `at` that ends after a position. It is mostly the next one; a distant one costs the logarithm of
/// the distance.
#[inline(always)]
fn skip(list: &[Segment], at: usize, position: Pos) -> usize {
    match list.get(at + 1) {
        Some(next) if next.end <= position => skip_far(list, at + 1, position),
        _ => at + 1,
    }
}

#[inline(never)]
fn skip_far(list: &[Segment], at: usize, position: Pos) -> usize {
    let (mut near, mut step) = (at + 1, 1);
    while list.get(near + step).is_some_and(|segment| segment.end <= position) {
        near += step + 1;
        step *= 2;
    }
    let end = list.len().min(near + step);
    near += list[near.min(end)..end].partition_point(|segment| segment.end <= position);
    near
}

/// How many segments of a sorted list end at or before a position.
fn ends_by(list: &[Segment], position: Pos) -> usize {
    match list {
        [first, ..] if first.end > position => 0,
        _ => list.partition_point(|segment| segment.end <= position),
    }
}

/// The segments of each virtual register, all in one pool. Most lists are one run that is sorted and disjoint. A list that
/// grows moves to the pool's end, with room to grow again. Where an insertion would shift many segments, the new segments
/// become a run of their own; this happens where many cases of a switch bring a value to the same loop's head. A run is at
/// least twice as long as the next one of the same list. So a list has few runs, and the number of times that a segment is
/// moved is at most logarithmic in the number of segments.
#[derive(Debug, Default)]
struct Lists {
    pool: Vec<Segment>,
    /// The first run of each list, followed by the further runs of all lists.
    runs: Vec<SegmentRun>,
    /// The runs of the list that is being balanced, the longest first.
    open: Vec<SegmentRun>,
}

#[derive(Clone, Copy, Debug)]
struct SegmentRun {
    start: u32,
    len: u32,
    room: u32,
    /// The next run of the same list.
    next: RunId,
}

index! {
    /// A run of segments. The first run of a list has the list's number.
    RunId, "run"
}

impl RunId {
    fn of(list: Vreg) -> RunId {
        RunId(list.0)
    }
}

impl SegmentRun {
    fn range(self) -> core::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

impl Lists {
    fn clear(&mut self) {
        self.pool.clear();
        self.runs.clear();
    }

    fn add(&mut self, list: &[Segment]) {
        let run = self.append(list);
        self.runs.push(run);
    }

    fn append(&mut self, list: &[Segment]) -> SegmentRun {
        let List { start, len } = List::push(&mut self.pool, list);
        SegmentRun { start, len, room: len, next: RunId::NONE }
    }

    /// The length of a list's longest run.
    fn len(&self, list: Vreg) -> u32 {
        self.runs[list.at()].len
    }

    fn each(&self, list: Vreg) -> impl Iterator<Item = &[Segment]> {
        let first = self.runs.get(list.at());
        let next = |last: &&SegmentRun| self.runs.get(last.next.at());
        core::iter::successors(first, next).map(|run| &self.pool[run.range()])
    }

    /// Whether two lists have a position in common.
    fn intersect(&self, a: Vreg, b: Vreg) -> bool {
        self.each(a).any(|a| self.each(b).any(|b| intersect(a, b)))
    }

    /// Moves all segments of a list to another.
    fn give(&mut self, from: Vreg, to: Vreg) {
        let given = self.runs[from.at()];
        if given.len == 0 || given.next == RunId::NONE && self.add_in_place(given, to) {
            return;
        }
        // Append the runs of `from` to those of `to`.
        let mut last = RunId::of(to);
        while self.runs[last.at()].next.is_some() {
            last = self.runs[last.at()].next;
        }
        self.runs[last.at()].next = RunId::of(from);
        self.balance(to);
    }

    /// Adds a segment to a list.
    fn insert(&mut self, to: Vreg, segment: Segment) {
        let new = self.append(&[segment]);
        if self.add_in_place(new, to) {
            return;
        }
        let SegmentRun { next, .. } = self.runs[to.at()];
        self.runs.push(SegmentRun { next, ..new });
        self.runs[to.at()].next = RunId::from(self.runs.len() - 1);
        self.balance(to);
    }

    /// Merges a run into the longest run of a list, if that shifts few segments; returns whether it did.
    fn add_in_place(&mut self, given: SegmentRun, to: Vreg) -> bool {
        let SegmentRun { start, len, room, next } = self.runs[to.at()];
        let first = self.pool[given.start as usize].start;
        let kept = &self.pool[start as usize..(start + len) as usize];
        let tail = kept.partition_point(|segment| segment.end < first);
        if kept.len() - tail > MAX_SHIFTED {
            return false;
        }
        let mut kept = start as usize;
        if len + given.len > room {
            kept = self.pool.len();
            let room = (len + given.len).next_power_of_two();
            self.pool.extend_from_within(start as usize..(start + len) as usize);
            self.pool.resize(kept + room as usize, Segment::EMPTY);
            self.runs[to.at()] = SegmentRun { start: kept as u32, len, room, next };
        }
        // The two ranges do not overlap.
        let given = given.range();
        let (low, high) = self.pool.split_at_mut(given.start.max(kept));
        let (given, kept) = match given.start < kept {
            true => (&low[given], high),
            false => (&high[..given.len()], &mut low[kept..]),
        };
        self.runs[to.at()].len = merge(kept, len as usize, tail, given) as u32;
        true
    }

    /// Merges runs of a list until each is at least twice as long as the next.
    fn balance(&mut self, list: Vreg) {
        let mut open = core::mem::take(&mut self.open);
        open.clear();
        let mut at = RunId::of(list);
        while let Some(&run) = self.runs.get(at.at()) {
            at = run.next;
            let longer = open.partition_point(|other| other.len >= run.len);
            open.insert(longer, run);
        }
        while let Some(pair) = open.windows(2).rposition(|pair| pair[0].len < 2 * pair[1].len) {
            let merged = self.merge(open[pair], open[pair + 1]);
            open.drain(pair..pair + 2);
            let longer = open.partition_point(|other| other.len >= merged.len);
            open.insert(longer, merged);
        }
        self.write(list, &open);
        self.open = open;
    }

    /// Replaces the runs of a list; there are no more of them than before.
    fn write(&mut self, list: Vreg, runs: &[SegmentRun]) {
        let mut at = RunId::of(list);
        for (index, run) in runs.iter().enumerate() {
            let next = if index + 1 < runs.len() { self.runs[at.at()].next } else { RunId::NONE };
            let place = core::mem::replace(&mut self.runs[at.at()], SegmentRun { next, ..*run });
            at = place.next;
        }
    }

    /// All segments of a list as one run.
    fn whole(&mut self, list: Vreg) -> &[Segment] {
        let mut whole = self.runs[list.at()];
        let mut at = whole.next;
        while let Some(&run) = self.runs.get(at.at()) {
            at = run.next;
            whole = self.merge(whole, run);
        }
        &self.pool[whole.range()]
    }

    /// Merges two runs, and joins segments that touch.
    fn merge(&mut self, a: SegmentRun, b: SegmentRun) -> SegmentRun {
        let start = self.pool.len();
        self.pool.reserve((a.len + b.len) as usize);
        let (mut a, mut b) = (a.range(), b.range());
        while !a.is_empty() || !b.is_empty() {
            let is_a = b.is_empty() || !a.is_empty() && self.pool[a.start].start <= self.pool[b.start].start;
            let from = if is_a { &mut a } else { &mut b };
            let segment = self.pool[from.start];
            from.start += 1;
            match self.pool[start..].last_mut() {
                Some(last) if segment.start <= last.end => last.end = last.end.max(segment.end),
                _ => self.pool.push(segment),
            }
        }
        let len = (self.pool.len() - start) as u32;
        SegmentRun { start: start as u32, len, room: len, next: RunId::NONE }
    }
}

/// Merges a sorted list into the first `len` segments of another, which has room after them. Joins segments that touch, and
/// returns how many there are. The segments before `tail` stay as they are.
fn merge(kept: &mut [Segment], len: usize, tail: usize, given: &[Segment]) -> usize {
    // From the back, so that no segment is overwritten before it is moved.
    let (mut left, mut right, mut to) = (len, given.len(), len + given.len());
    while right > 0 {
        to -= 1;
        if left > tail && kept[left - 1].start > given[right - 1].start {
            left -= 1;
            kept[to] = kept[left];
        } else {
            right -= 1;
            kept[to] = given[right];
        }
    }
    let mut last = tail;
    for at in tail + 1..len + given.len() {
        if kept[at].start <= kept[last].end {
            kept[last].end = kept[last].end.max(kept[at].end);
        } else {
            last += 1;
            kept[last] = kept[at];
        }
    }
    last + 1
}
