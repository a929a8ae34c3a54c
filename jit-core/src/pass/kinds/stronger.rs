//! Check at once what is checked of a value sooner or later.
//!
//! In and out: a graph with operators on kinds. What is loaded from a table is checked for `nil`, in front of a slow path, and a little later
//! for a number. Where the code that leaves out the slow path exits, the whole bytecode runs again in the interpreter, for any value.
//! So the first check may be the second one, and the second one is decided then.
//!
//! Both checks must exit in front of slow paths that were left out, and between the two there are only cold ways besides. So a value that
//! fails would have left soon, and then the slow path of the second check runs, which is left out no more: the first check is as it was from
//! then on. Keeps: the meaning, since such an exit is right for each value. Cost: linear in the blocks, times [`MOST`].

use super::guards::{MAX_JUMPS, leads_to_cold};
use super::{Scratch, add_check, check_of};
use crate::ir::graph::{Graph, Pred};
use crate::ir::index::{Block, Node};
use crate::ir::kinds::KindMask;
use crate::ir::status::Left;
use crate::vocab::{Op, Type};

/// How many checks are remembered on a way.
const MOST: usize = 16;

/// A check that could be a stronger one.
#[derive(Clone, Copy, Debug)]
struct WeakCheck {
    /// The block that it ends. It succeeds if the flag holds.
    block: Block,
    value: Node,
    /// The kinds of which the value may be if it succeeds, whatever else is known of the value.
    mask: KindMask,
}

impl Scratch {
    /// Makes checks stronger. The graph's flow is known, and does not change.
    pub(super) fn strengthen(&mut self, graph: &mut Graph) {
        let mut weak: Vec<WeakCheck> = Vec::new();
        for rank in 0..self.flow.order.len() {
            let start = self.flow.order[rank];
            if goes_on(graph, start).is_some() {
                continue;
            }
            // A way starts here.
            weak.clear();
            let mut next = Some(start);
            while let Some(block) = next {
                if let Some((kind, value)) = check_of(graph, block)
                    && is_missed(graph, graph.block(block).succs[1])
                    && let Some(at) = weak.iter().position(|check| check.value == value)
                    && excludes(weak[at].mask, kind)
                    && self.steps.take()
                {
                    let end = graph.block(weak.swap_remove(at).block).end;
                    let flag = add_check(graph, value, kind, graph.node(end).origin);
                    graph.set_inputs(end, &[flag]);
                }
                if let Some(check) = weak_check(graph, block) {
                    if weak.len() == MOST {
                        weak.remove(0);
                    }
                    weak.push(check);
                }
                next = onward(graph, block);
            }
        }
    }
}

/// Whether a check for a kind fails whenever one fails that leaves these kinds.
fn excludes(mask: KindMask, kind: u64) -> bool {
    mask.and(KindMask::only(kind)) == KindMask::only(kind)
}

/// The block from which a way goes on to this one, if one does.
fn goes_on(graph: &Graph, block: Block) -> Option<Block> {
    match graph.block(block).preds[..] {
        [Pred { block: from, .. }] => (onward(graph, from) == Some(block)).then_some(from),
        _ => None,
    }
}

/// Where a way goes on behind a block, on which all other ways are cold.
fn onward(graph: &Graph, block: Block) -> Option<Block> {
    let next = match graph.block(block).succs[..] {
        [next] => next,
        [next, other] | [other, next] if leads_to_cold(graph, other) && !leads_to_cold(graph, next) => next,
        _ => return None,
    };
    (graph.block(next).preds.len() == 1).then_some(next)
}

/// The check that ends a block, if it could be any other.
fn weak_check(graph: &Graph, block: Block) -> Option<WeakCheck> {
    let end = graph.block(block).end;
    if graph.node(end).op != Op::BR || !is_missed(graph, graph.block(block).succs[1]) {
        return None;
    }
    let flag = graph.inputs(end)[0];
    let data = graph.node(flag);
    if data.op != Op::NE || data.sig.from != Type::I64 {
        return None;
    }
    let [one, other] = graph.inputs(flag)[..] else { return None };
    let (value, bits) = match (graph.as_const(one), graph.as_const(other)) {
        (None, Some(bits)) => (one, bits),
        (Some(bits), None) => (other, bits),
        _ => return None,
    };
    let other = KindMask::of_constant(graph.kinds, graph.vocab, bits);
    // A value of the same kind may be another one.
    let mask = other.single().map(KindMask::but)?;
    Some(WeakCheck { block, value, mask })
}

/// Whether control leaves in front of a slow path that was left out, and does nothing before.
fn is_missed(graph: &Graph, mut block: Block) -> bool {
    for _ in 0..MAX_JUMPS {
        let data = graph.block(block);
        if !data.end.is_some() || data.body.iter().any(|node| graph.writes(*node)) {
            return false;
        }
        match (graph.node(data.end), &data.succs[..]) {
            (_, [next]) => block = *next,
            (end, []) => {
                let to = match graph.state(data.end) {
                    Some((state, _)) => state.to,
                    None if end.op == Op::EXIT_AT => end.imm,
                    None => return false,
                };
                return Left::of_exit(to) == Some(Left::Missed);
            }
            _ => return false,
        }
    }
    false
}
