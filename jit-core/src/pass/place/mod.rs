//! Place every value in a block, and order blocks and nodes.
//!
//! In: a graph. Out: a [`Schedule`], and a graph in which cold code may have copies of values. Needs: no edges from
//! unreachable blocks, and no unused floating node ([`super::dead`]). Keeps: the order of pinned nodes. Cost: linear in
//! nodes, plus logarithms of the dominator tree's depth.
//!
//! The block of a value: a floating value can be placed in any block from the deepest block of its operands (*early*) down
//! to the nearest common dominator of its uses (*late*). It is placed as late as possible, so that a path computes only
//! what it needs, except that it is hoisted out of loops (Click, "Global Code Motion / Global Value Numbering"). Three
//! kinds of values are not hoisted: flags, which are recomputed at their consumers; addresses and values without operands,
//! which fold into the instructions that use them and would otherwise occupy a register throughout the loop; and values
//! that only a cold path uses, which would cost the hot path. If several cold paths use a value, each gets its own copy;
//! see [`cold`]. If several ways use what takes a load from memory that is always at hand, each reads it by itself; see [`again`].
//!
//! Blocks that run equally often because there are only cold blocks between them are a *chain*, and a value costs the same
//! in each of them. It is placed at its own bytecode, after that bytecode's checks. If it were placed as late as possible,
//! a sum of many loads would be computed after the last check, and all loaded values would be live until then.
//!
//! The order in a block: each value comes right before the first node that needs it, and of its operands the one that needs
//! more registers is computed first (Sethi and Ullman). Values that only other blocks or the block's end use come last, in
//! bytecode order: the bytecode reads the old value of a register before it writes the new one, so the two can share a
//! machine register.
//!
//! A load that may fault cannot be delayed until its user, unlike other loads, which become operands of their users. So its
//! user is placed right after it, if all other operands are available and the load has no other user. This keeps no more
//! values live than before.
//!
//! The order of blocks: reverse postorder, with each loop's blocks contiguous after its head, and cold blocks after all
//! others. A block is also cold if all its incoming edges (back edges aside) or all its outgoing edges are cold.

mod again;
mod cold;
mod list;
mod uses;

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{List, Loop, Node};
use crate::ir::schedule::{LoopData, Schedule, ScheduledBlock};
use crate::vocab::op::Yields;
use crate::vocab::{Props, Type};

/// The largest ratio of bytecodes to nodes for which nodes are sorted by counting.
const MAX_SPARSE: usize = 8;

/// How many loops a value can be hoisted out of.
const MAX_LEFT: usize = 64;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// By rank.
    is_cold: Vec<bool>,
    cold: cold::Cold,
    again: again::Again,
    chains: Chains,
    lines: Lines,
    /// For each node the rank of its early block; for a pinned node that of its own block. Later reused to link the nodes
    /// of one bytecode.
    early: Vec<u32>,
    /// For each node the rank of its late block, then that of its final block; [`NONE`] once it is listed.
    home: Vec<u32>,
    /// For each node how many registers its computation needs.
    need: Vec<u8>,
    /// Floating nodes, operands before users.
    floating: Vec<Node>,
    /// By rank: the first floating node of each block; and for each node the next one.
    first: Vec<Node>,
    next: Vec<Node>,
    /// For each bytecode its last floating node.
    of_origin: Vec<u32>,
    /// Whether any access may fault. If so, `user` has the user of each node, [`MANY`] if there are several.
    may_fault: bool,
    user: Vec<Node>,
    /// Values of a long block that may be listed before a user needs them, the next one last.
    waiting: Vec<(u32, Node)>,
    stack: Vec<(Node, u32)>,
    pub(super) steps: Steps,
}

/// Marks several users.
const MANY: Node = Node(u32::MAX - 1);
/// The home of a listed pinned node.
const LISTED: u32 = u32::MAX - 1;

/// Blocks in lines: one line for each loop, and one for blocks outside of loops.
#[derive(Debug, Default)]
struct Lines {
    /// The first and the last block of each line; the outermost line comes last.
    ends: Vec<(u32, u32)>,
    next: Vec<u32>,
    /// The blocks at which to resume after the loops being emitted.
    resume: Vec<u32>,
}

