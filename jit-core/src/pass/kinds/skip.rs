//! Lead control past checks whose outcome the way there tells.
//!
//! In and out: a graph with operators on kinds. A bytecode that compares a value may check of which kind it is and go on either way,
//! and the next one needs the kind and leaves where it is another. If nothing happens on the way between the two, the first check
//! fails to where the second one does. Then the second one is decided, since it dominates no way but that on which the first has succeeded;
//! and if it fails on a cold way, so does the first, which may be moved in front of a loop.
//!
//! Keeps: the meaning. What is passed by is empty, and has no parameters. Cost: linear in the checks, times [`MAX_JUMPS`].

use super::check_of;
use super::guards::MAX_JUMPS;
use crate::ir::graph::{Graph, Pred};
use crate::ir::index::Block;
use crate::pass::limits::Steps;

/// Leads the ways on which checks fail past the same checks.
pub(super) fn skip_checks(graph: &mut Graph, steps: &mut Steps) {
    for at in 0..graph.blocks.len() {
        let block = Block::from(at);
        if !graph.block(block).end.is_some() || check_of(graph, block).is_none() {
            continue;
        }
        // There may be more of them one behind another.
        for _ in 0..MAX_JUMPS {
            let Some((edge, way)) = way_past(graph, block).filter(|_| steps.take()) else { break };
            redirect(graph, edge, way);
        }
    }
}

/// If the way on which a block's check fails leads to the same check: an edge on that way, which only control takes for which it has failed,
/// and the edge on which the other check fails.
fn way_past(graph: &Graph, block: Block) -> Option<(Pred, Pred)> {
    let check = check_of(graph, block);
    let mut edge = Pred { block, succ: 1 };
    let mut to = graph.block(block).succs[1];
    let mut is_alone = true;
    for _ in 0..MAX_JUMPS {
        let data = graph.block(to);
        is_alone &= data.preds.len() == 1;
        if !data.body.is_empty() || !data.params.is_empty() || to == block {
            return None;
        }
        if check_of(graph, to) == check {
            // If no other way leads there, it is decided as it is.
            return (!is_alone).then_some((edge, Pred { block: to, succ: 1 }));
        }
        let [next] = data.succs[..] else { return None };
        if is_alone {
            edge = Pred { block: to, succ: 0 };
        }
        to = next;
    }
    None
}

/// Makes an edge lead where another one does, with the same values.
pub(super) fn redirect(graph: &mut Graph, edge: Pred, like: Pred) {
    let target = |graph: &Graph, edge: Pred| graph.block(edge.block).succs[edge.succ as usize];
    let (old, new) = (target(graph, edge), target(graph, like));
    graph.blocks[old.at()].preds.retain(|pred| *pred != edge);
    graph.blocks[edge.block.at()].succs[edge.succ as usize] = new;
    let preds = &graph.block(new).preds;
    let position =
        preds.iter().position(|pred| *pred == like).expect("each successor knows its predecessors");
    graph.blocks[new.at()].preds.push(edge);
    for number in 0..graph.block(new).params.len() {
        let param = graph.block(new).params[number];
        let mut inputs = graph.inputs(param).to_vec();
        inputs.push(inputs[position]);
        graph.set_inputs(param, &inputs);
    }
}
