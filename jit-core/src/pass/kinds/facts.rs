//! What checks have found out about the kinds of values, and in which blocks that holds.
//!
//! In: a graph, in which blocks end with checks or guards. Out: the mask of a value in any block, from the checks that dominate it. A
//! check tells something in the block that it leads to, if no other edge that may be taken leads there.

use super::edges::TakenEdges;
use super::guards::Guards;
use super::told_by;
use crate::ir::graph::Graph;
use crate::ir::grouped::Grouped;
use crate::ir::index::Node;
use crate::ir::kinds::KindMask;
use crate::pass::flow::{FlowGraph, NONE};

/// How many facts about a value are looked at, the nearest first.
const MAX_FACTS: usize = 16;

/// The mask of a value in a block, and in all blocks that it dominates.
#[derive(Clone, Copy, Debug)]
struct KindFact {
    /// The block's rank.
    block: u32,
    mask: KindMask,
    /// The edge that tells this, if the block is reached by no other.
    edge: u32,
    /// The check of a guard that tells this, unless it is dropped; `NONE` for a check of the program.
    check: u32,
}

const NO_FACT: KindFact = KindFact { block: 0, mask: KindMask::ANY, edge: NONE, check: NONE };

/// The facts that there may be about each node, by rank.
#[derive(Debug, Default)]
pub(super) struct KindFacts(Grouped<KindFact>);

impl KindFacts {
    /// Finds all facts that there may be.
    pub(super) fn find(&mut self, graph: &Graph, flow: &FlowGraph, edges: &TakenEdges, guards: &Guards) {
        self.0.start(graph.nodes.len());
        each_fact(graph, flow, edges, guards, |value, _| self.0.count(value.at()));
        self.0.make_room(NO_FACT);
        each_fact(graph, flow, edges, guards, |value, fact| self.0.add(value.at(), fact));
        self.0.finish();
    }

    /// What is known of a value in a block.
    pub(super) fn about(
        &self,
        value: Node,
        block: u32,
        flow: &FlowGraph,
        edges: &TakenEdges,
        guards: &Guards,
    ) -> KindMask {
        let all = self.0.group(value.at());
        let before = all.partition_point(|fact| fact.block <= block);
        let near = all[before.saturating_sub(MAX_FACTS)..before].iter();
        let holds = |fact: &&KindFact| {
            edges.is_only(fact.block, fact.edge)
                && !guards.is_dropped(fact.check)
                && flow.dominates(fact.block, block)
        };
        near.filter(holds).fold(KindMask::ANY, |mask, fact| mask.and(fact.mask))
    }
}

/// Calls a function with each fact, by the ranks of their blocks.
fn each_fact(
    graph: &Graph,
    flow: &FlowGraph,
    edges: &TakenEdges,
    guards: &Guards,
    mut tell: impl FnMut(Node, KindFact),
) {
    for (rank, &block) in flow.order.iter().enumerate() {
        for pred in &graph.block(block).preds {
            let from = flow.rank[pred.block.at()];
            if from == NONE {
                continue;
            }
            let fact = KindFact { block: rank as u32, edge: edges.number(from, pred.succ), ..NO_FACT };
            if let Some(check) = told_by(graph, pred.block) {
                tell(check.value, KindFact { mask: check.outcome(pred.succ == 0), ..fact });
            }
            if pred.succ == 0 {
                for (number, check) in guards.numbered_checks_at(pred.block) {
                    tell(check.value, KindFact { mask: KindMask::only(check.kind), check: number, ..fact });
                }
            }
        }
    }
}
