//! Checks of kinds in front of loops, in place of checks in each iteration.
//!
//! In: a graph in which some loops are entered through a *guard*, a branch on `speculate`: one way leads to the loop, the other
//! one to an exit at the bytecode where the loop starts. Out: for each guard the checks to make there. Holds afterwards: a
//! check that the loop made in each iteration, on a value from outside of it or on one that it keeps of this kind, is decided.
//!
//! A check is moved only if each iteration makes it, and if it fails on a cold way. So a program that exits at a guard would
//! have taken a slow path in the loop, unless it leaves the loop before.

use super::Scratch;
use super::starts::StartCheck;
use crate::ir::graph::{BlockData, Graph, Heat, NodeData, Pred};
use crate::ir::index::{Block, List, Node};
use crate::ir::kinds::KindMask;
use crate::pass::flow::{FlowGraph, NONE};
use crate::pass::limits::Steps;
use crate::vocab::Op;

/// How many blocks that only jump may lead to a cold one.
pub(super) const MAX_JUMPS: usize = 4;

/// A check at a guard.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopCheck {
    /// The value that is checked, and the kind that it is to be of.
    pub(super) value: Node,
    pub(super) kind: u64,
    /// The parameter of the loop's head that starts with the value; `NONE` if the loop uses the value itself.
    param: Node,
    /// The block that ends with the guard.
    guard: Block,
    /// The next check at the same guard.
    next: u32,
    is_dropped: bool,
}

/// The guards of a graph.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// The blocks that end with guards.
    pub(super) blocks: Vec<Block>,
    checks: Vec<LoopCheck>,
    /// By block: its first check.
    first: Vec<u32>,
    /// By block: the block that ends with the guard in front of the loop with this head, if checks are made there.
    of_head: Vec<Block>,
    /// The values that are to be whole numbers, by guard.
    pub(super) starts: Vec<StartCheck>,
    /// By loop: the checks that each iteration makes, as pairs of a value and a kind.
    wanted: Vec<Vec<(Node, u64)>>,
}

/// The end of a guard while its checks are made, each in a block of its own.
pub(super) struct GuardEnd {
    block: Block,
    has_check: bool,
}

impl GuardEnd {
    /// Has one more flag checked.
    pub(super) fn check(&mut self, graph: &mut Graph, flag: Node) {
        if self.has_check {
            self.block = split_guard(graph, self.block);
        }
        self.has_check = true;
        let end = graph.block(self.block).end;
        graph.set_inputs(end, &[flag]);
    }
}

impl Guards {
    /// The checks at the guard that ends this block, but for those that were dropped.
    pub(super) fn checks_at(&self, block: Block) -> impl Iterator<Item = &LoopCheck> {
        self.numbered_checks_at(block).map(|(_, check)| check).filter(|check| !check.is_dropped)
    }

    /// All checks at the guard that ends this block, each with its number.
    pub(super) fn numbered_checks_at(&self, block: Block) -> impl Iterator<Item = (u32, &LoopCheck)> {
        let mut next = self.first.get(block.at()).copied().unwrap_or(NONE);
        core::iter::from_fn(move || {
            let (number, check) = (next, self.checks.get(next as usize)?);
            next = check.next;
            Some((number, check))
        })
    }

    /// Whether a check, if it is one, was dropped.
    pub(super) fn is_dropped(&self, number: u32) -> bool {
        self.checks.get(number as usize).is_some_and(|check| check.is_dropped)
    }

