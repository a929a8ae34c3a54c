//! Give each node its state, operands first.
//!
//! In: a schedule. Out: the [`NodeLabel`] of each node.

use super::{Marks, NodeLabel, OpFacts, Scratch};
use crate::grammar::TileSet;
use crate::grammar::flatten::MAX_ARITY;
use crate::grammar::pattern::Symbol;
use crate::ir::graph::{Access, Graph};
use crate::ir::index::Node;
use crate::ir::schedule::{Schedule, ScheduledBlock};
use crate::vocab::Type;

/// Labels every node of the schedule.
pub(super) fn label(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule, set: &TileSet) {
    count(scratch, graph, schedule);
    let mut labeler = Labeler { scratch, graph, set, block: 0, epoch: 0, writes: 0, effects: 0 };
    for (at, block) in schedule.blocks.iter().enumerate() {
        labeler.block = at as u32;
        labeler.enter(block, schedule);
        labeler.effects += 1;
        for &node in schedule.nodes(block) {
            // A flag is labeled where it is consumed.
            if graph.node(node).ty() == Type::Flag {
                continue;
            }
            let facts = labeler.node(node);
            if facts.contains(OpFacts::WRITES) {
                labeler.new_epoch();
            }
            labeler.effects += facts.intersects(OpFacts::WRITES | OpFacts::FAULTS) as u32;
        }
        let epoch = labeler.epoch;
        labeler.scratch.epochs.push(epoch);
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
        if let Some(load) = again(&scratch.facts, graph, node) {
            // It does not use the value that was loaded, but what that was loaded by.
            graph.inputs(load).iter().for_each(|input| add(labels, *input, true));
            continue;
        }
        let made_again = scratch.facts[data.op.0 as usize].contains(OpFacts::REPEATS)
            && labels[node.at()].marks.contains(Marks::MULTI);
        for input in graph.inputs(node) {
            add(labels, *input, made_again);
        }
    }
}

/// The load from a slot that a node makes once more, into the other register file, if nothing has been written since.
fn again(facts: &[OpFacts], graph: &Graph, node: Node) -> Option<Node> {
    let data = graph.node(node);
    let facts_of = |node: Node| facts[graph.node(node).op.0 as usize];
    if !facts_of(node).contains(OpFacts::IS_BITS) || data.sig.from.class() == data.sig.ty.class() {
        return None;
    }
    let load = graph.inputs(node)[0];
    let is_load = facts_of(load).contains(OpFacts::IS_ACCESS | OpFacts::READS);
    if !is_load
        || facts_of(load).contains(OpFacts::WRITES)
        || matches!(Access::of(graph.node(load).imm), Access::Within(_))
    {
        return None;
    }
    let mut base = graph.inputs(load)[0];
    while !facts_of(base).contains(OpFacts::IS_SLOTS) {
        // A slot whose number is in a register takes as long to load as the bits to move.
        let [address] = graph.inputs(base) else { return None };
        base = Some(*address).filter(|_| facts_of(base).contains(OpFacts::REPEATS))?;
    }
    Some(load)
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
    /// Changes with each write. A block with a single predecessor starts with the epoch in which that ends.
    epoch: u32,
    /// How many epochs there have been.
    writes: u32,
    /// Incremented by each block, each write, and each access that may fault.
    effects: u32,
}

impl Labeler<'_> {
    fn new_epoch(&mut self) {
        self.writes += 1;
        self.epoch = self.writes;
    }

    fn enter(&mut self, block: &ScheduledBlock, schedule: &Schedule) {
        let before = match self.graph.block(block.block).preds[..] {
            [only] => self.scratch.epochs.get(schedule.position[only.block.at()] as usize).copied(),
            _ => None,
        };
        match before {
            Some(epoch) => self.epoch = epoch,
            None => self.new_epoch(),
        }
    }

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
            let again = again(&self.scratch.facts, self.graph, node);
            for (operand, &input) in inputs {
                *operand = match again {
                    Some(load) => self.loaded_again(load, &mut tied),
                    None => self.operand(input, data.ty(), &mut tied),
                };
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

    /// The state of an operand that its user loads from its slot once more, unless that has been written since.
    fn loaded_again(&mut self, load: Node, tied: &mut Tied) -> u16 {
        let NodeLabel { marks, epoch, state, .. } = self.scratch.labels[load.at()];
        if epoch != 0 && epoch != self.epoch || marks.contains(Marks::OPAQUE) {
            return TileSet::leaf(Symbol::of(self.graph.node(load).ty()));
        }
        tied.bound = true;
        tied.epoch = tied.epoch.max(epoch);
        state
    }
}
