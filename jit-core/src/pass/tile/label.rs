//! Give each node its state, operands first.

use super::Scratch;
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
            labeler.node(node);
            let facts = labeler.scratch.facts(graph, node);
            labeler.epoch += facts.writes as u32;
            labeler.effects += (facts.writes || facts.faults) as u32;
        }
    }
}

/// Finds out what is used more than once. Goes backward: a node's users, parameters aside, stand behind it.
fn count(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule) {
    let labels = &mut scratch.labels;
    let add = |labels: &mut Vec<super::Label>, node: Node, multi: bool| {
        let label = &mut labels[node.at()];
        label.uses = (label.uses + 1).min(2);
        label.multi |= multi || label.uses > 1;
    };
    for block in &schedule.blocks {
        let data = graph.block(block.block);
        for param in &data.params {
            for (input, pred) in graph.inputs(*param).iter().zip(&data.preds) {
                if schedule.position[pred.block.at()] != u32::MAX {
                    add(labels, *input, false);
                    labels[input.at()].needed = true;
                }
            }
        }
    }
    for &node in schedule.nodes.iter().rev() {
        let data = graph.node(node);
        let made_again = scratch.facts[data.op.0 as usize].repeats && labels[node.at()].multi;
        for input in graph.inputs(node) {
            add(labels, *input, made_again);
        }
    }
}

/// To what a node is tied by what is seen through from it: [`Label`](super::Label) says what this means.
struct Tied {
    bound: bool,
    epoch: u32,
    fault: u32,
}

struct Labeler<'a> {
    scratch: &'a mut Scratch,
    graph: &'a Graph,
    set: &'a TileSet,
    /// Where the walk is, by position in the schedule.
    block: u32,
    /// Grows with each block and each write.
    epoch: u32,
    /// Grows with each block, each write, and each access that may fault.
    effects: u32,
}

impl Labeler<'_> {
    /// Labels a node as if it stood where the walk is.
    fn node(&mut self, node: Node) {
        let data = self.graph.node(node);
        let facts = self.scratch.facts(self.graph, node);
        let mut tied = Tied {
            bound: !facts.repeats,
            epoch: if facts.reads { self.epoch } else { 0 },
            // Nothing is between it and what comes right behind it.
            fault: if facts.faults { self.effects + 1 } else { 0 },
        };
        let state = if facts.is_const {
            self.set.constant(data.ty(), data.imm)
        } else {
            let table = self.scratch.table(self.graph, self.set, node);
            if table == u16::MAX {
                super::uncovered(self.graph, node);
            }
            let op = &self.set.ops[table as usize];
            let mut operands = [0; MAX_ARITY];
            for (place, input) in self.graph.inputs(node).iter().take(op.arity as usize).enumerate() {
                operands[place] = self.operand(*input, data.ty(), &mut tied);
            }
            self.set.state(op, operands)
        };
        let has_register = data.ty() != Type::Flag && data.ty() != Type::Void;
        let cut_off = has_register && !facts.repeats && self.scratch.chaos.one_in(6);
        let label = &mut self.scratch.labels[node.at()];
        label.state = state;
        label.block = self.block;
        label.epoch = tied.epoch;
        label.fault = tied.fault;
        label.bound = tied.bound;
        label.opaque = facts.is_call || facts.writes || cut_off;
    }

    /// The state in which an operand is seen by what yields this type; what seeing it through ties that to is added.
    #[inline]
    fn operand(&mut self, node: Node, user: Type, tied: &mut Tied) -> u16 {
        let data = self.graph.node(node);
        if data.ty() == Type::Flag {
            self.node(node);
        }
        let label = &self.scratch.labels[node.at()];
        let leaf = label.opaque
            || label.multi && !self.scratch.facts[data.op.0 as usize].repeats
            || label.bound && label.block != self.block
            || label.epoch != 0 && label.epoch != self.epoch
            || label.fault != 0
                && (label.fault != self.effects || user.is_value() && user.bits() < data.ty().bits());
        if leaf {
            return TileSet::leaf(Symbol::of(data.ty()));
        }
        tied.bound |= label.bound;
        tied.epoch = tied.epoch.max(label.epoch);
        tied.fault = tied.fault.max(label.fault);
        label.state
    }
}
