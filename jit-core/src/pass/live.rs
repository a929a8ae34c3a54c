//! Find live ranges, and join those that can share one place.
//!
//! In: a tile list. Out: [`Ranges`]. Needs: each virtual register defined once, and its definition on every way
//! to each use. Cost: the sum of the ranges' lengths in blocks, plus sorting.
//!
//! Liveness goes from each use up to the definition, block by block, stopping at blocks seen before; so it is
//! right for loops of any shape, and costs what the result is long. Union-find joins a tied result with the
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
    /// Uses by virtual register: block position and end of the use.
    uses: Vec<(u32, u32)>,
    first_use: Vec<u32>,
    defs: Vec<Definition>,
    seen: Vec<u32>,
    open: Vec<u32>,
    joined: Vec<u32>,
    lists: Vec<Vec<Segment>>,
    merged: Vec<Segment>,
    pairs: Vec<(u16, Vreg, Vreg)>,
}

#[derive(Clone, Copy, Debug)]
struct Definition {
    block: u32,
    start: u32,
    end: u32,
}

const UNDEFINED: Definition = Definition { block: u32::MAX, start: 0, end: 0 };

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
    scratch.find_preds(tiles);
    scratch.find_defs_and_uses(tiles);
    scratch.find_segments(tiles);
    scratch.join(tiles);
    scratch.finish(tiles, out);
}

impl Scratch {
    /// Predecessors by block position.
    fn find_preds(&mut self, tiles: &TileList) {
        let n_blocks = tiles.blocks.len();
        self.first_pred.clear();
        self.first_pred.resize(n_blocks + 1, 0);
        for block in &tiles.blocks {
            for edge in tiles.edges(block) {
                self.first_pred[tiles.position[edge.to.at()] as usize + 1] += 1;
            }
        }
        for at in 0..n_blocks {
            self.first_pred[at + 1] += self.first_pred[at];
        }
        self.preds.clear();
        self.preds.resize(self.first_pred[n_blocks] as usize, 0);
        let mut next = self.first_pred.clone();
        for (at, block) in tiles.blocks.iter().enumerate() {
            for edge in tiles.edges(block) {
                let slot = &mut next[tiles.position[edge.to.at()] as usize];
                self.preds[*slot as usize] = at as u32;
                *slot += 1;
            }
        }
    }

    fn find_defs_and_uses(&mut self, tiles: &TileList) {
        let n_vregs = tiles.vregs.len();
        self.defs.clear();
        self.defs.resize(n_vregs, UNDEFINED);
        self.first_use.clear();
        self.first_use.resize(n_vregs + 1, 0);
        each_use(tiles, |vreg, _, _| self.first_use[vreg.at() + 1] += 1);
        for at in 0..n_vregs {
            self.first_use[at + 1] += self.first_use[at];
        }
        self.uses.clear();
        self.uses.resize(self.first_use[n_vregs] as usize, (0, 0));
        let mut next = self.first_use.clone();
        each_use(tiles, |vreg, block, end| {
            let slot = &mut next[vreg.at()];
            self.uses[*slot as usize] = (block, end);
            *slot += 1;
        });
        for (at, block) in tiles.blocks.iter().enumerate() {
            let start = block.insts.start * STEP;
            for param in &tiles.args[block.params.range()] {
                self.defs[param.at()] = Definition { block: at as u32, start, end: start + EARLY };
            }
            for inst in block.insts.range() {
                let base = inst as u32 * STEP;
                for operand in tiles.operands(inst) {
                    let (start, end) = match operand.role {
                        Role::Def => (base + LATE, base + STEP),
                        Role::EarlyDef => (base + EARLY, base + STEP),
                        Role::Temp => (base + EARLY, base + AFTER),
                        Role::Use | Role::LateUse => continue,
                    };
                    self.defs[operand.vreg.at()] = Definition { block: at as u32, start, end };
                }
            }
        }
    }

    fn find_segments(&mut self, tiles: &TileList) {
        let n_vregs = tiles.vregs.len();
        if self.lists.len() < n_vregs {
            self.lists.resize_with(n_vregs, Vec::new);
        }
        self.seen.clear();
        self.seen.resize(tiles.blocks.len(), u32::MAX);
        for vreg in 0..n_vregs {
            let def = self.defs[vreg];
            let list = &mut self.lists[vreg];
            list.clear();
            if def.block == u32::MAX {
                continue;
            }
            list.push(Segment { start: def.start, end: def.end });
            for at in self.first_use[vreg] as usize..self.first_use[vreg + 1] as usize {
                let (block, end) = self.uses[at];
                if block == def.block && end > def.start {
                    list.push(Segment { start: def.start, end });
                    continue;
                }
                list.push(Segment { start: tiles.blocks[block as usize].insts.start * STEP, end });
                self.open.push(block);
                while let Some(block) = self.open.pop() {
                    let preds = self.first_pred[block as usize]..self.first_pred[block as usize + 1];
                    for pred in &self.preds[preds.start as usize..preds.end as usize] {
                        if self.seen[*pred as usize] == vreg as u32 {
                            continue;
                        }
                        self.seen[*pred as usize] = vreg as u32;
                        let insts = tiles.blocks[*pred as usize].insts;
                        let end = (insts.start + insts.len) * STEP;
                        if *pred == def.block {
                            list.push(Segment { start: def.start, end });
                        } else {
                            list.push(Segment { start: insts.start * STEP, end });
                            self.open.push(*pred);
                        }
                    }
                }
            }
            normalize(list);
        }
    }