    /// Finds the guards, and the checks that could be made there.
    pub(super) fn gather(&mut self, graph: &Graph, flow: &FlowGraph, steps: &mut Steps) {
        self.blocks.clear();
        self.checks.clear();
        self.first.clear();
        self.of_head.clear();
        self.blocks.extend(flow.order.iter().filter(|block| is_guard(graph, **block)));
        if self.blocks.is_empty() {
            return;
        }
        self.first.resize(graph.blocks.len(), NONE);
        self.of_head.resize(graph.blocks.len(), Block::NONE);
        self.wanted.clear();
        self.wanted.resize(flow.loops.len(), Vec::new());
        for (rank, &block) in flow.order.iter().enumerate() {
            let Some((kind, value)) = super::check_of(graph, block) else { continue };
            let [succeeds, fails] = [0, 1].map(|succ| graph.block(block).succs[succ]);
            if !leads_to_cold(graph, succeeds) && leads_to_cold(graph, fails) {
                self.want(graph, flow, rank as u32, value, kind);
            }
        }
        // Inner loops come first, and what their guards check, loops around them may check instead.
        for number in 0..flow.loops.len() {
            let Some((guard, way)) = guard_of(graph, flow, number) else { continue };
            for (value, kind) in core::mem::take(&mut self.wanted[number]) {
                let head = flow.order[flow.loops[number].head as usize];
                let (value, param) = match *graph.node(value) {
                    NodeData { op: Op::PARAM, block, .. } if block == head => {
                        (graph.inputs(value)[way], value)
                    }
                    _ => (value, Node::NONE),
                };
                let is_known = is_known_at(graph, flow, guard, value);
                if is_known && graph.as_const(value).is_none() && steps.take() {
                    self.add(LoopCheck { value, kind, param, guard, next: NONE, is_dropped: false });
                    self.of_head[head.at()] = guard;
                    self.want(graph, flow, flow.rank[guard.at()], value, kind);
                }
            }
        }
    }

    /// Notes a check in this block for the innermost loop that contains it, if each iteration makes the check.
    fn want(&mut self, graph: &Graph, flow: &FlowGraph, rank: u32, value: Node, kind: u64) {
        let number = flow.innermost[rank as usize];
        if number == NONE {
            return;
        }
        let head = flow.loops[number as usize].head;
        let preds = &graph.block(flow.order[head as usize]).preds;
        let is_always_made = preds.iter().all(|pred| {
            let from = flow.rank[pred.block.at()];
            !flow.goes_around(head, from) || flow.dominates(rank, from)
        });
        let wanted = &mut self.wanted[number as usize];
        // A value is checked for one kind. The others would fail.
        if is_always_made && wanted.iter().all(|(known, _)| *known != value) {
            wanted.push((value, kind));
        }
    }

    fn add(&mut self, check: LoopCheck) {
        let first = &mut self.first[check.guard.at()];
        let next = core::mem::replace(first, self.checks.len() as u32);
        self.checks.push(LoopCheck { next, ..check });
    }
}

impl Scratch {
    /// Drops the checks at a block's guard that would fail.
    pub(super) fn drop_failing(&mut self, block: Block, rank: u32) {
        self.drop_checks(block, |scratch, check| {
            scratch.mask_in(check.value, rank).says(check.kind) == Some(false)
        });
    }

    /// Drops the checks at the guard of a loop that do not help, since the loop gives its parameter a value of another kind.
    pub(super) fn drop_useless(&mut self, head: Block) {
        let guard = self.guards.of_head.get(head.at()).copied().unwrap_or(Block::NONE);
        if guard.is_some() {
            self.drop_checks(guard, |scratch, check| {
                let is_other = |param: Node| scratch.masks[param.at()].and(KindMask::but(check.kind));
                check.param.is_some() && is_other(check.param) != KindMask::EMPTY
            });
        }
    }

    /// Drops the checks at a guard for which a function returns true. What relied on them is visited again.
    fn drop_checks(&mut self, guard: Block, is_dropped: impl Fn(&Scratch, &LoopCheck) -> bool) {
        let mut next = self.guards.first.get(guard.at()).copied().unwrap_or(NONE);
        while let Some(&check) = self.guards.checks.get(next as usize) {
            if !check.is_dropped && is_dropped(self, &check) {
                self.guards.checks[next as usize].is_dropped = true;
                self.mark_uses(check.value);
            }
            next = check.next;
        }
    }

