//! Remove dead nodes.
//!
//! In and out: a graph. Out: no block contains an unused parameter, load, guarded operator or pure call; two parameters
//! that only feed each other around a loop are both unused. No unused floating node is left either. The remaining nodes are
//! renumbered in their old order, so that later passes allocate nothing for dead nodes and find live ones adjacent in
//! memory. Keeps: effects and their order. Cost: linear.

use crate::ir::graph::Graph;
use crate::ir::index::Node;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    is_live: Vec<bool>,
    work: Vec<Node>,
    /// The new number of each node.
    numbers: Vec<Node>,
}

impl Scratch {
    /// The new number of each old node; `NONE` for a removed node.
    pub(super) fn numbers(&self) -> &[Node] {
        &self.numbers
    }
}

/// Removes nodes whose value is unused.
pub fn dead(scratch: &mut Scratch, graph: &mut Graph) {
    let Scratch { is_live, work, numbers } = scratch;
    is_live.clear();
    is_live.resize(graph.nodes.len(), false);
    for block in graph.blocks.iter().filter(|block| block.end.is_some()) {
        let body = block.body.iter().filter(|node| !graph.is_removable(**node));
        body.chain([&block.end]).for_each(|node| is_live[node.at()] = true);
    }
    // Operands mostly have lower numbers than their users, so one walk from the last node to the first finds most live
    // nodes, and reads memory sequentially.
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
    number(is_live, numbers, graph);
}

/// Removes the dead nodes, and numbers the live ones without gaps.
fn number(is_live: &[bool], numbers: &mut Vec<Node>, graph: &mut Graph) {
    numbers.clear();
    let mut n_live = 0;
    for (at, &is_live) in is_live.iter().enumerate() {
        numbers.push(if is_live { Node::from(n_live) } else { Node::NONE });
        graph.nodes[n_live] = graph.nodes[at];
        n_live += is_live as usize;
    }
    graph.nodes.truncate(n_live);
    let number = |node: Node| numbers.get(node.at()).copied().unwrap_or(Node::NONE);
    graph.links.iter_mut().for_each(|link| *link = number(*link));
    for block in &mut graph.blocks {
        for list in [&mut block.params, &mut block.body] {
            list.retain_mut(|node| {
                *node = number(*node);
                node.is_some()
            });
        }
        block.end = number(block.end);
    }
}
