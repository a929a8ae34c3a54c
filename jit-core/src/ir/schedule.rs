//! The schedule: every live node of a graph in one order.
//!
//! Blocks stand in emission order: the entry first, loops contiguous, cold blocks behind all that are not. A
//! block comes after its immediate dominator. Nodes stand so that each use is dominated by its definition; a
//! pinned node keeps its place among those of its block, and a block's end is its last node. Block parameters
//! are not listed: they are defined at the start of their block.

use super::index::{Block, List, Loop, Node};

/// A loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopData {
    /// The loop right around it, or none.
    pub around: Loop,
    /// How many loops it is in, itself included.
    pub depth: u16,
}

/// A block in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledBlock {
    /// The graph's block.
    pub block: Block,
    /// In [`Schedule::nodes`]: its nodes without parameters, the end last.
    pub nodes: List,
    /// The innermost loop it is in, or none.
    pub inner: Loop,
    /// Whether it is emitted behind all that is not cold.
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
    /// Nodes that were made for cold blocks, and of which nodes they are copies.
    pub copies: Vec<(Node, Node)>,
    /// Position in `blocks` of each of the graph's blocks (`u32::MAX` if unreachable).
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

    /// How many loops a block is in.
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
