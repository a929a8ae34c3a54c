//! Lead edges into cold code past blocks that only jump there.
//!
//! In: a complete graph. Out: no block without nodes of its own jumps to a cold block that has no parameters; whoever came to it goes there
//! at once. No branch leads to one block either way. Templates leave by several checks, each with a way of its own to the slow path that they share: two blocks in five are such
//! ways, which every pass would look at. Cost: linear in blocks and edges, times the ways into one cold
//! block, which are few.
//!
//! Ways into hot code stay: what is known on an edge is known in a block that has only this one, and loops have a block in front.

use crate::ir::graph::{Graph, Heat, Pred};
use crate::ir::index::Block;
use crate::vocab::Op;

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
    work.extend((0..graph.blocks.len()).map(Block::from));
    while let Some(block) = work.pop() {
        join_ways(graph, block);
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

/// Makes a branch a jump that leads to one block either way.
fn join_ways(graph: &mut Graph, block: Block) {
    let data = graph.block(block);
    let [to, other] = data.succs[..] else { return };
    if to != other || graph.node(data.end).op != Op::BR || !graph.block(to).params.is_empty() {
        return;
    }
    graph.blocks[to.at()].preds.retain(|pred| *pred != Pred { block, succ: 1 });
    graph.end_with_jump(block, to);
}

/// The cold block to which a block jumps that does nothing else.
fn only_jumps(graph: &Graph, block: Block) -> Option<Block> {
    if block.at() == 0 {
        return None;
    }
    let data = graph.block(block);
    let [to] = data.succs[..] else { return None };
    let target = graph.block(to);
    let does_nothing = data.params.is_empty() && data.body.is_empty() && !data.preds.is_empty();
    let is_cold = target.heat == Heat::Cold && target.params.is_empty();
    (does_nothing && is_cold && to != block).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use crate::text::{parse, print};
    use crate::vocab::Vocabulary;

    /// The blocks with their ways, behind the pass.
    fn skipped(text: &str) -> String {
        let mut graph = parse::graph(Vocabulary::BUILTIN, text).expect("it is well written");
        assert_eq!(check::graph::graph(&graph), []);
        skip_jumps(&mut JumpScratch::default(), &mut graph);
        assert_eq!(check::graph::graph(&graph), []);
        let printed = print::graph(&graph);
        let of_blocks = |line: &&str| line.starts_with('b') || line.trim_start().starts_with(['j', 'b']);
        printed.lines().filter(of_blocks).map(str::trim).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn two_ways_to_one_slow_path_lead_there_at_once() {
        let text = "b0:
    v0 = argument0
    v1 = nz.i64 v0
    br v1 b1 b2
b1 <- b0.0:
    v2 = const.i64 7
    v3 = ult.i64 v0 v2
    br v3 b6 b3
b2 <- b0.1:
    jump b4
b3 <- b1.1:
    jump b4
b4 <- b2 b3:
    jump b5
b5 cold <- b4:
    return.i64 v0
b6 <- b1.0:
    return.i64 v2
";
        let expected = "b0:\nbr v1 b1 b5\nb1 <- b0:\nbr v3 b6 b5\nb5 cold <- b1.1 b0.1:\nb6 <- b1:";
        assert_eq!(skipped(text), expected);
    }

    /// What asks something and goes on at one place is left out, and what has led there leads on.
    #[test]
    fn a_branch_whose_ways_meet_is_none() {
        let text = "b0:
    v0 = argument0
    v1 = nz.i64 v0
    br v1 b1 b2
b1 <- b0.0:
    return.i64 v0
b2 <- b0.1:
    v2 = const.i64 7
    v3 = ult.i64 v0 v2
    br v3 b3 b4
b3 <- b2.0:
    jump b5
b4 <- b2.1:
    jump b5
b5 cold <- b3 b4:
    return.i64 v2
";
        assert_eq!(skipped(text), "b0:\nbr v1 b1 b5\nb1 <- b0:\nb5 cold <- b0.1:");
    }

    #[test]
    fn ways_into_hot_code_and_those_with_values_stay() {
        let ways = |heat: &str, params: &str| {
            format!(
                "b0:
    v0 = argument0
    v1 = nz.i64 v0
    br v1 b1 b2
b1 <- b0.0:
    jump b3
b2 <- b0.1:
    jump b3
b3{heat} <- b1 b2:
{params}    return.i64 v0
"
            )
        };
        assert_eq!(skipped(&ways(" cold", "")), "b0:\njump b3\nb3 cold <- b0:");
        for text in [ways("", ""), ways(" cold", "    v4 = param.i64 v0 v0\n")] {
            assert!(skipped(&text).contains("b1 <- b0:\njump b3\nb2 <- b0.1:\njump b3\n"), "{text}");
        }
    }
}
