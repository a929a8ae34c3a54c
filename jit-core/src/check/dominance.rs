//! Decides which definition dominates which use, in a simple way: sets of dominating blocks, iterated to a fixed point.
//!
//! In: a graph whose edges are sound. This is slower than the dominator tree of the passes, and shares no code with it.

use crate::ir::bits::BitSet;
use crate::ir::graph::Graph;
use crate::ir::index::Block;

/// For each block, the set of blocks that dominate it.
#[derive(Debug)]
pub(crate) struct Dominance {
    sets: Vec<BitSet>,
    is_reached: BitSet,
}

impl Dominance {
    pub(crate) fn find(graph: &Graph) -> Dominance {
        let n_blocks = graph.blocks.len();
        let order = graph.reverse_postorder();
        let mut is_reached = BitSet::new(n_blocks);
        for block in &order {
            is_reached.insert(block.at());
        }
        let mut found = Dominance { sets: vec![BitSet::full(n_blocks); n_blocks], is_reached };
        found.sets[0].clear();
        found.sets[0].insert(0);
        let mut changed = true;
        while core::mem::take(&mut changed) {
            for &block in &order[1..] {
                let mut set = BitSet::full(n_blocks);
                for pred in graph.block(block).preds.iter().filter(|pred| found.is_reached(pred.block)) {
                    set.intersect(&found.sets[pred.block.at()]);
                }
                set.insert(block.at());
                changed |= found.sets[block.at()].intersect(&set);
            }
        }
        found
    }

    pub(crate) fn is_reached(&self, block: Block) -> bool {
        self.is_reached.contains(block.at())
    }

    /// Whether `a` dominates `b`: each path to `b` passes through `a`.
    pub(crate) fn dominates(&self, a: Block, b: Block) -> bool {
        self.sets[b.at()].contains(a.at())
    }
}

/// A point in a block: 0 for its parameters, then its nodes in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Point {
    pub(crate) block: Block,
    pub(crate) index: u32,
}

impl Point {
    /// The point before all others.
    pub(crate) const START: Point = Point { block: Graph::ENTRY, index: 0 };

    /// Whether a value that is defined here is available at `other`.
    pub(crate) fn is_before(self, other: Point, dominance: &Dominance) -> bool {
        match self.block == other.block {
            true => self.index < other.index || self.index == 0,
            false => dominance.dominates(self.block, other.block),
        }
    }
}
