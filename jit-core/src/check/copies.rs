//! Judge of the changes that placing makes to a graph: cold code gets copies of values, and so does any code of what can be read again.
//!
//! In: a graph before and after placing, and its schedule. Out: all violations: a copy that differs from its original, or
//! whose operands are neither the original's nor copies of them; a copy of a node that does not float; a copy in a hot block, unless it
//! depends on nothing but constants, registers that are kept, and what is read through these; any other change.

use super::Violation;
use crate::grammar::pattern::is_const;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{List, Node};
use crate::ir::schedule::Schedule;
use crate::vocab::Props;

/// All violations in a graph after placing. It may only differ from the graph before by copies of floating values, which replace the
/// originals in cold blocks, or anywhere if they can be read again.
pub fn copies(before: &Graph, after: &Graph, schedule: &Schedule) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |node: Node, problem: &str| {
        found.push(Violation { place: node.to_string(), problem: problem.into() })
    };
    let n_before = before.nodes.len();
    // For each node after placing, the node before that it is or copies.
    let mut was: Vec<Node> = (0..n_before).map(Node::from).collect();
    for &(copy, of) in &schedule.copies {
        if copy.at() != was.len() || of.at() >= n_before || !before.floats(of) {
            wrong(copy, "is no copy of a floating value");
            return found;
        }
        was.push(of);
    }
    if was.len() != after.nodes.len() {
        wrong(Node::from(was.len()), "is none of the copies");
        return found;
    }
    for (at, &of) in was.iter().enumerate() {
        let (node, data) = (Node::from(at), after.node(Node::from(at)));
        if (NodeData { inputs: List::EMPTY, ..*data })
            != (NodeData { inputs: List::EMPTY, ..*before.node(of) })
        {
            wrong(node, "is not what it was");
        }
        if !after.inputs(node).iter().map(|input| was[input.at()]).eq(before.inputs(of).iter().copied()) {
            wrong(node, "has other operands than it had");
        }
    }
    for block in schedule.blocks.iter().filter(|block| !block.cold) {
        for node in schedule.nodes(block).iter().filter(|node| node.at() >= n_before) {
            if !can_be_read_again(after, *node) {
                wrong(*node, "is a copy in a block that is not cold");
            }
        }
    }
    if before.blocks != after.blocks {
        wrong(Node::NONE, "blocks are not what they were");
    }
    found
}

/// Whether a value depends only on what is at hand everywhere.
fn can_be_read_again(graph: &Graph, node: Node) -> bool {
    let info = graph.vocab.info(graph.node(node).op);
    match graph.inputs(node) {
        [] => is_const(info) || info.props.intersects(Props::REREAD | Props::STAYS),
        inputs => graph.floats(node) && inputs.iter().all(|input| can_be_read_again(graph, *input)),
    }
}
