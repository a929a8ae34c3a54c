//! Judge of a graph whose operators on kinds have been lowered.

use super::Violation;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::vocab::Props;

/// The operators on kinds that are left.
pub fn kinds(graph: &Graph) -> Vec<Violation> {
    let is_left = |at: &usize| graph.vocab.info(graph.nodes[*at].op).props.contains(Props::KINDS);
    let left = (0..graph.nodes.len()).filter(is_left);
    let violation = |at| Violation {
        place: Node::from(at).to_string(),
        problem: "is an operator on kinds of values".into(),
    };
    left.map(violation).collect()
}
