//! Uses of values, as far as somebody asks for them: each operand that is the value, with the block of its user.
//!
//! In: uses, as they are found. Out: those of one value, the last one first.

use super::NONE;
use crate::ir::index::Node;

/// A use of a floating value.
#[derive(Clone, Copy, Debug)]
pub(super) struct UseInBlock {
    /// The index of the operand in [`Graph::links`](crate::ir::graph::Graph::links).
    pub(super) link: u32,
    /// The rank of the user's block.
    pub(super) rank: u32,
    /// Whether the user needs the value in a register, even if the value could fold.
    pub(super) in_register: bool,
    before: u32,
}

/// Uses, in a list for each value.
#[derive(Debug, Default)]
pub(super) struct Uses {
    all: Vec<UseInBlock>,
    /// For each node the index in `all` of its last use.
    last: Vec<u32>,
}

impl Uses {
    /// Forgets all uses, and all nodes.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.last.clear();
    }

    /// Begins with so many nodes.
    pub(super) fn start(&mut self, n_nodes: usize) {
        self.clear();
        self.last.resize(n_nodes, NONE);
    }

    /// There is one node more.
    pub(super) fn add_node(&mut self) {
        self.last.push(NONE);
    }

    #[inline(always)]
    pub(super) fn add(&mut self, node: Node, link: usize, rank: u32, in_register: bool) {
        let before = core::mem::replace(&mut self.last[node.at()], self.all.len() as u32);
        self.all.push(UseInBlock { link: link as u32, rank, in_register, before });
    }

    #[inline(always)]
    pub(super) fn is_used(&self, node: Node) -> bool {
        self.last[node.at()] != NONE
    }

    /// Where a value's list begins, for [`Uses::next`].
    pub(super) fn first(&self, node: Node) -> u32 {
        self.last[node.at()]
    }

    /// The next use in a list.
    pub(super) fn next(&self, at: &mut u32) -> Option<UseInBlock> {
        let found = *self.all.get(*at as usize)?;
        *at = found.before;
        Some(found)
    }
}
