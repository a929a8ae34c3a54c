//! Drop unreachable blocks.
//!
//! In: a complete graph. Out: the graph with unreachable blocks emptied, and removed from the predecessors of others.
//! Cost: linear in blocks and edges.

use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct ReachedScratch {
    is_reached: Vec<bool>,
    /// The reachable blocks.
    reached: Vec<Block>,
    inputs: Vec<Node>,
}

/// Drops the blocks that are unreachable from the entry.
pub(super) fn drop_unreached(scratch: &mut ReachedScratch, graph: &mut Graph) {
    let ReachedScratch { is_reached, reached, inputs } = scratch;
    is_reached.clear();
    is_reached.resize(graph.blocks.len(), false);
    is_reached[Graph::ENTRY.at()] = true;
    reached.clear();
    reached.push(Graph::ENTRY);
    let mut next = 0;
    while let Some(&block) = reached.get(next) {
        next += 1;
        for succ in &graph.block(block).succs {
            if !core::mem::replace(&mut is_reached[succ.at()], true) {
                reached.push(*succ);
            }
        }
    }
    if reached.len() == graph.blocks.len() {
        return;
    }
    for (at, block) in graph.blocks.iter_mut().enumerate() {
        if !is_reached[at] {
            block.clear();
        }
    }
    for &block in &*reached {
        let mut preds = core::mem::take(&mut graph.blocks[block.at()].preds);
        if preds.iter().any(|pred| !is_reached[pred.block.at()]) {
            for param in 0..graph.block(block).params.len() {
                let param = graph.block(block).params[param];
                inputs.clear();
                let edges = core::iter::zip(&preds, graph.inputs(param));
                inputs.extend(edges.filter(|(pred, _)| is_reached[pred.block.at()]).map(|(_, input)| *input));
                graph.set_inputs(param, inputs);
            }
        }
        preds.retain(|pred| is_reached[pred.block.at()]);
        graph.blocks[block.at()].preds = preds;
    }
}
