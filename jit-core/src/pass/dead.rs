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
        body.chain([&block.end]).for_each(|node| is_live[node.at()] = true);
    }
    // Operands mostly have lower numbers than who uses them, so that one walk from the last to the first finds most; and
    // nothing is read in another order than it lies in memory.
    for at in (0..graph.nodes.len()).rev() {
        if !is_live[at] {
            continue;
        }
        work.push(Node::from(at));
        while let Some(node) = work.pop() {
            for input in graph.inputs(node) {
                if !core::mem::replace(&mut is_live[input.at()], true) && input.at() > at {
                    work.push(*input);
                }
            }
        }
    }
    for block in &mut graph.blocks {
        block.body.retain(|node| is_live[node.at()]);
        block.params.retain(|param| is_live[param.at()]);
    }
}
