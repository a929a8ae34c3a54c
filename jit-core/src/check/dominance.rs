//! Which definition comes before which use, the simple way: sets of dominating blocks, iterated.
//!
//! In: a graph whose edges are sound. Slower than what passes use, and shares nothing with it.

use crate::ir::graph::Graph;
use crate::ir::index::Block;

/// For each block the set of blocks that dominate it.
#[derive(Debug)]
pub(crate) struct Dominance {
    n_words: usize,
    sets: Vec<u64>,
    is_reached: Vec<bool>,
}

impl Dominance {
    pub(crate) fn find(graph: &Graph) -> Dominance {
        let n_blocks = graph.blocks.len();
        let n_words = n_blocks.div_ceil(64);
        let order = graph.reverse_postorder();
        let mut is_reached = vec![false; n_blocks];
        for block in &order {
            is_reached[block.at()] = true;
        }
        let mut found = Dominance { n_words, sets: vec![u64::MAX; n_blocks * n_words], is_reached };
        found.sets[..n_words].fill(0);
        found.sets[0] = 1;
        let mut changed = true;
        while core::mem::take(&mut changed) {
            for &block in &order[1..] {
                for word in 0..n_words {
                    let preds = graph.block(block).preds.iter().map(|pred| pred.block);
                    let reached = preds.filter(|pred| found.is_reached[pred.at()]);
                    let mut bits =
                        reached.fold(u64::MAX, |bits, pred| bits & found.sets[pred.at() * n_words + word]);
                    if block.at() / 64 == word {
                        bits |= 1 << (block.at() % 64);
                    }
                    let old = &mut found.sets[block.at() * n_words + word];
                    changed |= core::mem::replace(old, bits) != bits;
                }
            }
        }
        found
    }

    pub(crate) fn is_reached(&self, block: Block) -> bool {
        self.is_reached[block.at()]
    }

    /// Whether each way to `b` passes through `a`.
    pub(crate) fn dominates(&self, a: Block, b: Block) -> bool {
        self.sets[b.at() * self.n_words + a.at() / 64] >> (a.at() % 64) & 1 != 0
    }
}

/// A place in a block: 0 for its parameters, then its nodes in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Point {
    pub(crate) block: Block,
    pub(crate) index: u32,
}

impl Point {
    /// Before everything.
    pub(crate) const START: Point = Point { block: Graph::ENTRY, index: 0 };

    /// Whether whatever is defined here is there at `other`.
    pub(crate) fn is_before(self, other: Point, dominance: &Dominance) -> bool {
        match self.block == other.block {
            true => self.index < other.index || self.index == 0,
            false => dominance.dominates(self.block, other.block),
        }
    }
}
