//! Find out of which kinds values are: checks of kinds that are decided go.
//!
//! In and out: a graph as `build` makes it, with the operators `is`, `unbox` and `box` of the [kinds](crate::ir::kinds) of a
//! bytecode type. Out: a [`KindMask`] for each node, for `represent`; the same graph, in which branches on decided checks are
//! branches on constants. [`lower()`] then replaces the remaining operators on kinds by their formulas.
//!
//! The masks are found as in sparse conditional constant propagation (Wegman and Zadeck): optimistically, over the edges that
//! may be taken, so that a value which travels around a loop is a number if it starts as one and each iteration keeps it one. A
//! check that succeeded holds in all blocks that it dominates ([`facts`]). A comparison with the only word of a kind (`nil`, say) tells as much as a check
//! of that kind, and is decided as one: a number is not nil.
//!
//! A loop that starts with values of unknown kinds would check them again in each iteration. Where `build` has left a place to
//! exit in front of a loop, the checks are made there instead ([`guards`]), and whether its counters start with whole numbers
//! ([`starts`]).
//!
//! A check that fails in front of the same check, with nothing between, leads to where that fails ([`skip`]).
//!
//! A check that fails soon before another one of the same value does may be that one at once ([`stronger`]).
//!
//! Only what may be affected by a change is visited again: the blocks that check or pass on a value of which less is known. Cost:
//! linear in blocks, parameters and checks, times the number of kinds.

mod edges;
mod facts;
mod floats;
mod guards;
mod lower;
mod skip;
mod starts;
mod stronger;

pub use floats::load_floats;
pub use lower::lower;

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use crate::ir::bits::BitSet;
use crate::ir::graph::Graph;
use crate::ir::grouped::Grouped;
use crate::ir::index::{Block, Node};
use crate::ir::kinds::{KindCheck, KindMask};
use crate::vocab::{Op, Sig, Type};
use edges::{NewEdge, TakenEdges};
use facts::KindFacts;
use guards::Guards;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// By node: the kinds that the value may be of, wherever it is.
    masks: Vec<KindMask>,
    /// By node: the blocks, by rank, that check the value or pass it on to a parameter.
    uses: Grouped<u32>,
    facts: KindFacts,
    edges: TakenEdges,
    guards: Guards,
    /// The blocks that are to be visited, by rank, and none of them is before `next`.
    dirty: BitSet,
    next: usize,
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
    skip::skip_checks(graph, &mut scratch.steps);
    scratch.flow.find(graph);
    scratch.strengthen(graph);
    scratch.guards.gather(graph, &scratch.flow, &mut scratch.steps);
    scratch.guards.gather_starts(graph, &scratch.flow);
    scratch.start(graph);
    scratch.find_masks(graph);
    scratch.fold(graph);
    scratch.place_guards(graph);
    &scratch.masks
}

impl Scratch {
    /// What is known before the first visit: parameters have no values, constants have theirs.
    fn start(&mut self, graph: &Graph) {
        let Scratch { flow, masks, uses, facts, edges, guards, dirty, next, .. } = &mut *self;
        masks.resize(graph.nodes.len(), KindMask::ANY);
        edges.start(graph, flow);
        facts.find(graph, flow, edges, guards);
        uses.start(graph.nodes.len());
        each_use(graph, flow, guards, |value, _| uses.count(value.at()));
        uses.make_room(0);
        each_use(graph, flow, guards, |value, rank| uses.add(value.at(), rank));
        uses.finish();
        dirty.reset(flow.order.len());
        dirty.insert(0);
        *next = 0;
        for (at, node) in graph.nodes.iter().enumerate() {
            match node.op {
                Op::BOX => masks[at] = KindMask::only(node.imm),
                Op::CONST if !uses.group(at).is_empty() => {
                    masks[at] = KindMask::of_constant(graph.kinds, graph.vocab, node.imm);
                }
                _ => {}
            }
        }
        for &block in &flow.order {
            boxed_params(graph, block).for_each(|param| masks[param.at()] = KindMask::EMPTY);
        }
    }

    /// Finds the masks, and which edges may be taken.
    fn find_masks(&mut self, graph: &Graph) {
        while let Some(rank) = self.dirty.first_from(self.next) {
            self.dirty.remove(rank);
            self.next = rank + 1;
            if self.edges.is_reached(rank as u32) {
                self.visit(graph, rank as u32);
            }
        }
    }

    /// Has a block visited again.
    fn mark(&mut self, rank: u32) {
        self.dirty.insert(rank as usize);
        self.next = self.next.min(rank as usize);
    }

    /// Has all blocks visited again that use a value.
    fn mark_uses(&mut self, value: Node) {
        for at in self.uses.list(value.at()).range() {
            self.mark(self.uses.pool[at]);
        }
    }

