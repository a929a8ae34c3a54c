//! Run the first iteration of a loop in front of the loop.
//!
//! In and out: a graph. Out: an innermost loop in whose every iteration a load finds what it found in the first one has a copy of itself
//! in front, which runs once and goes on in the loop. Nothing else is done about that load here: it finds in memory what the copy loaded, so
//! [`forward`](super::forward) removes it from the loop, and checks of what it loaded are decided by those in front. So loads behind
//! checks leave the loop without anybody having to promise that they could be made earlier: they are made where they were made.
//!
//! ```text
//!     before: jump head                        before: jump head'
//!     head: i = param before, latch            head': if ready?: body'         i' is what it starts with
//!       if ready?: body, exit                  body': x = load p; jump head    exit' is a copy, too
//!     body: x = load p; jump head              head: i = param head', body
//!                                                if ready?: body, exit
//!                                              body: x is known
//! ```
//!
//! Such a load stands in each iteration, at an address from outside the loop, where the loop does not write. Loads at the loop's
//! head are moved by `forward` itself. What only leads away from the loop is copied with it ([`copy`]); behind it there is one block where
//! control goes on, which gets a parameter for each value from the loop that is used there. Needs: equal addresses are one node
//! (`rewrite`). Keeps: the order of effects. Cost: linear in the graph, for each of at most [`MAX_LOOPS`] loops of at most [`MAX_NODES`].

mod copy;

use super::chaos::Chaos;
use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use super::places::{MAX_ADDRESS, MemoryPlace, WrittenPlaces};
use crate::ir::graph::{Graph, Heat, Pred};
use crate::ir::index::{Block, Node};
use crate::ir::regions::MemoryRegions;
use crate::vocab::{Op, Type};

/// How many loops of a function are copied; the most deeply nested come first.
const MAX_LOOPS: usize = 8;

/// How many pinned nodes a loop may have, together with what leads away from it.
const MAX_NODES: usize = 256;

/// How many pinned nodes a loop may have that is copied for what it carries: most are checks that are decided then.
const MAX_NODES_OF_CARRIED: usize = 1024;

/// How many blocks behind a loop, one after another, end the function soon.
const MAX_WAY_OUT: usize = 4;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    writes: WrittenPlaces,
    region: Region,
    is_in_region: Vec<bool>,
    work: Vec<Node>,
    copy: copy::Scratch,
    pub(super) chaos: Chaos,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Memory for tests, in which any loop may be copied that has a shape for it. The same seed makes the same choices.
    ///
    /// ```
    /// use azulejo_core::pass::peel::{Scratch, peel};
    /// use azulejo_core::text::parse;
    /// use azulejo_core::vocab::Vocabulary;
    /// let text = "b0:\n    v0 = tc\n    jump b1\nb1 <- b0 b1:\n    v1 = load.i64 v0\n    br v2 b1 b2\n\
    ///     v2 = nz.i64 v1\nb2 <- b1.1:\n    return.i64 v1\n";
    /// let graph = parse::graph(Vocabulary::BUILTIN, text).unwrap();
    /// assert!(!peel(&mut Scratch::default(), &mut graph.clone()), "forward moves a load at the head itself");
    /// let is_copied = |seed| peel(&mut Scratch::with_chaos(seed), &mut graph.clone());
    /// assert!((1..20).any(is_copied) && !(1..20).all(is_copied));
    /// ```
    pub fn with_chaos(seed: u64) -> Scratch {
        Scratch { chaos: Chaos::new(seed), ..Scratch::default() }
    }

    /// Frees the memory.
    pub(super) fn release(&mut self) {
        let Scratch { chaos, steps, .. } = core::mem::take(self);
        *self = Scratch { chaos, steps, ..Scratch::default() };
    }
}

/// What is copied: a loop, and the blocks that only lead away from it.
#[derive(Debug, Default)]
struct Region {
    /// The blocks; each comes behind its predecessors, but for edges back to the first one, which is the loop's head.
    blocks: Vec<Block>,
    /// The only edge from outside into the loop's head.
    before: Option<Pred>,
    /// The only block outside to which control goes on, if there is one. All its predecessors are in the region.
    behind: Option<Block>,
}

