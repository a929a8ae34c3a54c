//! Judge of the order of effects in a tile list.
//!
//! In: a tile list and the graph that it was made from. Out: a violation for each block whose instructions do not access
//! memory as its nodes do. Each write and each access that may fault must be done once, in the order of the graph, with the
//! trap that the graph specifies.
//!
//! An instruction does the effect of the node at its root and, before that, the access that [`TileList::faults`] lists for it.

use super::Violation;
use crate::ir::graph::{Access, Graph};
use crate::ir::index::Node;
use crate::ir::tiles::TileList;

/// Adds all violations to `found`.
pub(super) fn faults(graph: &Graph, list: &TileList, found: &mut Vec<Violation>) {
    let mut wrong = |place: String, problem: String| found.push(Violation { place, problem });
    for fault in &list.faults {
        let node = graph.node(fault.node);
        if graph.access(fault.node) != Access::Within(fault.code) || node.origin != fault.origin {
            let problem = format!("is to fault like {}, but by another trap", fault.node);
            wrong(format!("instruction {}", fault.inst.0), problem);
        }
    }
    if !list.faults.is_sorted_by(|a, b| a.inst < b.inst) {
        wrong("the list".into(), "does not have what may fault in order".into());
    }
    let is_effect = |node: &Node| graph.writes(*node) || graph.may_fault(*node);
    for block in &list.blocks {
        // The block of a split edge is not in the graph.
        let Some(data) = graph.blocks.get(block.block.at()) else { continue };
        let expected: Vec<Node> = data.body.iter().copied().filter(is_effect).collect();
        let mut done = Vec::new();
        for inst in block.insts.range() {
            let root = Some(list.insts[inst].node).filter(|node| node.is_some() && *node != data.end);
            let fault = list.faults.iter().find(|fault| fault.inst.at() == inst).map(|fault| fault.node);
            done.extend(fault.filter(|fault| root != Some(*fault)));
            done.extend(root.filter(is_effect));
        }
        if done != expected {
            let problem = format!("does {done:?} to memory, and not {expected:?}");
            wrong(block.block.to_string(), problem);
        }
    }
}
