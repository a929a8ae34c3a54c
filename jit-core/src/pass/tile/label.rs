//! Give each node its state, operands first.
//!
//! In: a schedule. Out: the [`NodeLabel`] of each node.

use super::{Marks, NodeLabel, OpFacts, Scratch};
use crate::grammar::TileSet;
use crate::grammar::flatten::MAX_ARITY;
use crate::grammar::pattern::Symbol;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::schedule::Schedule;
use crate::vocab::Type;

/// Labels every node of the schedule.
pub(super) fn label(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule, set: &TileSet) {
    count(scratch, graph, schedule);
    let mut labeler = Labeler { scratch, graph, set, block: 0, epoch: 0, effects: 0 };
    for (at, block) in schedule.blocks.iter().enumerate() {
        labeler.block = at as u32;
        labeler.epoch += 1;
        labeler.effects += 1;
        for &node in schedule.nodes(block) {
            // A flag is labeled where it is consumed.
            if graph.node(node).ty() == Type::Flag {
                continue;
            }
            let facts = labeler.node(node);
            labeler.epoch += facts.contains(OpFacts::WRITES) as u32;
            labeler.effects += facts.intersects(OpFacts::WRITES | OpFacts::FAULTS) as u32;
        }
    }
}

/// Finds nodes that are used more than once. Goes backward, because users, parameters aside, come after a node.
fn count(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule) {
    let labels = &mut scratch.labels;
    let add = |labels: &mut [NodeLabel], node: Node, multi: bool| {
        let marks = &mut labels[node.at()].marks;
        marks.set(Marks::MULTI, marks.intersects(Marks::USED | Marks::MULTI) || multi);
        marks.insert(Marks::USED);
    };
    for block in &schedule.blocks {
        let data = graph.block(block.block);
        for param in &data.params {
            for (input, pred) in graph.inputs(*param).iter().zip(&data.preds) {
                if schedule.position[pred.block.at()] != u32::MAX {
                    add(labels, *input, false);
                    labels[input.at()].marks.insert(Marks::NEEDED);
                }
            }
        }
    }
    for &node in schedule.nodes.iter().rev() {
        let data = graph.node(node);
        let made_again = scratch.facts[data.op.0 as usize].contains(OpFacts::REPEATS)
            && labels[node.at()].marks.contains(Marks::MULTI);
        for input in graph.inputs(node) {
            add(labels, *input, made_again);
        }
    }
}

/// The constraints that a node takes over from operands that it sees through; see the fields of [`NodeLabel`].
struct Tied {
    bound: bool,
    epoch: u32,
    fault: u32,
}

struct Labeler<'a> {
    scratch: &'a mut Scratch,
    graph: &'a Graph,
    set: &'a TileSet,
    /// The current block, by position in the schedule.
    block: u32,
    /// Incremented by each block and each write.
    epoch: u32,
    /// Incremented by each block, each write, and each access that may fault.
    effects: u32,
}

impl Labeler<'_> {
    /// Labels a node as if it were at the current position.
    fn node(&mut self, node: Node) -> OpFacts {
        let data = self.graph.node(node);
        let facts = self.scratch.facts(self.graph, node);
        let mut tied = Tied {
            bound: !facts.contains(OpFacts::REPEATS),
            epoch: if facts.contains(OpFacts::READS) { self.epoch } else { 0 },
            // `effects` is incremented for this node right after it is labeled.
            fault: if facts.contains(OpFacts::FAULTS) { self.effects + 1 } else { 0 },
        };
        let state = if facts.contains(OpFacts::IS_CONST) {
            self.set.constant(data.ty(), data.imm)
        } else {
            let table = self.scratch.table(self.graph, self.set, node);
            if table == u16::MAX {
                super::uncovered(self.graph, node);
            }
            let op = &self.set.ops[table as usize];
            let mut operands = [0; MAX_ARITY];
            let inputs = core::iter::zip(&mut operands[..op.arity as usize], self.graph.inputs(node));
            for (operand, &input) in inputs {
                *operand = self.operand(input, data.ty(), &mut tied);
            }
            self.set.state(op, operands)
        };
        let has_register = data.ty() != Type::Flag && data.ty() != Type::Void;
        let cut_off = has_register
            && !facts.contains(OpFacts::REPEATS)
            && (self.scratch.chaos.one_in(6) || !self.scratch.steps.take());
        let label = &mut self.scratch.labels[node.at()];
        label.state = state;
        label.block = self.block;
        label.epoch = tied.epoch;
        label.fault = tied.fault;
        label.marks.set(Marks::BOUND, tied.bound);
        label.marks.set(Marks::OPAQUE, facts.intersects(OpFacts::IS_CALL | OpFacts::WRITES) || cut_off);
        facts
    }

    /// The state of an operand for a user of this type; adds the constraints of seeing it through to `tied`.
    #[inline]
    fn operand(&mut self, node: Node, user: Type, tied: &mut Tied) -> u16 {
        let data = self.graph.node(node);
        if data.ty() == Type::Flag {
            self.node(node);
        }
        let NodeLabel { marks, block, epoch, fault, state, .. } = self.scratch.labels[node.at()];
        let repeats = || self.scratch.facts[data.op.0 as usize].contains(OpFacts::REPEATS);
        let leaf = marks.contains(Marks::OPAQUE)
            || marks.contains(Marks::MULTI) && !repeats()
            || marks.contains(Marks::BOUND) && block != self.block
            || epoch != 0 && epoch != self.epoch
            || fault != 0 && (fault != self.effects || user.is_value() && user.bits() < data.ty().bits());
        if leaf {
            return TileSet::leaf(Symbol::of(data.ty()));
        }
        tied.bound |= marks.contains(Marks::BOUND);
        tied.epoch = tied.epoch.max(epoch);
        tied.fault = tied.fault.max(fault);
        state
    }
}
