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

use crate::ir::index::{List, Vreg};
use crate::ir::ranges::{AFTER, EARLY, GAP, LATE, Range, Ranges, STEP, Segment};
use crate::ir::tiles::{Constraint, Operand, Remat, Role, TileList};

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    preds: Vec<u32>,
    first_pred: Vec<u32>,
    spans: Vec<Span>,
    far: Vec<FarUse>,
    /// By block: the last virtual register found to be live where it starts, and where it ends.
    live_in: Vec<u32>,
    live_out: Vec<u32>,
    /// By block: where its last use there ends, if it is not live where the block ends.
    ends: Vec<u32>,
    /// The blocks where it is live, and those whose predecessors are to be visited.
    touched: Vec<u32>,
    open: Vec<u32>,
    found: Vec<Segment>,
    joined: Vec<u32>,
    lists: Lists,
    pairs: Vec<(u16, Vreg, Vreg)>,
}

/// Where a virtual register is defined, and from there to its last use in the same block.
#[derive(Clone, Copy, Debug)]
struct Span {
    block: u32,
    start: u32,
    end: u32,
    /// The last of its uses in other blocks, in [`Scratch::far`].
    far: u32,
}

/// How many blocks are looked at for each one that is live, before sorting those is quicker.
const MAX_SPARSE: usize = 4;

const NONE: u32 = u32::MAX;
const UNDEFINED: Span = Span { block: NONE, start: 0, end: 0, far: NONE };

/// The last use of a virtual register in a block that does not define it.
#[derive(Clone, Copy, Debug)]
struct FarUse {
    block: u32,
    end: u32,
    /// The one in a block before.
    next: u32,
}

/// Where an operand is read last; `None` if it is a result or scratch.
pub(super) fn use_end(operand: &Operand, inst: u32) -> Option<u32> {
    let base = inst * STEP;
    match (operand.role, operand.constraint) {
        // A move before the instruction takes it where it must be.
        (Role::Use | Role::LateUse, Constraint::Fixed(_) | Constraint::OutArg(_)) => Some(base + EARLY),
        (Role::Use, _) => Some(base + LATE),
        (Role::LateUse, _) => Some(base + AFTER),
        _ => None,
    }
}

/// Finds the live ranges of a function.
pub fn live(scratch: &mut Scratch, tiles: &TileList, out: &mut Ranges) {
    out.clear();
    scratch.find_spans(tiles);
    if !scratch.far.is_empty() {
        scratch.find_preds(tiles);
    }
    scratch.find_segments(tiles);
    scratch.join(tiles);
    scratch.finish(tiles, out);
}

impl Scratch {
    /// Predecessors by block position.
    fn find_preds(&mut self, tiles: &TileList) {
        let n_blocks = tiles.blocks.len();
        let first_pred = &mut self.first_pred;
        first_pred.clear();
        first_pred.resize(n_blocks + 1, 0);
        for edge in &tiles.edges {
            first_pred[tiles.position[edge.to.at()] as usize + 1] += 1;
        }
        for at in 0..n_blocks {
            first_pred[at + 1] += first_pred[at];
        }
        self.preds.clear();
        self.preds.resize(first_pred[n_blocks] as usize, 0);
        // Each entry is where the next one goes, and so in the end where the next block's start.
        for (at, block) in tiles.blocks.iter().enumerate() {
            for edge in tiles.edges(block) {
                let next = &mut first_pred[tiles.position[edge.to.at()] as usize];
                self.preds[*next as usize] = at as u32;
                *next += 1;
            }
        }
        first_pred.rotate_right(1);
        first_pred[0] = 0;
    }

    /// Finds definitions and uses. A block stands behind those that dominate it, so a definition before its uses.
    fn find_spans(&mut self, tiles: &TileList) {
        self.spans.clear();
        self.spans.resize(tiles.vregs.len(), UNDEFINED);
        self.far.clear();
        for (at, block) in tiles.blocks.iter().enumerate() {
            let at = at as u32;
            let start = block.insts.start * STEP;
            for param in &tiles.args[block.params.range()] {
                self.spans[param.at()] = Span { block: at, start, end: start + EARLY, far: NONE };
            }
            for inst in block.insts.range() {
                let base = inst as u32 * STEP;
                for operand in tiles.operands(inst) {
                    if let Some(end) = use_end(operand, inst as u32) {
                        self.add_use(operand.vreg, at, end);
                        continue;
                    }
                    let (start, end) = match operand.role {
                        Role::Def => (base + LATE, base + STEP),
                        Role::EarlyDef => (base + EARLY, base + STEP),
                        _ => (base + EARLY, base + AFTER),
                    };
                    self.spans[operand.vreg.at()] = Span { block: at, start, end, far: NONE };
                }
            }
            let last = block.insts.start + block.insts.len - 1;
            for edge in tiles.edges(block) {
                for arg in &tiles.args[edge.args.range()] {
                    self.add_use(*arg, at, last * STEP + GAP + 1);
                }
            }
        }
    }

