//! Shrinks failing graphs.
//!
//! In: a graph and a predicate for failing. Out: a graph that fails too and from which nothing can be removed: no successor
//! of a branch, no effect, and no operand that could be replaced by zero or by one of its own inputs. Addresses are left as
//! they are, because the machine accesses the memory there.

use crate::graphs::values;
use azulejo_core::check;
use azulejo_core::ir::graph::{BlockData, Graph, Pred};
use azulejo_core::ir::index::{Block, Node};
use azulejo_core::vocab::{Op, Type};

/// Shrinks a graph as long as it fails.
pub(crate) fn shrink(graph: &Graph, mut fails: impl FnMut(&Graph) -> bool) -> Graph {
    let mut best = graph.clone();
    let mut is_smaller = true;
    while std::mem::take(&mut is_smaller) {
        for part in parts(&best) {
            // An earlier removal may have removed this part, too.
            let Some(smaller) = without(&best, part) else { continue };
            if check::graph::graph(&smaller).is_empty() && fails(&smaller) {
                (best, is_smaller) = (smaller, true);
            }
        }
    }
    best
}

/// A part that can be removed.
#[derive(Clone, Copy)]
enum Part {
    /// All successors of a block but this one.
    Ways { block: Block, kept: usize },
    /// A pinned node.
    Effect(Node),
    /// A parameter without uses.
    Param(Node),
    /// An operand, which is replaced by zero.
    Operand(usize),
    /// An operand, which is replaced by one of its inputs.
    Over(usize, usize),
}

fn parts(graph: &Graph) -> Vec<Part> {
    let mut parts = Vec::new();
    let order = graph.reverse_postorder();
    for &block in &order {
        let ways = graph.block(block).succs.len();
        if ways > 1 {
            parts.extend((0..ways).map(|kept| Part::Ways { block, kept }));
        }
    }
    for &block in &order {
        parts.extend(graph.block(block).body.iter().rev().map(|node| Part::Effect(*node)));
        parts.extend(graph.block(block).params.iter().map(|node| Part::Param(*node)));
    }
    for node in live(graph, &order) {
        for link in values(graph, node) {
            let made_of = graph.node(graph.links[link]).inputs.len as usize;
            parts.push(Part::Operand(link));
            parts.extend((0..made_of).map(|input| Part::Over(link, input)));
        }
    }
    parts
}

/// The parameters and pinned nodes of these blocks, and all nodes that those depend on.
fn live(graph: &Graph, order: &[Block]) -> Vec<Node> {
    let mut is_live = vec![false; graph.nodes.len()];
    let mut open: Vec<Node> = Vec::new();
    for &block in order {
        let data = graph.block(block);
        open.extend(data.params.iter().chain(&data.body).chain([&data.end]));
    }
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut is_live[node.at()], true) {
            open.extend(graph.inputs(node));
        }
    }
    (0..is_live.len()).filter(|at| is_live[*at]).map(Node::from).collect()
}

/// The graph without a part; `None` if the graph does not have the part.
fn without(graph: &Graph, part: Part) -> Option<Graph> {
    let mut smaller = graph.clone();
    match part {
        Part::Ways { block, kept } => {
            if graph.block(block).succs.len() <= 1 {
                return None;
            }
            keep_way(&mut smaller, block, kept);
        }
        Part::Effect(node) => {
            let body = &mut smaller.blocks[graph.node(node).block.at()].body;
            let at = body.iter().position(|listed| *listed == node)?;
            body.remove(at);
            if graph.node(node).ty() != Type::Void {
                let zero = smaller.constant(graph.node(node).ty(), 0, 0);
                smaller.links.iter_mut().filter(|link| **link == node).for_each(|link| *link = zero);
            }
        }
        Part::Param(param) => {
            let params = &mut smaller.blocks[graph.node(param).block.at()].params;
            let at = params.iter().position(|listed| *listed == param)?;
            params.remove(at);
        }
        Part::Operand(link) => {
            let old = graph.node(graph.links[link]);
            if old.op == Op::CONST || !old.ty().is_value() {
                return None;
            }
            smaller.links[link] = smaller.constant(old.ty(), 0, 0);
        }
        Part::Over(link, input) => {
            let old = graph.links[link];
            let &new = graph.inputs(old).get(input)?;
            if graph.node(new).ty() != graph.node(old).ty() || new == old {
                return None;
            }
            smaller.links[link] = new;
        }
    }
    Some(smaller)
}

/// Makes the terminator of a block a jump, and empties the blocks that become unreachable.
fn keep_way(graph: &mut Graph, block: Block, kept: usize) {
    let succs = std::mem::take(&mut graph.blocks[block.at()].succs);
    let end = graph.block(block).end;
    graph.nodes[end.at()].op = Op::JUMP;
    graph.set_inputs(end, &[]);
    for (succ, to) in succs.iter().enumerate().filter(|(succ, _)| *succ != kept) {
        drop_ways_in(graph, *to, |from, number| (from, number) == (block, succ as u32));
    }
    let is_kept = |pred: &&mut Pred| (pred.block, pred.succ as usize) == (block, kept);
    graph.blocks[succs[kept].at()]
        .preds
        .iter_mut()
        .find(is_kept)
        .expect("edges are known at both ends")
        .succ = 0;
    graph.blocks[block.at()].succs.push(succs[kept]);
    let order = graph.reverse_postorder();
    let is_reached = |block: Block| order.contains(&block);
    for at in (0..graph.blocks.len()).map(Block::from) {
        match is_reached(at) {
            true => drop_ways_in(graph, at, |from, _| !is_reached(from)),
            false => graph.blocks[at.at()] = BlockData::default(),
        }
    }
}

/// Removes predecessors of a block, and its parameters' arguments from them.
fn drop_ways_in(graph: &mut Graph, block: Block, is_gone: impl Fn(Block, u32) -> bool) {
    let preds = std::mem::take(&mut graph.blocks[block.at()].preds);
    let stays: Vec<bool> = preds.iter().map(|pred| !is_gone(pred.block, pred.succ)).collect();
    for param in graph.block(block).params.clone() {
        let inputs = std::iter::zip(graph.inputs(param), &stays);
        let inputs: Vec<Node> = inputs.filter(|(_, stays)| **stays).map(|(input, _)| *input).collect();
        graph.set_inputs(param, &inputs);
    }
    let left = std::iter::zip(preds, stays).filter(|(_, stays)| *stays).map(|(pred, _)| pred);
    graph.blocks[block.at()].preds = left.collect();
}