/// Sequences of blocks that run equally often.
#[derive(Debug, Default)]
struct Chains {
    /// The ranks of each chain's blocks in order, chain after chain; empty if no chain has several blocks.
    ranks: Vec<u32>,
    /// By rank: the block's index in `ranks`, and the start of its chain.
    position: Vec<(u32, u32)>,
    /// By rank: the next block of the chain.
    next: Vec<u32>,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Makes the schedule of a graph.
pub fn place(scratch: &mut Scratch, graph: &mut Graph, out: &mut Schedule) {
    out.clear();
    scratch.flow.find(graph);
    scratch.flow.find_cold(graph, &mut scratch.is_cold);
    scratch.find_regions(graph);
    scratch.find_chains(graph);
    scratch.order_blocks(graph, out);
    scratch.find_early(graph);
    scratch.find_light(graph);
    match scratch.is_cold.contains(&true) {
        true => scratch.find_homes::<true>(graph, out),
        false => scratch.find_homes::<false>(graph, out),
    }
    if scratch.may_fault {
        scratch.find_users(graph);
    }
    scratch.list_nodes(graph, out);
}

impl Scratch {
    /// Finds chains: a hot block follows its immediate dominator if it has no other hot predecessor, and the dominator has
    /// no other hot successor.
    fn find_chains(&mut self, graph: &Graph) {
        let Scratch { flow, is_cold, chains: Chains { ranks, position, next }, .. } = self;
        ranks.clear();
        if !is_cold.contains(&true) {
            return;
        }
        next.clear();
        next.resize(flow.order.len(), NONE);
        position.clear();
        position.resize(flow.order.len(), (0, 0));
        let hot = |rank: u32| rank != NONE && !is_cold[rank as usize];
        for rank in 1..flow.order.len() as u32 {
            let before = flow.idom[rank as usize];
            if !hot(rank) || !hot(before) || flow.innermost[rank as usize] != flow.innermost[before as usize]
            {
                continue;
            }
            let (block, above) = (flow.order[rank as usize], flow.order[before as usize]);
            let mut ways_in = graph.block(block).preds.iter().map(|pred| flow.rank[pred.block.at()]);
            let mut ways_out = graph.block(above).succs.iter().map(|succ| flow.rank[succ.at()]);
            if ways_in.all(|pred| pred == before || !hot(pred))
                && ways_out.all(|succ| succ == rank || !hot(succ))
            {
                next[before as usize] = rank;
            }
        }
        // A block that was reached from an earlier one already has its position.
        for first in 0..flow.order.len() as u32 {
            let start = ranks.len() as u32;
            let mut at = first;
            while at != NONE && (at == 0 && first == 0 || position[at as usize] == (0, 0)) {
                position[at as usize] = (ranks.len() as u32, start);
                ranks.push(at);
                at = next[at as usize];
            }
        }
    }

    fn order_blocks(&mut self, graph: &Graph, out: &mut Schedule) {
        let flow = &self.flow;
        self.lines.fill(flow);
        out.position.resize(graph.blocks.len(), u32::MAX);
        let loops = flow.loops.iter();
        out.loops.extend(loops.map(|inner| LoopData { around: Loop(inner.parent), depth: inner.depth }));
        for cold in [false, true] {
            self.lines.each(flow, |rank| {
                if self.is_cold[rank as usize] == cold {
                    let block = flow.order[rank as usize];
                    out.position[block.at()] = out.blocks.len() as u32;
                    out.blocks.push(ScheduledBlock {
                        block,
                        nodes: List::EMPTY,
                        inner: Loop(flow.innermost[rank as usize]),
                        cold,
                    });
                }
            });
        }
    }

    /// Lists floating nodes, operands first, and finds the early block of each.
    fn find_early(&mut self, graph: &Graph) {
        let n_nodes = graph.nodes.len();
        self.early.clear();
        let ranks = &self.flow.rank;
        let rank = |node: &NodeData| match ranks.get(node.block.at()) {
            // An unreachable block counts as the entry: floating nodes may depend on its nodes.
            Some(&NONE) => 0,
            Some(&rank) => rank,
            None => NONE,
        };
        self.early.extend(graph.nodes.iter().map(rank));
        self.need.clear();
        self.need.resize(n_nodes, 0);
        self.floating.clear();
        for at in 0..n_nodes {
            // Operands mostly have lower numbers.
            if self.early[at] == NONE {
                self.reach(graph, Node::from(at));
            }
        }
    }