/// Copies loops; returns whether there were any.
pub fn peel(scratch: &mut Scratch, graph: &mut Graph) -> bool {
    if !scratch.flow.find_if_loops(graph) {
        return false;
    }
    let mut loops = innermost(&scratch.flow);
    if loops.is_empty() {
        return false;
    }
    scratch.writes.find(graph, &scratch.flow);
    loops.retain(|(this, blocks)| scratch.pays(graph, *this, blocks));
    loops.sort_by_key(|(this, _)| core::cmp::Reverse(scratch.flow.loops[*this as usize].depth));
    loops.truncate(MAX_LOOPS);
    let mut has_changed = false;
    for (this, blocks) in &loops {
        has_changed |= scratch.copy(graph, *this, blocks, MAX_NODES);
    }
    has_changed
}

/// Copies the innermost loops with these heads, as something is known of what they carry behind their first iteration. Returns whether there
/// were any.
pub fn peel_loops(scratch: &mut Scratch, graph: &mut Graph, heads: &[Block]) -> bool {
    if heads.is_empty() || !scratch.flow.find_if_loops(graph) {
        return false;
    }
    let mut has_changed = false;
    for (this, blocks) in innermost(&scratch.flow) {
        has_changed |= heads.contains(&blocks[0]) && scratch.copy(graph, this, &blocks, MAX_NODES_OF_CARRIED);
    }
    has_changed
}

/// The loops that contain no other, each with its blocks in their order.
fn innermost(flow: &FlowGraph) -> Vec<(u32, Vec<Block>)> {
    let mut blocks: Vec<Option<Vec<Block>>> = vec![Some(Vec::new()); flow.loops.len()];
    for parent in flow.loops.iter().map(|this| this.parent).filter(|parent| *parent != NONE) {
        blocks[parent as usize] = None;
    }
    for (block, &inner) in core::iter::zip(&flow.order, &flow.innermost) {
        if let Some(blocks) = blocks.get_mut(inner as usize).and_then(Option::as_mut) {
            blocks.push(*block);
        }
    }
    core::iter::zip(0.., blocks).filter_map(|(this, blocks)| Some((this, blocks?))).collect()
}

impl Scratch {
    /// Whether each iteration makes a load that finds what the first one found. With chaos, it pays for others, too.
    fn pays(&mut self, graph: &Graph, this: u32, blocks: &[Block]) -> bool {
        if self.chaos.one_in(2) {
            return true;
        }
        let n_nodes: usize = blocks.iter().map(|block| n_nodes(graph, *block)).sum();
        if n_nodes > MAX_NODES || self.writes.of(this) == MemoryRegions::ALL {
            return false;
        }
        let head = self.flow.loops[this as usize].head;
        let (first, rest) = blocks.split_first().expect("a loop has a head");
        debug_assert_eq!(self.flow.rank[first.at()], head);
        rest.iter().any(|&block| {
            let rank = self.flow.rank[block.at()];
            let always_runs = || {
                let mut back = graph.block(*first).preds.iter().map(|pred| self.flow.rank[pred.block.at()]);
                back.all(|from| !self.flow.goes_around(head, from) || self.flow.dominates(rank, from))
            };
            always_runs() && graph.block(block).body.iter().any(|node| self.stays(graph, this, *node))
        })
    }

    /// Whether a node is a load that finds the same in all iterations.
    fn stays(&mut self, graph: &Graph, this: u32, node: Node) -> bool {
        if graph.node(node).op != Op::LOAD || graph.may_fault(node) {
            return false;
        }
        let Scratch { flow, work, writes, .. } = self;
        let before = flow.idom[flow.loops[this as usize].head as usize];
        flow.is_known_in(graph, work, graph.inputs(node)[0], before, MAX_ADDRESS)
            && !writes.may_write(flow, this, MemoryPlace::of_load(graph, node, |node| node))
    }

    /// Copies a loop, unless it has more nodes, or no shape for it; returns whether it did.
    fn copy(&mut self, graph: &mut Graph, this: u32, blocks: &[Block], most: usize) -> bool {
        let is_copied = self.find_region(graph, this, blocks, most) && self.steps.take();
        if is_copied {
            let Scratch { flow, region, copy, .. } = self;
            copy::copy(copy, graph, flow, region);
        }
        is_copied
    }

