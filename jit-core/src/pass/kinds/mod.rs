//! Find out of which kinds values are: checks of kinds that are decided go.
//!
//! In and out: a graph as `build` makes it, with the operators `is`, `unbox` and `box` of the [kinds](crate::ir::kinds) of a
//! bytecode type. Out: a [`KindMask`] for each node, for `represent`; the same graph, in which branches on decided checks are
//! branches on constants. [`lower()`] then replaces the remaining operators on kinds by their formulas.
//!
//! The masks are found as in sparse conditional constant propagation (Wegman and Zadeck): optimistically, over the edges that
//! may be taken, so that a value which travels around a loop is a number if it starts as one and each iteration keeps it one. A
//! check that succeeded holds in all blocks that it dominates ([`facts`]).
//!
//! A loop that starts with values of unknown kinds would check them again in each iteration. Where `build` has left a place to
//! exit in front of a loop, the checks are made there instead ([`guards`]).
//!
//! Blocks are visited in reverse postorder. What an edge back changes is followed at once, from the head of its loop on, so that a
//! loop is done before the code behind it is visited. Cost: linear in blocks, parameters and checks, times the depth of loops; a
//! limit gives up what is assumed.

mod facts;
mod guards;
mod lower;

pub use lower::lower;

use super::flow::FlowGraph;
use super::limits::Steps;
use crate::ir::bits::BitSet;
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::ir::kinds::KindMask;
use crate::vocab::{Op, Type};
use facts::Facts;
use guards::Guards;

/// How many visits of blocks there are for each block, before nothing is assumed any more.
const MAX_VISITS: usize = 12;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// By node: the kinds that the value may be of, wherever it is.
    masks: Vec<KindMask>,
    /// By rank: the number of the block's first edge to a successor.
    first_edge: Vec<u32>,
    /// By number of the edge: its position among the edges into its target.
    position: Vec<u32>,
    /// The edges that may be taken, and the blocks that may be reached, by rank.
    taken: BitSet,
    reached: BitSet,
    facts: Facts,
    guards: Guards,
    has_given_up: bool,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Folds the checks of kinds that are decided. Returns the masks by node; none if the graph has no kinds.
pub fn kinds<'a>(scratch: &'a mut Scratch, graph: &mut Graph) -> &'a [KindMask] {
    scratch.masks.clear();
    if graph.kinds.is_empty() {
        return &scratch.masks;
    }
    scratch.flow.find(graph);
    scratch.number_edges(graph);
    scratch.guards.gather(graph, &scratch.flow, &mut scratch.steps);
    scratch.find_masks(graph);
    scratch.fold(graph);
    scratch.place_guards(graph);
    &scratch.masks
}

impl Scratch {
    fn number_edges(&mut self, graph: &Graph) {
        self.first_edge.clear();
        let mut n_edges = 0;
        for block in &self.flow.order {
            self.first_edge.push(n_edges);
            n_edges += graph.block(*block).succs.len() as u32;
        }
        self.position.clear();
        self.position.resize(n_edges as usize, 0);
        for block in &self.flow.order {
            for (position, pred) in graph.block(*block).preds.iter().enumerate() {
                let from = self.flow.rank[pred.block.at()];
                if from != super::flow::NONE {
                    self.position[(self.first_edge[from as usize] + pred.succ) as usize] = position as u32;
                }
            }
        }
    }

    /// Finds the masks, and which edges may be taken.
    fn find_masks(&mut self, graph: &Graph) {
        self.start(graph);
        let n_blocks = self.flow.order.len() as u32;
        let (mut rank, mut left) = (0, MAX_VISITS * n_blocks as usize);
        while rank < n_blocks {
            let again = self.visit(graph, rank);
            rank = match left.checked_sub(1) {
                Some(fewer) => {
                    left = fewer;
                    again.min(rank + 1)
                }
                // All that is still possible is to find out what holds below each check.
                None if left == 0 && !self.has_given_up => {
                    self.give_up(graph);
                    0
                }
                None => rank + 1,
            };
        }
    }

    /// The masks before the first visit: parameters have no values, constants have theirs.
    fn start(&mut self, graph: &Graph) {
        self.masks.clear();
        self.masks.resize(graph.nodes.len(), KindMask::ANY);
        self.taken.reset(self.position.len());
        self.reached.reset(self.flow.order.len());
        self.reached.insert(0);
        self.facts.reset(graph.nodes.len());
        self.has_given_up = false;
        for (at, node) in graph.nodes.iter().enumerate() {
            match node.op {
                Op::BOX => self.masks[at] = KindMask::only(node.imm),
                Op::IS => self.note_constant(graph, graph.inputs(Node::from(at))[0]),
                _ => {}
            }
        }
        for &block in &self.flow.order {
            for &param in boxed_params(graph, block) {
                self.masks[param.at()] = KindMask::EMPTY;
            }
        }
        for at in 0..self.flow.order.len() {
            for &param in boxed_params(graph, self.flow.order[at]) {
                graph.inputs(param).iter().for_each(|input| self.note_constant(graph, *input));
            }
        }
    }

    fn note_constant(&mut self, graph: &Graph, node: Node) {
        if let Some(bits) = graph.as_const(node) {
            self.masks[node.at()] = KindMask::of_constant(graph.kinds, graph.vocab, bits);
        }
    }

