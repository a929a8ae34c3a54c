//! Drop what nobody needs.
//!
//! In and out: a graph. Out: no unused parameter, load, guarded operator or pure call is left in a block; of two
//! parameters that only feed each other around a loop, neither. Keeps: effects and their order. Floating nodes
//! need no dropping: nobody lists them. Cost: linear.

use crate::ir::graph::Graph;
use crate::ir::index::Node;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    is_live: Vec<bool>,
    work: Vec<Node>,
}

/// Drops pinned nodes whose value nobody needs.
pub fn dead(scratch: &mut Scratch, graph: &mut Graph) {
    let Scratch { is_live, work } = scratch;
    is_live.clear();
    is_live.resize(graph.nodes.len(), false);
    for block in graph.blocks.iter().filter(|block| block.end.is_some()) {
        let body = block.body.iter().filter(|node| !graph.is_removable(**node));
        work.extend(body.chain([&block.end]));
    }
    while let Some(node) = work.pop() {
        if !core::mem::replace(&mut is_live[node.at()], true) {
            work.extend(graph.inputs(node));
        }
    }
    for block in &mut graph.blocks {
        block.body.retain(|node| is_live[node.at()]);
        block.params.retain(|param| is_live[param.at()]);
    }
}
