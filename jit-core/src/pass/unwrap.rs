//! Free the values of frame states from their casts.
//!
//! In and out: a graph. A VM register gets all bits of its value with zeros above, whatever the value's type is. So a value that is
//! widened with zeros, or whose bits are taken for those of an integer, is used as it was before. Cost: linear.

use crate::ir::graph::Graph;
use crate::ir::index::Block;
use crate::vocab::Op;

/// Removes casts from the values of frame states.
pub fn unwrap(graph: &mut Graph) {
    if graph.states.all.is_empty() {
        return;
    }
    for at in 0..graph.blocks.len() {
        let Some(end) = graph.end_with_state(Block::from(at)) else { continue };
        for link in graph.node(end).inputs.range().skip(1) {
            loop {
                let value = graph.links[link];
                let data = graph.node(value);
                let keeps_bits = match data.op {
                    Op::BITCAST => true,
                    Op::UCAST => data.sig.from.bits() < data.sig.ty.bits(),
                    _ => false,
                };
                if !keeps_bits {
                    break;
                }
                graph.links[link] = graph.inputs(value)[0];
            }
        }
    }
}