    /// Assumes nothing of parameters, that every edge may be taken, and that no check was made in front of a loop.
    fn give_up(&mut self, graph: &Graph) {
        self.has_given_up = true;
        self.guards.drop_all();
        self.reached = BitSet::full(self.flow.order.len());
        self.taken = BitSet::full(self.position.len());
        for &block in &self.flow.order {
            for &param in boxed_params(graph, block) {
                self.masks[param.at()] = KindMask::ANY;
            }
        }
    }

    /// Visits a block: takes the edges from it. Returns the first block that has to be visited again, by rank, or `u32::MAX`.
    fn visit(&mut self, graph: &Graph, rank: u32) -> u32 {
        let mut again = u32::MAX;
        self.facts.start(rank);
        if !self.reached.contains(rank as usize) {
            return again;
        }
        let block = self.flow.order[rank as usize];
        self.note_way_in(graph, rank);
        self.drop_failing(block, rank);
        let decided = self.decision(graph, rank);
        for (succ, to) in graph.block(block).succs.iter().enumerate() {
            if decided.is_some_and(|holds| holds != (succ == 0)) {
                continue;
            }
            if self.take(graph, rank, succ as u32, *to) {
                again = again.min(self.flow.rank[to.at()]);
            }
            again = again.min(self.drop_useless(*to));
        }
        again
    }

    /// Takes an edge. Returns whether anything is new at its target.
    fn take(&mut self, graph: &Graph, from: u32, succ: u32, to: Block) -> bool {
        let edge = (self.first_edge[from as usize] + succ) as usize;
        let mut is_new = !self.taken.contains(edge);
        self.taken.insert(edge);
        self.reached.insert(self.flow.rank[to.at()] as usize);
        let position = self.position[edge] as usize;
        for &param in boxed_params(graph, to) {
            let given = self.mask_on(graph, graph.inputs(param)[position], from, succ);
            let mask = self.masks[param.at()].or(given);
            is_new |= core::mem::replace(&mut self.masks[param.at()], mask) != mask;
        }
        is_new
    }

    /// The kinds that a value may be of in a block.
    fn mask_in(&self, value: Node, rank: u32) -> KindMask {
        self.masks[value.at()].and(self.facts.about(value, rank, &self.flow))
    }

    /// The kinds that a value may be of on an edge.
    fn mask_on(&self, graph: &Graph, value: Node, from: u32, succ: u32) -> KindMask {
        let mask = self.mask_in(value, from);
        match check_of(graph, self.flow.order[from as usize]) {
            Some((kind, checked)) if checked == value => mask.and(outcome(kind, succ == 0)),
            _ => mask,
        }
    }

    /// Notes what is known in a block because control came in by its only edge.
    fn note_way_in(&mut self, graph: &Graph, rank: u32) {
        let mut only = None;
        for pred in &graph.block(self.flow.order[rank as usize]).preds {
            let from = self.flow.rank[pred.block.at()];
            let is_taken = from != super::flow::NONE
                && self.taken.contains((self.first_edge[from as usize] + pred.succ) as usize);
            match is_taken {
                true if only.is_some() => return,
                true => only = Some(*pred),
                false => {}
            }
        }
        let Some(pred) = only else { return };
        if let Some((kind, value)) = check_of(graph, pred.block) {
            self.facts.add(value, rank, outcome(kind, pred.succ == 0));
        }
        for check in self.guards.checks_at(pred.block) {
            self.facts.add(check.value, rank, KindMask::only(check.kind));
        }
    }

    /// The way that a branch goes, if that is known.
    fn decision(&self, graph: &Graph, rank: u32) -> Option<bool> {
        let block = self.flow.order[rank as usize];
        if let Some((kind, value)) = check_of(graph, block) {
            return self.mask_in(value, rank).says(kind);
        }
        let end = graph.block(block).end;
        if graph.node(end).op != Op::BR {
            return None;
        }
        (graph.node(graph.inputs(end)[0]).op == Op::SPECULATE).then_some(true)
    }

    /// Replaces the flags of branches that are decided, and all other decided checks, by constants.
    fn fold(&mut self, graph: &mut Graph) {
        for rank in 0..self.flow.order.len() as u32 {
            let block = self.flow.order[rank as usize];
            if !self.reached.contains(rank as usize) || check_of(graph, block).is_none() {
                continue;
            }
            if let Some(holds) = self.decision(graph, rank)
                && self.steps.take()
            {
                let end = graph.block(block).end;
                let flag = graph.known_flag(holds, graph.node(end).origin);
                graph.set_inputs(end, &[flag]);
            }
        }
        self.masks.resize(graph.nodes.len(), KindMask::ANY);
    }
}

/// The parameters of a block that may be boxed values.
fn boxed_params(graph: &Graph, block: Block) -> impl Iterator<Item = &Node> {
    graph.block(block).params.iter().filter(|param| graph.node(**param).ty() == Type::I64)
}

/// The kind and the value that the branch at a block's end checks.
fn check_of(graph: &Graph, block: Block) -> Option<(u64, Node)> {
    let end = graph.block(block).end;
    if graph.node(end).op != Op::BR {
        return None;
    }
    let flag = graph.inputs(end)[0];
    let data = graph.node(flag);
    (data.op == Op::IS).then(|| (data.imm, graph.inputs(flag)[0]))
}

/// What is known of a value after a check.
fn outcome(kind: u64, holds: bool) -> KindMask {
    if holds { KindMask::only(kind) } else { KindMask::but(kind) }
}
