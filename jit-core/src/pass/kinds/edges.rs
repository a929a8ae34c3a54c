//! The edges that may be taken, and the blocks that may be reached.
//!
//! In: edges, as they are taken. Out: for each block whether it is reached, and by which edge if that is the only one.

use crate::ir::graph::Graph;
use crate::ir::index::Block;
use crate::pass::flow::{FlowGraph, NONE};

/// How a block is reached.
#[derive(Clone, Copy, Debug)]
enum Reached {
    No,
    /// By this edge only, from this block.
    By(u32, Block),
    ByMany,
}

/// What a newly taken edge changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NewEdge {
    /// The block is reached.
    First,
    /// The block was reached by one edge, from this block, and now by two.
    Second(Block),
    /// Nothing.
    Other,
}

/// The edges of a graph.
#[derive(Debug, Default)]
pub(super) struct TakenEdges {
    /// By rank: the number of the block's first edge to a successor.
    first_edge: Vec<u32>,
    /// By number of an edge: its position among the edges into its target.
    positions: Vec<u32>,
    /// By number of an edge: whether it may be taken.
    taken: Vec<bool>,
    /// By rank.
    reached: Vec<Reached>,
    blocks: Vec<Block>,
}

impl TakenEdges {
    /// Numbers the edges. None is taken, and only the entry is reached.
    pub(super) fn start(&mut self, graph: &Graph, flow: &FlowGraph) {
        self.first_edge.clear();
        let mut n_edges = 0;
        for block in &flow.order {
            self.first_edge.push(n_edges);
            n_edges += graph.block(*block).succs.len() as u32;
        }
        self.positions.clear();
        self.positions.resize(n_edges as usize, 0);
        for block in &flow.order {
            for (position, pred) in graph.block(*block).preds.iter().enumerate() {
                let from = flow.rank[pred.block.at()];
                if from != NONE {
                    let edge = self.number(from, pred.succ);
                    self.positions[edge as usize] = position as u32;
                }
            }
        }
        self.taken.clear();
        self.taken.resize(n_edges as usize, false);
        self.reached.clear();
        self.reached.resize(flow.order.len(), Reached::No);
        self.reached[0] = Reached::ByMany;
        self.blocks.clear();
        self.blocks.extend(&flow.order);
    }

    /// The number of an edge.
    pub(super) fn number(&self, from: u32, succ: u32) -> u32 {
        self.first_edge[from as usize] + succ
    }

    /// The position of an edge among those into its target.
    pub(super) fn position(&self, from: u32, succ: u32) -> usize {
        self.positions[self.number(from, succ) as usize] as usize
    }

    pub(super) fn is_reached(&self, rank: u32) -> bool {
        !matches!(self.reached[rank as usize], Reached::No)
    }

    /// Whether a block is reached by this edge and no other.
    pub(super) fn is_only(&self, rank: u32, edge: u32) -> bool {
        matches!(self.reached[rank as usize], Reached::By(only, _) if only == edge)
    }

    /// Takes an edge.
    pub(super) fn take(&mut self, from: u32, succ: u32, to: u32) -> NewEdge {
        let edge = self.number(from, succ);
        if core::mem::replace(&mut self.taken[edge as usize], true) {
            return NewEdge::Other;
        }
        let reached = &mut self.reached[to as usize];
        let (now, taken) = match *reached {
            Reached::No => (Reached::By(edge, self.blocks[from as usize]), NewEdge::First),
            Reached::By(_, first) => (Reached::ByMany, NewEdge::Second(first)),
            Reached::ByMany => (Reached::ByMany, NewEdge::Other),
        };
        *reached = now;
        taken
    }
}
