//! Drop what nobody needs.
//!
//! In and out: a graph. Out: no unused parameter, load, guarded operator or pure call is left in a block; of two
//! parameters that only feed each other around a loop, neither. Nor is any floating node left that nobody uses: the
//! others are numbered anew, in the order they had, so that the passes behind this one keep nothing for what is gone, and
//! find what is left side by side. Keeps: effects and their order. Cost: linear.

use crate::ir::graph::Graph;
use crate::ir::index::Node;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    is_live: Vec<bool>,
    work: Vec<Node>,
    /// For each node its new number.
    numbers: Vec<Node>,
}

impl Scratch {
    /// For each node that there was its number from now on; none if it is gone.
    pub(super) fn numbers(&self) -> &[Node] {
        &self.numbers
    }
}

/// Drops nodes whose value nobody needs.
pub fn dead(scratch: &mut Scratch, graph: &mut Graph) {
    let Scratch { is_live, work, numbers } = scratch;
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
    number(is_live, numbers, graph);
}

/// Takes the others out, and gives those that are live numbers without gaps.
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
