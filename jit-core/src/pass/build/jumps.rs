//! Lead edges into cold code past blocks that only jump there.
//!
//! In: a complete graph. Out: no block without nodes of its own jumps to a cold block that has no parameters; whoever came to it goes there
//! at once. Templates leave by several checks, each with a way of its own to the slow path that they share: two blocks in five are such
//! ways, which every pass would look at. Cost: linear in blocks and edges.
//!
//! Ways into hot code stay: what is known on an edge is known in a block that has only this one, and loops have a block in front.

use crate::ir::graph::{Graph, Heat, Pred};
use crate::ir::index::Block;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct JumpScratch {
    /// Blocks to look at.
    work: Vec<Block>,
}

/// Removes blocks that only jump to cold blocks.
pub(super) fn skip_jumps(scratch: &mut JumpScratch, graph: &mut Graph) {
    let JumpScratch { work } = scratch;
    work.clear();
    work.extend((1..graph.blocks.len()).map(Block::from));
    while let Some(block) = work.pop() {
        let Some(to) = only_jumps(graph, block) else { continue };
        let mut ways = core::mem::take(&mut graph.blocks[block.at()].preds);
        graph.blocks[block.at()].clear();
        for way in &ways {
            graph.blocks[way.block.at()].succs[way.succ as usize] = to;
            work.push(way.block);
        }
        let preds = &mut graph.blocks[to.at()].preds;
        preds.retain(|pred| *pred != Pred { block, succ: 0 });
        preds.append(&mut ways);
        graph.blocks[block.at()].preds = ways;
    }
}

/// The cold block to which a block jumps that does nothing else.
fn only_jumps(graph: &Graph, block: Block) -> Option<Block> {
    let data = graph.block(block);
    let [to] = data.succs[..] else { return None };
    let target = graph.block(to);
    let does_nothing = data.params.is_empty() && data.body.is_empty() && !data.preds.is_empty();
    let is_cold = target.heat == Heat::Cold && target.params.is_empty();
    (does_nothing && is_cold && to != block).then_some(to)
}