    fn reach(&mut self, graph: &Graph, root: Node) {
        let mut next = Some(root);
        while let Some(node) = next {
            let (mut early, mut need, mut rivals) = (0, 0u8, 0u8);
            let inputs = graph.inputs(node);
            let mut missing = None;
            for &input in inputs {
                let from = self.early[input.at()];
                if from == NONE {
                    missing = Some(input);
                    break;
                }
                if self.flow.height(from) > self.flow.height(early) {
                    early = from;
                }
                match self.need[input.at()] {
                    more if more > need => (need, rivals) = (more, 0),
                    same if same == need => rivals = rivals.saturating_add(1),
                    _ => {}
                }
            }
            if let Some(missing) = missing {
                self.stack.push((node, 0));
                next = Some(missing);
                continue;
            }
            // Nothing else is held while the operand that needs most is computed; each further operand with equal need
            // holds one more.
            self.need[node.at()] = need.saturating_add(rivals).max(!inputs.is_empty() as u8);
            self.early[node.at()] = early;
            self.floating.push(node);
            next = self.stack.pop().map(|(node, _)| node);
        }
    }

    /// Finds the block of each floating node, users before operands. `COLD` says whether any block is cold.
    fn find_homes<const COLD: bool>(&mut self, graph: &mut Graph, out: &mut Schedule) {
        self.may_fault = false;
        self.home.clear();
        self.home.resize(graph.nodes.len(), NONE);
        for rank in 0..self.flow.order.len() as u32 {
            let block = graph.block(self.flow.order[rank as usize]);
            for &param in &block.params {
                for (pred, link) in core::iter::zip(&block.preds, graph.node(param).inputs.range()) {
                    // There are no edges from unreachable blocks.
                    match self.flow.rank[pred.block.at()] {
                        from if COLD && self.is_cold[from as usize] => {
                            self.use_in_cold(graph, link, from, true)
                        }
                        from => self.use_in::<COLD>(graph, link, from),
                    }
                }
            }
            for &node in block.body.iter().chain([&block.end]) {
                self.may_fault |= graph.may_fault(node);
                self.use_inputs::<COLD>(graph, node, rank);
            }
        }
        for index in (0..self.floating.len()).rev() {
            let node = self.floating[index];
            if self.again.is_light(node) {
                self.read_again::<COLD>(graph, node, out);
            }
            let home = match self.home[node.at()] {
                _ if COLD && self.cold.is_used(node) => self.divide(graph, node, out),
                // Only unreachable blocks use it.
                NONE => continue,
                late => self.settle(graph, node, late),
            };
            self.home[node.at()] = home;
            self.use_inputs::<COLD>(graph, node, home);
        }
        self.sort_by_origin(graph);
    }

    /// Notes the uses of a node's operands in its block.
    #[inline(always)]
    fn use_inputs<const COLD: bool>(&mut self, graph: &Graph, node: Node, rank: u32) {
        if COLD && self.is_cold[rank as usize] {
            return self.use_inputs_in_cold(graph, node, rank);
        }
        for link in graph.node(node).inputs.range() {
            self.use_in::<COLD>(graph, link, rank);
        }
    }

    /// The best block for a value whose uses `late` dominates; `late` itself if no more steps are allowed.
    #[inline(always)]
    fn settle(&mut self, graph: &Graph, node: Node, late: u32) -> u32 {
        let home = self.choose(graph, node, late);
        if home != late && !self.steps.take() { late } else { home }
    }

    /// Lists the floating nodes of each block in the order of their bytecodes; those of one bytecode are listed operands
    /// first.
    fn sort_by_origin(&mut self, graph: &Graph) {
        self.first.clear();
        self.first.resize(self.flow.order.len(), Node::NONE);
        self.next.clear();
        self.next.resize(graph.nodes.len(), Node::NONE);
        let origins = self.floating.iter().map(|node| graph.node(*node).origin);
        let (least, most) = origins.fold((u32::MAX, 0), |(least, most), at| (least.min(at), most.max(at)));
        let n_origins = most.saturating_sub(least) as usize;
        if n_origins > MAX_SPARSE * self.floating.len() {
            // Placeholders for bytecode numbers are far apart.
            self.floating.sort_by_key(|node| graph.node(*node).origin);
            (0..self.floating.len()).rev().for_each(|at| self.list_first(self.floating[at]));
            return;
        }
        self.of_origin.clear();
        self.of_origin.resize(n_origins + 1, NONE);
        // `early` is not needed any more: from here on it links the nodes of each bytecode, the last one first.
        for &node in &self.floating {
            let last = &mut self.of_origin[(graph.node(node).origin - least) as usize];
            self.early[node.at()] = core::mem::replace(last, node.0);
        }
        for origin in (0..self.of_origin.len()).rev() {
            let mut at = self.of_origin[origin];
            while at != NONE {
                self.list_first(Node(at));
                at = self.early[at as usize];
            }
        }
    }

