//! The schedule: every live node of a graph in one order.
//!
//! Blocks are in emission order: the entry first, loops contiguous, cold blocks after all others. A block comes after its
//! immediate dominator. Each definition dominates its uses; pinned nodes of a block keep their order, and a block's end is its
//! last node. Block parameters are not listed: they are defined at the start of their block.

use super::index::{Block, List, Loop, Node};

/// A loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopData {
    /// The innermost loop around it, or none.
    pub around: Loop,
    /// The nesting depth: the number of loops it is in, itself included.
    pub depth: u16,
}

/// A block at its place in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledBlock {
    /// The graph's block.
    pub block: Block,
    /// In [`Schedule::nodes`]: its nodes, without parameters; the end is last.
    pub nodes: List,
    /// The innermost loop that contains it, or none.
    pub inner: Loop,
    /// Whether it is emitted after all blocks that are not cold.
    pub cold: bool,
}

/// A graph's live nodes in order.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Reachable blocks in emission order.
    pub blocks: Vec<ScheduledBlock>,
    /// The pool of nodes, in emission order.
    pub nodes: Vec<Node>,
    /// Every loop.
    pub loops: Vec<LoopData>,
    /// Nodes that were made for cold blocks, each with the node that it is a copy of.
    pub copies: Vec<(Node, Node)>,
    /// The position in `blocks` of each of the graph's blocks (`u32::MAX` if unreachable).
    pub position: Vec<u32>,
}

impl Schedule {
    /// Empties the schedule and keeps its memory.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.nodes.clear();
        self.loops.clear();
        self.copies.clear();
        self.position.clear();
    }

    /// The nodes of a block in order.
    #[inline(always)]
    pub fn nodes(&self, block: &ScheduledBlock) -> &[Node] {
        &self.nodes[block.nodes.range()]
    }

    /// The nesting depth of a block: the number of loops that contain it.
    #[inline(always)]
    pub fn depth(&self, block: &ScheduledBlock) -> u16 {
        self.loops.get(block.inner.at()).map_or(0, |inner| inner.depth)
    }

    /// The block with this number.
    #[inline(always)]
    pub fn block(&self, block: Block) -> &ScheduledBlock {
        &self.blocks[self.position[block.at()] as usize]
    }
}
