//! Choose rules from the last node to the first; nodes that a chosen tile reads from registers become needed.
//!
//! In: the labels. Out: the chosen tiles with their operands and constants, the last tile first.

use super::{Chosen, Marks, OpFacts, Scratch};
use crate::grammar::TileSet;
use crate::grammar::flatten::{ANY, ImmKind, NO_TILE};
use crate::grammar::pattern::Symbol;
use crate::grammar::states::NO_RULE;
use crate::ir::graph::{CallTarget, Graph};
use crate::ir::index::Node;
use crate::ir::schedule::Schedule;
use crate::vocab::Type;

/// Chooses a tile for each node that has an effect or is needed, and records what the tile covers.
pub(super) fn choose(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule, set: &TileSet) {
    let mut chooser = Chooser { scratch, graph, set };
    for &node in schedule.nodes.iter().rev() {
        // A flag is made where it is consumed, and an unneeded value is not made at all.
        let facts = chooser.scratch.facts(graph, node);
        let marks = chooser.scratch.labels[node.at()].marks;
        let stays = facts.contains(OpFacts::STAYS) && !marks.contains(Marks::COVERED);
        let needed = stays || marks.contains(Marks::NEEDED);
        if !needed || graph.node(node).ty() == Type::Flag {
            continue;
        }
        let tile = chooser.root(node);
        if set.tiles[tile as usize].entry {
            chooser.scratch.entries.push(node);
        }
        if facts.contains(OpFacts::IS_SECOND) {
            chooser.scratch.seconds.push((graph.inputs(node)[0], node));
        }
        if facts.contains(OpFacts::IS_CALL) {
            let arguments = &graph.inputs(node)[super::fixed_operands(graph, node)..];
            let labels = &mut chooser.scratch.labels;
            arguments.iter().for_each(|argument| labels[argument.at()].marks.insert(Marks::NEEDED));
        }
        if facts.contains(OpFacts::HAS_STATE) {
            for input in graph.inputs(node).iter().filter(|input| graph.as_const(**input).is_none()) {
                chooser.scratch.labels[input.at()].marks.insert(Marks::NEEDED);
            }
        }
    }
    chooser.scratch.entries.reverse();
}

struct Chooser<'a> {
    scratch: &'a mut Scratch,
    graph: &'a Graph,
    set: &'a TileSet,
}

/// The flag and the fault that a tile covers.
struct Covered {
    flag: Node,
    fault: Node,
}

impl Chooser<'_> {
    /// Chooses the tile of a node whose result has the node's type, and the tile of the flag that it consumes, if any.
    fn root(&mut self, mut node: Node) -> u16 {
        let mut first = NO_TILE;
        loop {
            let (leaves, imms) = (self.scratch.leaves.len() as u32, self.scratch.imms.len() as u32);
            let label = self.scratch.labels[node.at()];
            let rule = self.set.rule(label.state, Symbol::of(self.graph.node(node).ty()) as u16);
            if label.state == 0 || rule == NO_RULE {
                super::uncovered(self.graph, node);
            }
            let mut covered = Covered { flag: Node::NONE, fault: Node::NONE };
            self.cover(node, rule, &mut covered);
            let Covered { flag, fault } = covered;
            let tile = self.set.rules[rule as usize].tile;
            self.scratch.labels[node.at()].chosen = self.scratch.chosen.len() as u32;
            self.scratch.chosen.push(Chosen { tile, flag, fault, leaves, imms });
            if first == NO_TILE {
                first = tile;
            }
            // If another consumer has chosen a tile for the flag, the flag's state is the same here, and so is the tile.
            if !flag.is_some() || self.scratch.labels[flag.at()].chosen != u32::MAX {
                return first;
            }
            node = flag;
        }
    }

    /// Collects the operands of a rule and of the rules below it, in the order of the tile's pattern.
    fn cover(&mut self, node: Node, rule: u16, covered: &mut Covered) {
        let flat = &self.set.rules[rule as usize];
        let inputs = self.graph.inputs(node);
        for place in &flat.order[..flat.arity as usize] {
            let child = inputs[*place as usize];
            let symbol = flat.children[*place as usize];
            if symbol > ANY {
                self.cover(child, self.set.rule(self.scratch.labels[child.at()].state, symbol), covered);
            } else if symbol == Symbol::Flag as u16 {
                covered.flag = child;
            } else if symbol != ANY {
                self.scratch.labels[child.at()].marks.insert(Marks::NEEDED);
                self.scratch.leaves.push(child);
            }
        }
        let data = self.graph.node(node);
        if data.imm != 0 && self.scratch.facts(self.graph, node).contains(OpFacts::FAULTS) {
            self.scratch.labels[node.at()].marks.insert(Marks::COVERED);
            // Accesses below this one come first.
            if !covered.fault.is_some() {
                covered.fault = node;
            }
        }
        self.scratch.imms.push(match flat.imm {
            ImmKind::None => return,
            ImmKind::Plain => data.imm as i64,
            ImmKind::Signed => data.sig.ty.signed(data.imm),
            ImmKind::Callee => match self.graph.calls[data.imm as usize].target {
                CallTarget::Direct(address) => address as i64,
                CallTarget::Indirect => unreachable!("a call of a computed address has a form of its own"),
            },
        });
    }
}