    /// Puts a node before the others of the same block.
    fn list_first(&mut self, node: Node) {
        if self.home[node.at()] == NONE {
            return;
        }
        let first = &mut self.first[self.home[node.at()] as usize];
        self.next[node.at()] = core::mem::replace(first, node);
    }

    #[inline(always)]
    fn use_in<const COLD: bool>(&mut self, graph: &Graph, link: usize, rank: u32) {
        let node = graph.links[link];
        self.again.note(node, link, rank);
        if COLD {
            self.cold.use_in_hot(node, rank);
        }
        if !graph.node(node).block.is_some() {
            let home = &mut self.home[node.at()];
            *home = if *home == NONE { rank } else { self.flow.meet(*home, rank) };
        }
    }

    /// The best block between late and early: out of as many loops as possible, then as late as possible.
    fn choose(&self, graph: &Graph, node: Node, late: u32) -> u32 {
        let flow = &self.flow;
        let data = graph.node(node);
        if folds(graph, node) || data.ty() == Type::Flag || self.is_cold[late as usize] {
            return late;
        }
        let highest = flow.height(self.early[node.at()]);
        let (mut best, mut at) = (late, late);
        for _ in 0..MAX_LEFT {
            if flow.innermost[at as usize] == NONE {
                break;
            }
            let inner = flow.loops[flow.innermost[at as usize] as usize];
            at = flow.idom[inner.head as usize];
            if flow.height(at) < highest || at == inner.head {
                break;
            }
            if flow.depth(at) < flow.depth(best) {
                best = at;
            }
        }
        self.in_chain(graph, data.origin, best, highest)
    }

    /// The first block of a chain, up to this one and not above `highest` in the dominator tree, that ends with a later
    /// bytecode than the value's own: there the checks of its own bytecode are done.
    fn in_chain(&self, graph: &Graph, origin: u32, rank: u32, highest: u32) -> u32 {
        let Some(&(position, start)) = self.chains.position.get(rank as usize) else { return rank };
        let n_above = (position - start).min(self.flow.height(rank) - highest);
        if self.chains.ranks.is_empty() || n_above == 0 {
            return rank;
        }
        let ranks = &self.chains.ranks[(position - n_above) as usize..position as usize];
        let end = |rank: &u32| graph.node(graph.block(self.flow.order[*rank as usize]).end).origin;
        let n_before = ranks.partition_point(|rank| end(rank) <= origin);
        ranks.get(n_before).copied().unwrap_or(rank)
    }

    /// Whether a hot block is known to run as often as another one, which dominates it.
    fn run_equally_often(&self, a: u32, b: u32) -> bool {
        let chain = |rank: u32| self.chains.position.get(rank as usize).map(|(_, start)| start);
        !self.chains.ranks.is_empty() && chain(a) == chain(b)
    }
}

/// Whether a value folds into the instructions that use it: it has no operands, or is an address.
fn folds(graph: &Graph, node: Node) -> bool {
    let data = graph.node(node);
    let info = graph.vocab.info(data.op);
    (data.inputs.len == 0 || info.yields == Yields::Ptr) && !info.props.contains(Props::REREAD)
}

impl Lines {
    /// Lines up blocks by rank, each in the line of its innermost loop; a loop's head is in the line around its loop.
    fn fill(&mut self, flow: &FlowGraph) {
        let outermost = flow.loops.len();
        self.ends.clear();
        self.ends.resize(outermost + 1, (NONE, NONE));
        self.next.clear();
        self.next.resize(flow.order.len(), NONE);
        for rank in 0..flow.order.len() as u32 {
            let line = match flow.innermost[rank as usize] {
                NONE => NONE,
                inner if flow.loops[inner as usize].head == rank => flow.loops[inner as usize].parent,
                inner => inner,
            };
            let (first, last) = &mut self.ends[if line == NONE { outermost } else { line as usize }];
            if *first == NONE {
                *first = rank;
            } else {
                self.next[*last as usize] = rank;
            }
            *last = rank;
        }
    }

    /// Calls `emit` with each rank in emission order: a loop's line comes right after its head.
    fn each(&mut self, flow: &FlowGraph, mut emit: impl FnMut(u32)) {
        let mut at = self.ends[flow.loops.len()].0;
        loop {
            if at == NONE {
                let Some(outer) = self.resume.pop() else { return };
                at = outer;
                continue;
            }
            emit(at);
            let inner = flow.innermost[at as usize];
            if inner != NONE && flow.loops[inner as usize].head == at {
                self.resume.push(self.next[at as usize]);
                at = self.ends[inner as usize].0;
            } else {
                at = self.next[at as usize];
            }
        }
    }
}