    fn add_use(&mut self, vreg: Vreg, block: u32, end: u32) {
        let span = &mut self.spans[vreg.at()];
        debug_assert_ne!(span.block, NONE, "{vreg} is used in front of its definition");
        if span.block == block {
            span.end = span.end.max(end);
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
            marks.resize(tiles.blocks.len(), NONE);
        }
        self.ends.resize(tiles.blocks.len(), 0);
        for vreg in 0..tiles.vregs.len() {
            let span = self.spans[vreg];
            if span.block == NONE {
                self.lists.add(&[]);
            } else if span.far == NONE {
                self.lists.add(&[Segment { start: span.start, end: span.end }]);
            } else {
                self.find_blocks(tiles, vreg as u32, span);
                self.lists.add(&self.found);
            }
        }
    }

    /// Finds where a virtual register is live that is used in other blocks than its own.
    fn find_blocks(&mut self, tiles: &TileList, vreg: u32, span: Span) {
        self.touched.clear();
        self.touched.push(span.block);
        self.live_in[span.block as usize] = vreg;
        self.ends[span.block as usize] = span.end;
        let mut at = span.far;
        while let Some(&FarUse { block, end, next }) = self.far.get(at as usize) {
            at = next;
            if core::mem::replace(&mut self.live_in[block as usize], vreg) == vreg {
                continue;
            }
            self.ends[block as usize] = end;
            self.touched.push(block);
            self.open.push(block);
            while let Some(block) = self.open.pop() {
                let preds = self.first_pred[block as usize]..self.first_pred[block as usize + 1];
                for &pred in &self.preds[preds.start as usize..preds.end as usize] {
                    if core::mem::replace(&mut self.live_out[pred as usize], vreg) == vreg {
                        continue;
                    }
                    if core::mem::replace(&mut self.live_in[pred as usize], vreg) != vreg {
                        self.touched.push(pred);
                        self.open.push(pred);
                    }
                }
            }
        }
        self.found.clear();
        // A block stands behind those that dominate it, so the definition's block comes first.
        let first = span.block;
        let last = *self.touched.iter().max().expect("there is the definition's block");
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
    fn add_block(&mut self, tiles: &TileList, vreg: u32, block: u32, span: Span) {
        let insts = tiles.blocks[block as usize].insts;
        let start = if block == span.block { span.start } else { insts.start * STEP };
        let is_live_out = self.live_out[block as usize] == vreg;
        let end = if is_live_out { (insts.start + insts.len) * STEP } else { self.ends[block as usize] };
        match self.found.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.found.push(Segment { start, end }),
        }
    }

