//! Judge of the graph of a stencil whose holes are closed.

use super::Violation;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::Op;

/// The holes that are left, except for those that a register may hold.
pub fn closed(graph: &Graph, may_be_held: bool) -> Vec<Violation> {
    let is_left = |op: Op| op == Op::OPEN_ADDR || op == Op::OPEN && !may_be_held;
    let left = graph.nodes.iter().enumerate().filter(|(_, node)| is_left(node.op));
    let violation = |(at, _)| Violation {
        place: Node::from(at).to_string(),
        problem: "is a hole that was not closed".into(),
    };
    left.map(violation).collect()
}
