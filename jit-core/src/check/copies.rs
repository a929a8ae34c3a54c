//! Judge what placing changes in a graph: cold code gets copies of values.
//!
//! In: a graph before and after, and its schedule. Out: everything that is wrong: a copy that is not what its original is,
//! of the same operands or copies of them; one of what does not float, or in a hot block; anything else that is not what it
//! was.

use super::Violation;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{List, Node};
use crate::ir::schedule::Schedule;

/// Everything that is wrong with what placing has made of a graph: but for copies of floating values in cold blocks, which
/// stand for the values that they are copies of, it is the graph that it was.
pub fn copies(before: &Graph, after: &Graph, schedule: &Schedule) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut wrong = |node: Node, problem: &str| {
        found.push(Violation { place: node.to_string(), problem: problem.into() })
    };
    let n_before = before.nodes.len();
    // What each node after placing was before.
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
            wrong(*node, "is a copy in a block that is not cold");
        }
    }
    if before.blocks != after.blocks {
        wrong(Node::NONE, "blocks are not what they were");
    }
    found
}
