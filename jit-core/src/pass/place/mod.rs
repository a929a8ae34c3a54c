//! Place every value in a block, and put blocks and nodes in order.
//!
//! In: a graph. Out: a [`Schedule`], and a graph in which cold code may have copies of values. Needs: no edges from unreachable blocks, and no floating node that nobody needs
//! ([`super::dead`]). Keeps: the order of pinned nodes. Cost: linear in nodes, plus logarithms of the dominator tree's
//! depth.
//!
//! Which block: a floating value may stand anywhere between the lowest block that its operands dominate from
//! (*early*) and the nearest block that dominates all of its uses (*late*). It stands as late as it may, so that
//! a path computes only what it needs, except that it leaves loops (Click, "Global Code Motion / Global Value
//! Numbering"). What stays: a flag, which is made again where it is consumed; an address and a value without
//! operands, which fold into the instructions that use them and would otherwise keep a register through the
//! loop; and what only a cold path uses, which a hot path would then pay for. Where several cold paths use a value,
//! each gets its own copy: [`cold`] does that.
//!
//! Blocks that run equally often because only cold ones are between them are a *chain*, and a value may stand in any of
//! its blocks at the same cost. It stands where its bytecode is, behind the checks of that: as late as it may would mean that a sum of many loads is
//! computed behind the last check, and all that was loaded is kept until then.
//!
//! Which order in a block: each value right before the first node that needs it, the operand whose computation
//! needs more registers first (Sethi and Ullman). Values that only other blocks use, or the block's end, come last,
//! in the order of the bytecodes they are from: who wrote the bytecode needed the old value of a register before
//! the new one, so the two can share a machine register.
//!
//! An access that may fault cannot slide down to what takes its value, as other loads do when they become operands of that.
//! So what takes it comes up right behind it, if all else that takes is there and nobody else wants the value: no more values
//! are kept then than before.
//!
//! Which order of blocks: reverse postorder with each loop's blocks drawn together behind its head, cold blocks
//! behind all others. A block all of whose ways in (back edges aside) or all of whose ways out are cold is cold.

mod cold;
mod list;

use super::flow::{Flow, NONE};
use super::limits::Steps;
use crate::ir::graph::{Graph, Heat, NodeData};
use crate::ir::index::{List, Loop, Node};
use crate::ir::schedule::{LoopData, Schedule, ScheduledBlock};
use crate::vocab::Type;
use crate::vocab::op::Yields;

/// How many bytecodes there may be for each node for the nodes to be sorted by counting.
const MAX_SPARSE: usize = 8;

/// How many loops at most a value leaves at once.
const MAX_LEFT: usize = 64;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: Flow,
    /// By rank.
    is_cold: Vec<bool>,
    cold: cold::Cold,
    chains: Chains,
    lines: Lines,
    /// For each node the rank of its early block, of a pinned one that of its block; then the one before from its bytecode.
    early: Vec<u32>,
    /// For each node the rank of its late block and then of the block it stands in; [`NONE`] once it is listed.
    home: Vec<u32>,
    /// For each node how many registers its computation takes.
    need: Vec<u8>,
    /// Floating nodes, operands before users.
    floating: Vec<Node>,
    /// The first floating node of each block by rank, and the next one of each node.
    first: Vec<Node>,
    next: Vec<Node>,
    /// The last floating node from each bytecode.
    of_origin: Vec<u32>,
    /// Whether there are accesses that may fault; then for each node the one that uses it, [`MANY`] if there are several.
    may_fault: bool,
    user: Vec<Node>,
    /// Values of a long block that may be listed before anybody asks for them, the next one last.
    waiting: Vec<(u32, Node)>,
    stack: Vec<(Node, u32)>,
    pub(super) steps: Steps,
}

/// Stands for several users.
const MANY: Node = Node(u32::MAX - 1);
/// The home of a pinned node that is listed.
const LISTED: u32 = u32::MAX - 1;