    /// Joins ranges. A tied result that is not joined to its operand must be free where that is read: a move
    /// puts the operand there.
    fn join(&mut self, tiles: &TileList) {
        self.joined.clear();
        self.joined.extend(0..tiles.vregs.len() as u32);
        for (inst, data) in tiles.insts.iter().enumerate() {
            let operands = &tiles.operands[data.operands.range()];
            for operand in operands {
                let Constraint::Tied(to) = operand.constraint else { continue };
                if !self.try_join(tiles, operand.vreg, operands[to as usize].vreg) {
                    let base = inst as u32 * STEP;
                    let list = find(&mut self.joined, operand.vreg);
                    self.lists.merge(list, &[Segment { start: base + EARLY, end: base + STEP }]);
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
        let is_constant = |vreg: Vreg| tiles.vregs[vreg.at()].remat != Remat::No;
        let (data_a, data_b) = (&tiles.vregs[a.at()], &tiles.vregs[b.at()]);
        if is_constant(a) || is_constant(b) || data_a.ty.class() != data_b.ty.class() {
            return false;
        }
        let (a, b) = (find(&mut self.joined, a), find(&mut self.joined, b));
        if a == b {
            return true;
        }
        if intersect(self.lists.get(a), self.lists.get(b)) {
            return false;
        }
        let (keep, give) = if self.lists.get(a).len() >= self.lists.get(b).len() { (a, b) } else { (b, a) };
        self.lists.give(give, keep);
        self.joined[give as usize] = keep;
        true
    }

    fn finish(&mut self, tiles: &TileList, out: &mut Ranges) {
        let n_vregs = tiles.vregs.len();
        out.of.resize(n_vregs, NONE);
        for vreg in 0..n_vregs {
            let root = find(&mut self.joined, Vreg::from(vreg)) as usize;
            if out.of[root] == NONE {
                out.of[root] = out.ranges.len() as u32;
                let segments = List::push(&mut out.segments, self.lists.get(root as u32));
                let (vreg, class) = (Vreg::from(root), tiles.vregs[root].ty.class());
                out.ranges.push(Range { segments, vreg, class, hint: None });
            }
            out.of[vreg] = out.of[root];
        }
        for operand in &tiles.operands {
            if let Constraint::Fixed(reg) = operand.constraint {
                out.ranges[out.of[operand.vreg.at()] as usize].hint.get_or_insert(reg);
            }
        }
    }
}

fn find(joined: &mut [u32], vreg: Vreg) -> u32 {
    let mut at = vreg.0;
    while joined[at as usize] != at {
        joined[at as usize] = joined[joined[at as usize] as usize];
        at = joined[at as usize];
    }
    at
}

/// Whether two sorted lists have a position in common.
pub(super) fn intersect(a: &[Segment], b: &[Segment]) -> bool {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return false };
    let (mut at_a, mut at_b) = (ends_by(a, first_b.start), ends_by(b, first_a.start));
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        if x.end <= y.start {
            at_a += 1;
        } else if y.end <= x.start {
            at_b += 1;
        } else {
            return true;
        }
    }
    false
}

/// How many segments of a sorted list end at a position or before.
fn ends_by(list: &[Segment], position: u32) -> usize {
    match list {
        [first, ..] if first.end > position => 0,
        _ => list.partition_point(|segment| segment.end <= position),
    }
}

/// A sorted list of disjoint segments for each virtual register, all in one pool. A list that grows moves to the pool's
/// end, with room to grow again.
#[derive(Debug, Default)]
struct Lists {
    pool: Vec<Segment>,
    lists: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    len: u32,
    room: u32,
}

impl Lists {
    fn clear(&mut self) {
        self.pool.clear();
        self.lists.clear();
    }

    fn add(&mut self, list: &[Segment]) {
        let (start, len) = (self.pool.len() as u32, list.len() as u32);
        self.pool.extend_from_slice(list);
        self.lists.push(Place { start, len, room: len });
    }

    fn get(&self, list: u32) -> &[Segment] {
        let Place { start, len, .. } = self.lists[list as usize];
        &self.pool[start as usize..(start + len) as usize]
    }

    /// Moves all segments of a list to another.
    fn give(&mut self, from: u32, to: u32) {
        let Place { start, len, .. } = self.lists[from as usize];
        self.make_room(to, len);
        let (given, kept) = (start as usize, self.lists[to as usize].start as usize);
        // The two places are apart.
        let (low, high) = self.pool.split_at_mut(given.max(kept));
        let (given, kept) = if given < kept { (&low[given..], high) } else { (&*high, &mut low[kept..]) };
        let all = merge(kept, self.lists[to as usize].len as usize, &given[..len as usize]);
        self.lists[to as usize].len = all as u32;
        self.lists[from as usize].len = 0;
    }

    /// Adds segments to a list.
    fn merge(&mut self, to: u32, given: &[Segment]) {
        self.make_room(to, given.len() as u32);
        let Place { start, len, .. } = self.lists[to as usize];
        self.lists[to as usize].len = merge(&mut self.pool[start as usize..], len as usize, given) as u32;
    }

    fn make_room(&mut self, list: u32, more: u32) {
        let Place { start, len, room } = self.lists[list as usize];
        if len + more <= room {
            return;
        }
        let new = self.pool.len();
        let room = (len + more).next_power_of_two();
        self.pool.extend_from_within(start as usize..(start + len) as usize);
        self.pool.resize(new + room as usize, Segment { start: 0, end: 0 });
        self.lists[list as usize] = Place { start: new as u32, len, room };
    }
}

/// Merges a sorted list into the first `len` segments of another, behind which there is room; joins those that touch
/// and gives how many there are. Costs what is given, and what stands behind the first of it.
fn merge(kept: &mut [Segment], len: usize, given: &[Segment]) -> usize {
    let Some(first) = given.first() else { return len };
    let tail = kept[..len].partition_point(|segment| segment.end < first.start);
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