    /// Makes the checks at each guard, each in a block of its own that exits where the guard does.
    pub(super) fn place_guards(&mut self, graph: &mut Graph) {
        for at in 0..self.guards.blocks.len() {
            let guard = self.guards.blocks[at];
            let rank = self.flow.rank[guard.at()];
            let mut end = GuardEnd { block: guard, has_check: false };
            let origin = graph.node(graph.block(guard).end).origin;
            for check in self.guards.checks_at(guard) {
                // A check that is known to succeed is not made.
                if self.mask_in(check.value, rank).says(check.kind).is_some() {
                    continue;
                }
                let flag = super::add_check(graph, check.value, check.kind, origin);
                end.check(graph, flag);
            }
            self.place_starts(graph, guard, &mut end);
        }
        self.masks.resize(graph.nodes.len(), KindMask::ANY);
    }
}

/// Whether a block ends with a guard.
fn is_guard(graph: &Graph, block: Block) -> bool {
    let end = graph.block(block).end;
    graph.node(end).op == Op::BR && graph.node(graph.inputs(end)[0]).op == Op::SPECULATE
}

/// Whether control that comes to a block is in cold code now or after a few jumps.
pub(super) fn leads_to_cold(graph: &Graph, mut block: Block) -> bool {
    for _ in 0..MAX_JUMPS {
        match graph.block(block) {
            BlockData { heat: Heat::Cold, .. } => return true,
            BlockData { body, succs, .. } if body.is_empty() && succs.len() == 1 => block = succs[0],
            _ => return false,
        }
    }
    false
}

/// The guard in front of a loop, and the position of the edge from there among the edges into the loop's head.
pub(super) fn guard_of(graph: &Graph, flow: &FlowGraph, number: usize) -> Option<(Block, usize)> {
    let head = flow.loops[number].head;
    let preds = &graph.block(flow.order[head as usize]).preds;
    let mut entries = preds.iter().enumerate().filter(|(_, pred)| {
        let from = flow.rank[pred.block.at()];
        from != NONE && !flow.goes_around(head, from)
    });
    let (Some((way, entry)), None) = (entries.next(), entries.next()) else { return None };
    match graph.block(entry.block).preds[..] {
        [Pred { block, succ: 0 }] if is_guard(graph, block) => Some((block, way)),
        _ => None,
    }
}

/// Whether a value is known where a block ends, and so in front of the loop that it guards. Between a guard and its loop there may be
/// loads. The function's arguments are known everywhere.
pub(super) fn is_known_at(graph: &Graph, flow: &FlowGraph, guard: Block, value: Node) -> bool {
    if graph.floats(value) && graph.inputs(value).is_empty() {
        return true;
    }
    let block = graph.node(value).block;
    block.is_some() && {
        let rank = flow.rank[block.at()];
        rank != NONE && flow.dominates(rank, flow.rank[guard.at()])
    }
}

/// Puts a second branch behind the one that ends a block, with the same edges. Returns its block.
fn split_guard(graph: &mut Graph, block: Block) -> Block {
    let new = graph.add_block();
    let [target, exit] = graph.block(block).succs[..] else { unreachable!("a branch has two edges") };
    let end = NodeData { inputs: List::EMPTY, block: new, ..*graph.node(graph.block(block).end) };
    graph.nodes.push(end);
    let end = Node::from(graph.nodes.len() - 1);
    graph.blocks[block.at()].succs[0] = new;
    let data = &mut graph.blocks[new.at()];
    data.end = end;
    data.succs.extend([target, exit]);
    data.preds.push(Pred { block, succ: 0 });
    for pred in &mut graph.blocks[target.at()].preds {
        if (pred.block, pred.succ) == (block, 0) {
            pred.block = new;
        }
    }
    graph.blocks[exit.at()].preds.push(Pred { block: new, succ: 1 });
    new
}
