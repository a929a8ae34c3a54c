//! Choose rules from the last node to the first: what is read from a register is needed there.

use super::{Scratch, Visit, walk};
use crate::grammar::TileSet;
use crate::grammar::pattern::Symbol;
use crate::grammar::states::NO_RULE;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::schedule::Schedule;
use crate::vocab::Type;

/// Sets the rule of each node that is the root of a tile.
pub(super) fn choose(scratch: &mut Scratch, graph: &Graph, schedule: &Schedule, set: &TileSet) {
    for &node in schedule.nodes.iter().rev() {
        let data = graph.node(node);
        // A flag is made where it is consumed, and what nobody needs is not made at all.
        if data.ty() == Type::Flag || !scratch.labels[node.at()].needed && graph.is_removable(node) {
            continue;
        }
        let rule = root(scratch, graph, set, node);
        if set.tiles[set.rules[rule as usize].tile as usize].entry {
            scratch.entries.push(node);
        }
        if scratch.facts[data.op.0 as usize].is_call {
            let arguments = &graph.inputs(node)[super::fixed_operands(graph, node)..];
            arguments.iter().for_each(|argument| scratch.labels[argument.at()].needed = true);
        }
    }
    scratch.entries.reverse();
}

/// Chooses the rule by which a node yields what its type says, and marks what that reads.
fn root(scratch: &mut Scratch, graph: &Graph, set: &TileSet, node: Node) -> u16 {
    let state = scratch.labels[node.at()].state;
    let rule = set.rule(state, Symbol::of(graph.node(node).ty()) as u16);
    if state == 0 || rule == NO_RULE {
        super::uncovered(graph, node);
    }
    scratch.labels[node.at()].rule = rule;
    walk(scratch, |scratch| &scratch.labels, graph, set, node, rule, &mut |scratch, visit| match visit {
        Visit::Leaf(child, symbol) if symbol == Symbol::Flag as u16 => {
            root(scratch, graph, set, child);
        }
        Visit::Leaf(child, _) => scratch.labels[child.at()].needed = true,
        Visit::Imm(_) => {}
    });
    rule
}
