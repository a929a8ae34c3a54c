//! Judge of the graph of a stencil that has placeholders in its holes.

use super::Violation;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::Op;

/// The holes without a placeholder, except for those that a register may hold.
pub fn placeholders(graph: &Graph, may_be_held: bool) -> Vec<Violation> {
    let is_left = |op: Op| op == Op::HOLE_ADDR || op == Op::HOLE && !may_be_held;
    let left = graph.nodes.iter().enumerate().filter(|(_, node)| is_left(node.op));
    let violation = |(at, _)| Violation {
        place: Node::from(at).to_string(),
        problem: "is a hole without a placeholder".into(),
    };
    left.map(violation).collect()
}