    /// Joins ranges. A tied result that is not joined to its operand must be free where that is read: a move
    /// puts the operand there.
    fn join(&mut self, tiles: &TileList) {
        self.joined.clear();
        self.joined.extend(0..tiles.vregs.len() as u32);
        for block in &tiles.blocks {
            for inst in block.insts.range() {
                let operands = tiles.operands(inst);
                for operand in operands {
                    let Constraint::Tied(to) = operand.constraint else { continue };
                    if !self.try_join(tiles, operand.vreg, operands[to as usize].vreg) {
                        let base = inst as u32 * STEP;
                        let list = &mut self.lists[find(&mut self.joined, operand.vreg) as usize];
                        list.push(Segment { start: base + EARLY, end: base + STEP });
                        normalize(list);
                    }
                }
            }
        }
        self.pairs.clear();
        for block in &tiles.blocks {
            for edge in tiles.edges(block) {
                let to = tiles.block(edge.to);
                let depth = tiles.depth(tiles.loop_around(block.inner, to.inner));
                let args = tiles.args[edge.args.range()].iter();
                let params = tiles.args[to.params.range()].iter();
                self.pairs.extend(core::iter::zip(args, params).map(|(arg, param)| (depth, *arg, *param)));
            }
        }
        self.pairs.sort_by_key(|(depth, ..)| core::cmp::Reverse(*depth));
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
        if intersect(&self.lists[a as usize], &self.lists[b as usize]) {
            return false;
        }
        let (keep, give) =
            if self.lists[a as usize].len() >= self.lists[b as usize].len() { (a, b) } else { (b, a) };
        let given = core::mem::take(&mut self.lists[give as usize]);
        self.merged.clear();
        merge(&self.lists[keep as usize], &given, &mut self.merged);
        self.lists[keep as usize].clone_from(&self.merged);
        self.lists[give as usize] = given;
        self.lists[give as usize].clear();
        self.joined[give as usize] = keep;
        true
    }

    fn finish(&mut self, tiles: &TileList, out: &mut Ranges) {
        const NONE: u32 = u32::MAX;
        let n_vregs = tiles.vregs.len();
        out.of.resize(n_vregs, NONE);
        for vreg in 0..n_vregs {
            let root = find(&mut self.joined, Vreg::from(vreg)) as usize;
            if out.of[root] == NONE {
                out.of[root] = out.ranges.len() as u32;
                let segments = List::push(&mut out.segments, &self.lists[root]);
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

/// Tells every use: of what, in which block (by position), and the position behind it.
fn each_use(tiles: &TileList, mut tell: impl FnMut(Vreg, u32, u32)) {
    for (at, block) in tiles.blocks.iter().enumerate() {
        for inst in block.insts.range() {
            for operand in tiles.operands(inst) {
                if let Some(end) = use_end(operand, inst as u32) {
                    tell(operand.vreg, at as u32, end);
                }
            }
        }
        let last = block.insts.start + block.insts.len - 1;
        for edge in tiles.edges(block) {
            for arg in &tiles.args[edge.args.range()] {
                tell(*arg, at as u32, last * STEP + GAP + 1);
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

/// Sorts segments and joins those that touch.
fn normalize(list: &mut Vec<Segment>) {
    list.sort_unstable();
    let mut kept = 0;
    for at in 1..list.len() {
        if list[at].start <= list[kept].end {
            list[kept].end = list[kept].end.max(list[at].end);
        } else {
            kept += 1;
            list[kept] = list[at];
        }
    }
    list.truncate(kept + 1);
}

fn merge(a: &[Segment], b: &[Segment], out: &mut Vec<Segment>) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.start <= y.start => a.next(),
            (_, Some(_)) => b.next(),
            (Some(_), None) => a.next(),
            (None, None) => return,
        };
        let next = *next.expect("it was just seen");
        match out.last_mut() {
            Some(last) if last.end >= next.start => last.end = last.end.max(next.end),
            _ => out.push(next),
        }
    }
}

/// Whether two sorted lists have a position in common.
pub(super) fn intersect(a: &[Segment], b: &[Segment]) -> bool {
    let (mut at_a, mut at_b) = (0, 0);
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
