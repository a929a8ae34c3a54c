//! What checks have found out about the kinds of values, and in which blocks that holds.
//!
//! In: a value's mask from the start of a block on, for blocks by rank. Out: the mask of a value in any block that those blocks
//! dominate.

use crate::ir::index::Node;
use crate::ir::kinds::KindMask;
use crate::pass::flow::{FlowGraph, NONE};

/// How many facts about a value are looked at, the latest first.
const MAX_FACTS: usize = 16;

/// The mask of a value in a block, and in all blocks that it dominates.
#[derive(Clone, Copy, Debug)]
struct Fact {
    value: Node,
    /// The block's rank.
    block: u32,
    mask: KindMask,
    /// The previous fact about the same value.
    before: u32,
}

/// All facts found so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    all: Vec<Fact>,
    /// By node: the last fact about it.
    last: Vec<u32>,
}

impl Facts {
    /// Forgets all facts, and makes room for this many nodes.
    pub(super) fn reset(&mut self, n_nodes: usize) {
        self.all.clear();
        self.last.clear();
        self.last.resize(n_nodes, NONE);
    }

    /// Forgets the facts of this block and of all later ones.
    pub(super) fn start(&mut self, block: u32) {
        while let Some(fact) = self.all.pop_if(|fact| fact.block >= block) {
            self.last[fact.value.at()] = fact.before;
        }
    }

    /// Adds a fact of the block that was started last.
    pub(super) fn add(&mut self, value: Node, block: u32, mask: KindMask) {
        let before = core::mem::replace(&mut self.last[value.at()], self.all.len() as u32);
        self.all.push(Fact { value, block, mask, before });
    }

    /// What is known of a value in a block.
    pub(super) fn about(&self, value: Node, block: u32, flow: &FlowGraph) -> KindMask {
        let mut mask = KindMask::ANY;
        let mut next = self.last[value.at()];
        for _ in 0..MAX_FACTS {
            let Some(fact) = self.all.get(next as usize) else { break };
            if flow.dominates(fact.block, block) {
                mask = mask.and(fact.mask);
            }
            next = fact.before;
        }
        mask
    }
}