    /// Finds what is copied for a loop; returns false if that is too much, or has no shape that can be copied.
    fn find_region(&mut self, graph: &Graph, this: u32, blocks: &[Block], most: usize) -> bool {
        self.is_in_region.clear();
        self.is_in_region.resize(graph.blocks.len(), false);
        self.region.blocks.clear();
        self.region.blocks.extend_from_slice(blocks);
        blocks.iter().for_each(|block| self.is_in_region[block.at()] = true);
        if !self.find_edge_before(graph, this) || self.is_irregular(graph) {
            return false;
        }
        // Where control leaves in several places, blocks that only jump may lead to where it goes on.
        let is_found = [false, true].into_iter().any(|takes_jumps| {
            self.add_ways_out(graph, takes_jumps);
            self.find_behind(graph)
        });
        let n_nodes: usize = self.region.blocks.iter().map(|block| n_nodes(graph, *block)).sum();
        self.region.blocks.sort_unstable_by_key(|block| self.flow.rank[block.at()]);
        is_found && n_nodes <= most
    }

    /// Finds the only edge from outside into the loop's head.
    fn find_edge_before(&mut self, graph: &Graph, this: u32) -> bool {
        let head = self.region.blocks[0];
        debug_assert_eq!(self.flow.loops[this as usize].head, self.flow.rank[head.at()]);
        let is_outside = |pred: &&Pred| !self.is_in_region[pred.block.at()];
        let mut ways = graph.block(head).preds.iter().filter(is_outside);
        self.region.before = ways.next().copied();
        self.region.before.is_some() && ways.next().is_none()
    }

    /// Whether control goes around in the loop but by its head, or a pinned node has a flag, which no parameter may carry.
    fn is_irregular(&self, graph: &Graph) -> bool {
        let head = self.region.blocks[0];
        self.region.blocks.iter().any(|&block| {
            let rank = self.flow.rank[block.at()];
            // A block that is itself a copy comes behind.
            let goes_back =
                |succ: &Block| *succ != head && self.flow.rank.get(succ.at()).is_some_and(|to| *to <= rank);
            let data = graph.block(block);
            data.succs.iter().any(goes_back)
                || data.body.iter().any(|node| graph.node(*node).ty() == Type::Flag)
        })
    }

    /// Adds the blocks that are entered only from the region and are cold, or end the function soon; if `takes_jumps`, those that only
    /// jump, too.
    fn add_ways_out(&mut self, graph: &Graph, takes_jumps: bool) {
        let mut at = 0;
        while at < self.region.blocks.len() {
            for &succ in &graph.block(self.region.blocks[at]).succs {
                let data = graph.block(succ);
                let only_jumps = takes_jumps && data.params.is_empty() && data.body.is_empty();
                if !self.is_in_region[succ.at()]
                    && succ.at() < self.flow.rank.len()
                    && data.preds.iter().all(|pred| self.is_in_region[pred.block.at()])
                    && (data.heat == Heat::Cold
                        || ends_soon(graph, succ)
                        || only_jumps && data.succs.len() == 1)
                {
                    self.is_in_region[succ.at()] = true;
                    self.region.blocks.push(succ);
                }
            }
            at += 1;
        }
    }

    /// Finds the only block to which control goes on; returns false if there are several, or if others go on there, or if it is itself a
    /// copy: nobody would know which blocks the parameters that it gets are there before.
    fn find_behind(&mut self, graph: &Graph) -> bool {
        self.region.behind = None;
        let succs = self.region.blocks.iter().flat_map(|block| &graph.block(*block).succs);
        for &succ in succs.filter(|succ| !self.is_in_region[succ.at()]) {
            if self.region.behind.replace(succ).is_some_and(|behind| behind != succ) {
                return false;
            }
        }
        let is_inside = |pred: &Pred| self.is_in_region[pred.block.at()];
        self.region.behind.is_none_or(|behind| {
            behind.at() < self.flow.rank.len() && graph.block(behind).preds.iter().all(is_inside)
        })
    }
}

/// How many pinned nodes a block has.
fn n_nodes(graph: &Graph, block: Block) -> usize {
    let data = graph.block(block);
    data.params.len() + data.body.len() + 1
}

/// Whether control ends the function soon behind the start of a block, on the only way that there is.
fn ends_soon(graph: &Graph, mut block: Block) -> bool {
    for _ in 0..MAX_WAY_OUT {
        match graph.block(block).succs[..] {
            [] => return true,
            [next] if graph.block(next).preds.len() == 1 => block = next,
            _ => return false,
        }
    }
    false
}