    /// Visits a block: takes the edges from it.
    fn visit(&mut self, graph: &Graph, rank: u32) {
        let block = self.flow.order[rank as usize];
        self.drop_failing(block, rank);
        let decided = self.decision(graph, rank);
        for (succ, to) in graph.block(block).succs.iter().enumerate() {
            if decided.is_none_or(|holds| holds == (succ == 0)) {
                self.take(graph, rank, succ as u32, *to);
            }
        }
    }

    /// Takes an edge.
    fn take(&mut self, graph: &Graph, from: u32, succ: u32, to: Block) {
        let to_rank = self.flow.rank[to.at()];
        match self.edges.take(from, succ, to_rank) {
            NewEdge::First => self.mark(to_rank),
            // What the first edge has told of a value does not hold any more.
            NewEdge::Second(first) => self.each_told(graph, first, Self::mark_uses),
            NewEdge::Other => {}
        }
        let position = self.edges.position(from, succ);
        for &param in boxed_params(graph, to) {
            let given = self.mask_on(graph, graph.inputs(param)[position], from, succ);
            let mask = self.masks[param.at()].or(given);
            if core::mem::replace(&mut self.masks[param.at()], mask) != mask {
                self.mark_uses(param);
                self.drop_useless(to);
            }
        }
    }

    /// Calls a function with each value of which the end of a block tells something.
    fn each_told(&mut self, graph: &Graph, block: Block, mut tell: impl FnMut(&mut Self, Node)) {
        if let Some(check) = told_by(graph, block) {
            tell(self, check.value);
        }
        let guarded: Vec<Node> = self.guards.checks_at(block).map(|check| check.value).collect();
        guarded.into_iter().for_each(|value| tell(self, value));
    }

    /// The kinds that a value may be of in a block.
    fn mask_in(&self, value: Node, rank: u32) -> KindMask {
        let Scratch { masks, facts, flow, edges, guards, .. } = self;
        masks[value.at()].and(facts.about(value, rank, flow, edges, guards))
    }

    /// The kinds that a value may be of on an edge.
    fn mask_on(&self, graph: &Graph, value: Node, from: u32, succ: u32) -> KindMask {
        let mask = self.mask_in(value, from);
        match told_by(graph, self.flow.order[from as usize]) {
            Some(check) if check.value == value => mask.and(check.outcome(succ == 0)),
            _ => mask,
        }
    }

    /// The way that a branch goes, if that is known.
    fn decision(&self, graph: &Graph, rank: u32) -> Option<bool> {
        let block = self.flow.order[rank as usize];
        if let Some(check) = told_by(graph, block) {
            return check.decided_by(self.mask_in(check.value, rank));
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
            if !self.edges.is_reached(rank) || told_by(graph, block).is_none() {
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

/// Calls a function with each use of a value that may be boxed, and the rank of the block where it is used.
fn each_use(graph: &Graph, flow: &FlowGraph, guards: &Guards, mut tell: impl FnMut(Node, u32)) {
    for (rank, &block) in flow.order.iter().enumerate() {
        let rank = rank as u32;
        if let Some(check) = told_by(graph, block) {
            tell(check.value, rank);
        }
        guards.checks_at(block).for_each(|check| tell(check.value, rank));
        for &param in boxed_params(graph, block) {
            for (pred, &input) in core::iter::zip(&graph.block(block).preds, graph.inputs(param)) {
                let from = flow.rank[pred.block.at()];
                if from != NONE {
                    tell(input, from);
                }
            }
        }
    }
}

/// The flag of the branch at a block's end.
fn flag_of(graph: &Graph, block: Block) -> Option<Node> {
    let end = graph.block(block).end;
    (graph.node(end).op == Op::BR).then(|| graph.inputs(end)[0])
}

/// The kind and the value that the branch at a block's end checks.
fn check_of(graph: &Graph, block: Block) -> Option<(u64, Node)> {
    let flag = flag_of(graph, block)?;
    let data = graph.node(flag);
    (data.op == Op::IS).then(|| (data.imm, graph.inputs(flag)[0]))
}

/// What the branch at a block's end tells of the kind of a value, whether it checks that or compares the value with the only one of a kind.
fn told_by(graph: &Graph, block: Block) -> Option<KindCheck> {
    KindCheck::of(graph, flag_of(graph, block)?)
}

/// Adds a flag that holds if a value is of a kind.
fn add_check(graph: &mut Graph, value: Node, kind: u64, origin: u32) -> Node {
    graph.add(Op::IS, Sig { from: Type::Void, ty: Type::Flag }, &[value], kind, origin)
}
