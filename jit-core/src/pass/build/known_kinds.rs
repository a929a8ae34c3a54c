//! What is known of the kinds of values while a function is linked.
//!
//! In: blocks as they start, with the edges into them, and checks of kinds. Out: whether a check is decided, so that the linker leaves out the
//! other way. The boxes that were made and the checks that succeeded on the way to a block decide most checks in straight code. All
//! others are left to `pass::kinds`.
//!
//! The facts that hold in a block are a path in a tree of facts. Where several edges meet, what they have in common is the path
//! to their nearest common ancestor. At the head of a loop nothing is known.

use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::ir::kinds::{KindCheck, KindMask};
use crate::vocab::Op;

/// How many facts are looked at, the latest first.
const MAX_FACTS: usize = 32;

const NONE: u32 = u32::MAX;

/// The outcome of a check.
#[derive(Clone, Copy, Debug)]
struct KnownKind {
    value: Node,
    mask: KindMask,
    /// The fact that was known before.
    before: u32,
    /// How many facts were known before.
    height: u32,
}

/// The facts in each block.
#[derive(Debug, Default)]
pub(super) struct KnownKinds {
    facts: Vec<KnownKind>,
    /// By block: the latest fact that holds there.
    latest: Vec<u32>,
}

impl KnownKinds {
    pub(super) fn clear(&mut self) {
        self.facts.clear();
        self.latest.clear();
    }

    /// Called when a block starts, of which all edges are known unless it is the head of a loop.
    pub(super) fn start(&mut self, graph: &Graph, block: Block, is_loop: bool) {
        if graph.kinds.is_empty() {
            return;
        }
        let latest = match &graph.block(block).preds[..] {
            _ if is_loop => NONE,
            [] => NONE,
            [only] => {
                let before = self.latest_in(only.block);
                self.outcome(graph, only.block, only.succ == 0, before)
            }
            [first, others @ ..] => others.iter().fold(self.latest_in(first.block), |known, pred| {
                self.meet(known, self.latest_in(pred.block))
            }),
        };
        if latest != NONE {
            self.latest.resize(self.latest.len().max(block.at() + 1), NONE);
            self.latest[block.at()] = latest;
        }
    }

    /// Whether a flag holds in a block, if it is a check that is decided.
    pub(super) fn decides(&self, graph: &Graph, block: Block, flag: Node) -> Option<bool> {
        let check = KindCheck::of(graph, flag)?;
        let data = graph.node(check.value);
        let mask = match data.op {
            Op::BOX => KindMask::only(data.imm),
            Op::CONST => KindMask::of_constant(graph.kinds, graph.vocab, data.imm),
            _ => self.about(check.value, block),
        };
        check.decided_by(mask)
    }

    fn latest_in(&self, block: Block) -> u32 {
        self.latest.get(block.at()).copied().unwrap_or(NONE)
    }

    /// What is known behind the end of a block, if that checks something.
    fn outcome(&mut self, graph: &Graph, from: Block, holds: bool, before: u32) -> u32 {
        let end = graph.block(from).end;
        if !end.is_some() || graph.node(end).op != Op::BR {
            return before;
        }
        let Some(check) = KindCheck::of(graph, graph.inputs(end)[0]) else { return before };
        let mask = check.outcome(holds);
        let height = self.facts.get(before as usize).map_or(0, |fact| fact.height + 1);
        self.facts.push(KnownKind { value: check.value, mask, before, height });
        self.facts.len() as u32 - 1
    }

    fn about(&self, value: Node, block: Block) -> KindMask {
        let (mut mask, mut next) = (KindMask::ANY, self.latest_in(block));
        for _ in 0..MAX_FACTS {
            let Some(fact) = self.facts.get(next as usize) else { break };
            if fact.value == value {
                mask = mask.and(fact.mask);
            }
            next = fact.before;
        }
        mask
    }

    /// The nearest common ancestor of two facts.
    fn meet(&self, mut one: u32, mut other: u32) -> u32 {
        while one != other {
            let (Some(first), Some(second)) = (self.facts.get(one as usize), self.facts.get(other as usize))
            else {
                return NONE;
            };
            if first.height >= second.height {
                one = first.before;
            } else {
                other = second.before;
            }
        }
        one
    }
}
