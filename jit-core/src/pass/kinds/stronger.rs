//! Check at once what is checked of a value sooner or later.
//!
//! In and out: a graph with operators on kinds. What is loaded from a table is checked for `nil`, in front of a slow path, and a little later
//! for a number. Where the code that leaves out the slow path exits, the whole bytecode runs again in the interpreter, for any value.
//! So the first check may be the second one, and the second one is decided then.
//!
//! A field that is nil may be good where nothing else can be asked for it: then the way on which the first check fails asks that, and leads back if so.
//! The second check fails for nil as well, so the way back is given up with the first check.
//!
//! Both checks must exit in front of slow paths that were left out, and between the two there are only cold ways besides. So a value that
//! fails would have left soon, and then the slow path of the second check runs, which is left out no more: the first check is as it was from
//! then on. Keeps: the meaning, since such an exit is right for each value. Cost: linear in the blocks, times [`MOST`].

use super::guards::{MAX_JUMPS, leads_to_cold};
use super::skip::redirect;
use super::{Scratch, add_check, check_of, flag_of};
use crate::ir::graph::{Graph, Pred};
use crate::ir::index::{Block, Node};
use crate::ir::kinds::{KindMask, compared_with_constant};
use crate::ir::status::Left;
use crate::vocab::{Op, Type};

/// How many checks are remembered on a way.
const MOST: usize = 16;

/// A check that could be a stronger one.
#[derive(Clone, Copy, Debug)]
struct WeakCheck {
    /// The block that it ends. It succeeds if the flag holds.
    block: Block,
    /// The edge by which control leaves if it fails, if it does not leave at once.
    leaves_by: Option<Pred>,
    value: Node,
    /// The kinds of which the value may be if it succeeds, whatever else is known of the value.
    mask: KindMask,
}

impl Scratch {
    /// Makes checks stronger. The graph's flow is known, before and after.
    pub(super) fn strengthen(&mut self, graph: &mut Graph) {
        let mut weak: Vec<WeakCheck> = Vec::new();
        let mut has_changed = false;
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
                    let check = weak.swap_remove(at);
                    let end = graph.block(check.block).end;
                    if let Some(edge) = check.leaves_by {
                        // What asks is not reached any more.
                        let back = Pred { succ: 1 - edge.succ, ..edge };
                        let fails = Pred { block: check.block, succ: 1 };
                        [back, fails].into_iter().for_each(|leads| redirect(graph, leads, edge));
                        has_changed = true;
                    }
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
        if has_changed {
            self.flow.find(graph);
        }
    }
}

/// Whether a check for a kind fails whenever one fails that leaves these kinds.
fn excludes(mask: KindMask, kind: u64) -> bool {
    mask.and(KindMask::only(kind)) == KindMask::only(kind)
}

/// The block from which a way goes on to this one, if one does.
fn goes_on(graph: &Graph, block: Block) -> Option<Block> {
    let is_from = |pred: &&Pred| onward(graph, pred.block) == Some(block);
    graph.block(block).preds.iter().find(is_from).map(|pred| pred.block)
}

/// Where a way goes on behind a block, on which all other ways are cold.
fn onward(graph: &Graph, block: Block) -> Option<Block> {
    if way_back(graph, block).is_some() {
        return Some(graph.block(block).succs[0]);
    }
    let next = match graph.block(block).succs[..] {
        [next] => next,
        [next, other] | [other, next] if leads_to_cold(graph, other) && !leads_to_cold(graph, next) => next,
        _ => return None,
    };
    (graph.block(next).preds.len() == 1).then_some(next)
}

/// The check that ends a block, if it could be any other.
fn weak_check(graph: &Graph, block: Block) -> Option<WeakCheck> {
    let flag = flag_of(graph, block)?;
    let leaves_by = way_back(graph, block);
    if leaves_by.is_none() && !is_missed(graph, graph.block(block).succs[1]) {
        return None;
    }
    let data = graph.node(flag);
    if data.op != Op::NE || data.sig.from != Type::I64 {
        return None;
    }
    let (value, bits) = compared_with_constant(graph, flag)?;
    let other = KindMask::of_constant(graph.kinds, graph.vocab, bits);
    // A value of the same kind may be another one.
    let mask = other.single().map(KindMask::but)?;
    Some(WeakCheck { block, leaves_by, value, mask })
}

/// If the way on which a block's branch fails asks something else, and goes where the branch leads or leaves in front of a slow path: the edge by which it
/// leaves. No other way leads there.
fn way_back(graph: &Graph, block: Block) -> Option<Pred> {
    let [good, asks] = graph.block(block).succs[..] else { return None };
    let (data, target) = (graph.block(asks), graph.block(good));
    let [one, other] = data.succs[..] else { return None };
    let succ = match () {
        () if one == good => 1,
        () if other == good => 0,
        () => return None,
    };
    let is_alone = data.preds.len() == 1 && data.params.is_empty() && target.preds.len() == 2;
    let does_nothing = target.params.is_empty() && !data.body.iter().any(|node| graph.writes(*node));
    let leaves = is_alone && does_nothing && is_missed(graph, data.succs[succ as usize]);
    leaves.then_some(Pred { block: asks, succ })
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
