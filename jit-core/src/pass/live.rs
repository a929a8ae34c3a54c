//! Find live ranges, and join those that can share one place.
//!
//! In: a tile list. Out: [`Ranges`]. Needs: each virtual register defined once, and its definition on every way
//! to each use. Cost: the sum of the ranges' lengths in blocks, plus sorting.
//!
//! What is used in its own block alone is live from there to there. Other liveness goes from each use up to the
//! definition, block by block, stopping at blocks seen before; so it is right for loops of any shape, and costs what the
//! result is long. Union-find joins a tied result with the
//! operand it takes over, and block parameters with their arguments, innermost loops first, wherever the two are
//! never live at once. What stays apart is moved. Constants stay apart: they are made again for free.

use crate::ir::grouped::Grouped;
use crate::ir::index::{InstId, List, LiveRange, Vreg, index};
use crate::ir::ranges::{LiveRangeData, Pos, Ranges, Segment};
use crate::ir::tiles::{Constraint, Edge, Operand, Role, TileList};

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By block: its predecessors.
    preds: Grouped<u32>,
    spans: Vec<Span>,
    far: Vec<FarUse>,
    /// By block: the last virtual register found to be live where it starts, and where it ends.
    live_in: Vec<Vreg>,
    live_out: Vec<Vreg>,
    /// By block: where its last use there ends, if it is not live where the block ends.
    ends: Vec<Pos>,
    /// The blocks where it is live, and those whose predecessors are to be visited.
    touched: Vec<u32>,
    open: Vec<u32>,
    found: Vec<Segment>,
    /// For each virtual register one that it is joined to, or itself.
    joined: Vec<Vreg>,
    lists: Lists,
    pairs: Vec<(u16, Vreg, Vreg)>,
}

/// Where a virtual register is defined, and from there to its last use in the same block.
#[derive(Clone, Copy, Debug)]
struct Span {
    block: u32,
    segment: Segment,
    /// The last of its uses in other blocks, in [`Scratch::far`].
    far: u32,
}

/// How many blocks are looked at for each one that is live, before sorting those is quicker.
const MAX_SPARSE: usize = 4;

/// How many segments of a list are shifted for others at once.
const MAX_SHIFTED: usize = 32;

const NONE: u32 = u32::MAX;
const UNDEFINED: Span = Span { block: NONE, segment: Segment::EMPTY, far: NONE };

/// The last use of a virtual register in a block that does not define it.
#[derive(Clone, Copy, Debug)]
struct FarUse {
    block: u32,
    end: Pos,
    /// The one in a block before.
    next: u32,
}

/// Where an operand is read last; `None` if it is a result or scratch.
pub(super) fn use_end(operand: &Operand, inst: InstId) -> Option<Pos> {
    match (operand.role, operand.constraint) {
        // A move before the instruction takes it where it must be.
        (Role::Use | Role::LateUse, Constraint::Fixed(_) | Constraint::OutArg(_)) => Some(inst.early()),
        (Role::Use, _) => Some(inst.late()),
        (Role::LateUse, _) => Some(inst.after()),
        _ => None,
    }
}

/// Finds the live ranges of a function.
pub fn live(scratch: &mut Scratch, tiles: &TileList, out: &mut Ranges) {
    out.clear();
    scratch.find_spans(tiles);
    if !scratch.far.is_empty() {
        find_preds(tiles, &mut scratch.preds);
    }
    scratch.find_segments(tiles);
    scratch.join(tiles);
    scratch.finish(tiles, out);
}

/// Finds the predecessors of each block; all blocks by position.
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
    /// Finds definitions and uses. A block stands behind those that dominate it, so a definition before its uses.
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

    /// Finds where a virtual register is live that is used in other blocks than its own.
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
        // A block stands behind those that dominate it, so the definition's block comes first.
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

    /// Adds a block, behind those added before, to where a virtual register is live.
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

    /// Joins ranges. A tied result that is not joined to its operand must be free where that is read: a move
    /// puts the operand there.
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
        let is_constant = |vreg: Vreg| tiles.constant(vreg).is_some();
        let (data_a, data_b) = (&tiles.vregs[a.at()], &tiles.vregs[b.at()]);
        if is_constant(a) || is_constant(b) || data_a.ty.class() != data_b.ty.class() {
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

/// The one that stands for all that a virtual register is joined to.
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

/// The first segment behind this one that ends behind a position. It is mostly the next; one far away costs the logarithm
/// of how far.
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

/// How many segments of a sorted list end at a position or before.
fn ends_by(list: &[Segment], position: Pos) -> usize {
    match list {
        [first, ..] if first.end > position => 0,
        _ => list.partition_point(|segment| segment.end <= position),
    }
}

/// The segments of each virtual register, all in one pool. Most lists are one run that is sorted and disjoint; one that
/// grows moves to the pool's end, with room to grow again. Where many segments would have to be shifted, what is added
/// becomes a run of its own, as where many cases of a switch bring a value to the same loop's head. A run is at least twice
/// as long as the next one of the same list, so that there are few, and no segment is moved more often than the logarithm
/// of how many there are.
#[derive(Debug, Default)]
struct Lists {
    pool: Vec<Segment>,
    /// The first run of each list, and behind those some more.
    runs: Vec<Run>,
    /// The runs of lists that are being joined, the longest first.
    open: Vec<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    len: u32,
    room: u32,
    /// The next one of the same list, if there is one.
    next: RunId,
}

index! {
    /// A run of segments. The first ones are those that lists begin with, and are numbered like them.
    RunId, "run"
}

impl RunId {
    fn of(list: Vreg) -> RunId {
        RunId(list.0)
    }
}

impl Run {
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

    fn append(&mut self, list: &[Segment]) -> Run {
        let List { start, len } = List::push(&mut self.pool, list);
        Run { start, len, room: len, next: RunId::NONE }
    }

    /// The length of a list's longest run.
    fn len(&self, list: Vreg) -> u32 {
        self.runs[list.at()].len
    }

    fn each(&self, list: Vreg) -> impl Iterator<Item = &[Segment]> {
        let first = self.runs.get(list.at());
        let next = |last: &&Run| self.runs.get(last.next.at());
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
        // The last run of the one list goes on with the first of the other.
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
        let Run { next, .. } = self.runs[to.at()];
        self.runs.push(Run { next, ..new });
        self.runs[to.at()].next = RunId::from(self.runs.len() - 1);
        self.balance(to);
    }

    /// Adds a run to the longest one of a list, if few segments are shifted for it.
    fn add_in_place(&mut self, given: Run, to: Vreg) -> bool {
        let Run { start, len, room, next } = self.runs[to.at()];
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
            self.runs[to.at()] = Run { start: kept as u32, len, room, next };
        }
        // The two places are apart.
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

    /// Makes these the runs of a list that had as many or more.
    fn write(&mut self, list: Vreg, runs: &[Run]) {
        let mut at = RunId::of(list);
        for (index, run) in runs.iter().enumerate() {
            let next = if index + 1 < runs.len() { self.runs[at.at()].next } else { RunId::NONE };
            let place = core::mem::replace(&mut self.runs[at.at()], Run { next, ..*run });
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
    fn merge(&mut self, a: Run, b: Run) -> Run {
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
        Run { start: start as u32, len, room: len, next: RunId::NONE }
    }
}

/// Merges a sorted list into the first `len` segments of another, behind which there is room; joins those that touch
/// and gives how many there are. Those before `tail` are not touched.
fn merge(kept: &mut [Segment], len: usize, tail: usize, given: &[Segment]) -> usize {
    // From behind, so that nothing is overwritten that is still needed.
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