/// Blocks lined up, a line for each loop and one for what is in none.
#[derive(Debug, Default)]
struct Lines {
    /// First and last of each line; the outermost line comes last.
    ends: Vec<(u32, u32)>,
    next: Vec<u32>,
    /// What goes on after the loops that are being emitted.
    resume: Vec<u32>,
}

/// Blocks of which each runs as often as the one before.
#[derive(Debug, Default)]
struct Chains {
    /// The ranks of each chain's blocks in order, one chain behind another; empty if there is no chain of several blocks.
    ranks: Vec<u32>,
    /// By rank: where in `ranks` the block is, and where its chain starts.
    position: Vec<(u32, u32)>,
    /// By rank: the block that follows in the chain.
    next: Vec<u32>,
}

impl Scratch {
    /// Gives its memory back.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Makes the schedule of a graph.
pub fn place(scratch: &mut Scratch, graph: &mut Graph, out: &mut Schedule) {
    out.clear();
    scratch.flow.find(graph);
    scratch.find_cold(graph);
    scratch.find_regions(graph);
    scratch.find_chains(graph);
    scratch.order_blocks(graph, out);
    scratch.find_early(graph);
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
    fn find_cold(&mut self, graph: &Graph) {
        let flow = &self.flow;
        self.is_cold.clear();
        self.is_cold.extend(flow.order.iter().map(|block| graph.block(*block).heat == Heat::Cold));
        // The entry stands first whatever it leads to.
        self.is_cold[0] = false;
        for rank in (1..flow.order.len()).rev() {
            let succs = &graph.block(flow.order[rank]).succs;
            // A successor that stands before is the head of a loop, of which nothing is known yet.
            let leads_to_cold = |succ: u32| succ as usize > rank && self.is_cold[succ as usize];
            if !succs.is_empty() && succs.iter().all(|succ| leads_to_cold(flow.rank[succ.at()])) {
                self.is_cold[rank] = true;
            }
        }
        for rank in 1..flow.order.len() {
            let preds = &graph.block(flow.order[rank]).preds;
            let mut ways_in = preds.iter().map(|pred| flow.rank[pred.block.at()] as usize);
            if ways_in.all(|pred| pred >= rank || self.is_cold[pred]) {
                self.is_cold[rank] = true;
            }
        }
    }

    /// Finds chains: only cold blocks are between two blocks if neither has another hot block behind or before it, and
    /// the one dominates the other.
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
        // A block that was reached as the next of another has its position when its turn comes.
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

    /// Lists floating nodes with operands first, and finds the highest block each may stand in.
    fn find_early(&mut self, graph: &Graph) {
        let n_nodes = graph.nodes.len();
        self.early.clear();
        let ranks = &self.flow.rank;
        let rank = |node: &NodeData| match ranks.get(node.block.at()) {
            // What nothing leads to may need something as well.
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
            // While the hungriest operand is computed nothing else is held; each equal rival holds one more.
            self.need[node.at()] = need.saturating_add(rivals).max(!inputs.is_empty() as u8);
            self.early[node.at()] = early;
            self.floating.push(node);
            next = self.stack.pop().map(|(node, _)| node);
        }
    }

    /// Gives each floating node the block it stands in, users before operands. Some blocks are cold, or none.
    fn find_homes<const COLD: bool>(&mut self, graph: &mut Graph, out: &mut Schedule) {
        self.may_fault = false;
        self.home.clear();
        self.home.resize(graph.nodes.len(), NONE);
        for rank in 0..self.flow.order.len() as u32 {
            let block = graph.block(self.flow.order[rank as usize]);
            for &param in &block.params {
                for (pred, link) in core::iter::zip(&block.preds, graph.node(param).inputs.range()) {
                    // Nobody comes from where nothing leads to.
                    match self.flow.rank[pred.block.at()] {
                        from if COLD && self.is_cold[from as usize] => {
                            self.use_in_cold(graph, link, from, true)
                        }
                        from => self.use_in::<COLD>(graph, graph.links[link], from),
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
            let home = match self.home[node.at()] {
                _ if COLD && self.cold.is_used(node) => self.divide(graph, node, out),
                // Only what nothing leads to needs it.
                NONE => continue,
                late => self.settle(graph, node, late),
            };
            self.home[node.at()] = home;
            self.use_inputs::<COLD>(graph, node, home);
        }
        self.sort_by_origin(graph);
    }

    /// Notes that the operands of a node are used in its block.
    #[inline(always)]
    fn use_inputs<const COLD: bool>(&mut self, graph: &Graph, node: Node, rank: u32) {
        if COLD && self.is_cold[rank as usize] {
            return self.use_inputs_in_cold(graph, node, rank);
        }
        for &input in graph.inputs(node) {
            self.use_in::<COLD>(graph, input, rank);
        }
    }

    /// The best block for a value whose uses one dominates; that one if there may be no more steps.
    #[inline(always)]
    fn settle(&mut self, graph: &Graph, node: Node, late: u32) -> u32 {
        let home = self.choose(graph, node, late);
        if home != late && !self.steps.take() { late } else { home }
    }

    /// Lists the floating nodes of each block in the order of the bytecodes they are from; those from one bytecode with
    /// operands first.
    fn sort_by_origin(&mut self, graph: &Graph) {
        self.first.clear();
        self.first.resize(self.flow.order.len(), Node::NONE);
        self.next.clear();
        self.next.resize(graph.nodes.len(), Node::NONE);
        let origins = self.floating.iter().map(|node| graph.node(*node).origin);
        let (least, most) = origins.fold((u32::MAX, 0), |(least, most), at| (least.min(at), most.max(at)));
        let n_origins = most.saturating_sub(least) as usize;
        if n_origins > MAX_SPARSE * self.floating.len() {
            // Numbers of bytecodes that are not known yet are far apart.
            self.floating.sort_by_key(|node| graph.node(*node).origin);
            (0..self.floating.len()).rev().for_each(|at| self.list_first(self.floating[at]));
            return;
        }
        self.of_origin.clear();
        self.of_origin.resize(n_origins + 1, NONE);
        // Nobody asks any more how high a node may stand: `early` links those from one bytecode, the last first.
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

    /// Puts a node before the others that stand in the same block.
    fn list_first(&mut self, node: Node) {
        if self.home[node.at()] == NONE {
            return;
        }
        let first = &mut self.first[self.home[node.at()] as usize];
        self.next[node.at()] = core::mem::replace(first, node);
    }

    #[inline(always)]
    fn use_in<const COLD: bool>(&mut self, graph: &Graph, node: Node, rank: u32) {
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

    /// The first block of a chain, up to this one and no higher in the dominator tree than that, that ends with a later
    /// bytecode than a value's own: behind the checks of that.
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

    /// Whether a hot block runs as often as another one that dominates it, as far as is known.
    fn run_equally_often(&self, a: u32, b: u32) -> bool {
        let chain = |rank: u32| self.chains.position.get(rank as usize).map(|(_, start)| start);
        !self.chains.ranks.is_empty() && chain(a) == chain(b)
    }
}

/// Whether a value becomes part of instructions that use it: it has no operands, or is an address.
fn folds(graph: &Graph, node: Node) -> bool {
    let data = graph.node(node);
    data.inputs.len == 0 || graph.vocab.info(data.op).yields == Yields::Ptr
}

impl Lines {
    /// Lines blocks up by rank, each in the line of its innermost loop; a head stands in the line around its loop.
    fn fill(&mut self, flow: &Flow) {
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

    /// Calls `emit` with each rank in emission order: a loop's line right behind its head.
    fn each(&mut self, flow: &Flow, mut emit: impl FnMut(u32)) {
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
