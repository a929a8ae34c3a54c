//! What is known of flags where a block starts, because control came there.
//!
//! In: each block that starts, once all branches that lead there were visited. Out: whether a flag holds in a block. A block
//! to which nothing but branches lead starts with one fact: at least one of the flags that lead there is as its branch wants
//! it. With a single way in, that flag is. What holds where a block starts holds in every block that it dominates: to come
//! from where a flag is computed to there without passing the block again is not possible, so it is the same flag.
//!
//! So a branch is decided by one on the same flag that dominates it, whatever is between, and
//!
//! ```text
//!     if not a { if not b { trap } }  …  if not a { if not b { trap } }
//! ```
//!
//! does the second test for nothing: where it asks for `b`, one of the two holds and `a` does not.
//!
//! Cost: a constant for each way in and for each branch. Whether a block dominates another one is found by going back from
//! that, if few blocks lie between; when that fails for the first time, dominators are found for all blocks.

use super::Walk;
use crate::ir::graph::{Graph, Pred};
use crate::ir::index::{Block, List, Node};
use crate::pass::flow::{Flow, NONE};
use crate::vocab::Op;

/// The most ways into a block of which a fact is made.
const MAX_WAYS: usize = 4;
/// How many facts about a flag are looked at, the latest first.
const MAX_FACTS: usize = 8;
/// How many blocks are looked at to find whether one dominates another, before dominators are found for all.
const MAX_BETWEEN: usize = 24;
/// How many blocks that only jump may lie between a branch and where it leads.
const MAX_JUMPS: usize = 2;

/// A flag is as a branch wanted it.
#[derive(Clone, Copy, Debug)]
struct Literal {
    flag: Node,
    holds: bool,
    fact: u32,
    /// The one before about the same flag.
    before: u32,
}

/// One of some literals is true from where a block starts.
#[derive(Clone, Copy, Debug)]
struct Fact {
    block: Block,
    literals: List,
}

/// All facts found so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    all: Vec<Fact>,
    literals: Vec<Literal>,
    /// For each node the last literal about it; those with higher numbers may be missing.
    last: Vec<u32>,
    /// The graph as it was when somebody asked for blocks that are far apart. Edges that were dropped since then are never
    /// taken.
    flow: Option<Box<Flow>>,
    /// Its memory while nobody has asked.
    unused: Option<Box<Flow>>,
    /// Blocks from which one is reached that are between it and another.
    between: Vec<Block>,
}

impl Facts {
    /// Forgets all of another graph, and has room for one with so many nodes.
    pub(super) fn clear(&mut self, n_nodes: usize) {
        self.all.clear();
        self.literals.clear();
        self.last.clear();
        self.last.resize(n_nodes, NONE);
        self.unused = self.flow.take().or(self.unused.take());
    }

    fn add(&mut self, block: Block, literals: &[(Node, bool)]) {
        let fact = self.all.len() as u32;
        let start = self.literals.len() as u32;
        self.all.push(Fact { block, literals: List { start, len: literals.len() as u32 } });
        for &(flag, holds) in literals {
            if self.last.len() <= flag.at() {
                self.last.resize(flag.at() + 1, NONE);
            }
            let new = self.literals.len() as u32;
            let before = core::mem::replace(&mut self.last[flag.at()], new);
            self.literals.push(Literal { flag, holds, fact, before });
        }
    }

    /// The latest literal about a flag.
    fn about(&self, flag: Node) -> Option<Literal> {
        self.last.get(flag.at()).and_then(|last| self.literal(*last))
    }

    fn literal(&self, at: u32) -> Option<Literal> {
        self.literals.get(at as usize).copied()
    }

    fn fact(&self, literal: Literal) -> Fact {
        self.all[literal.fact as usize]
    }
}

impl Walk<'_> {
    /// Notes what the ways into a block say that starts.
    pub(super) fn note_ways_in(&mut self, block: Block) {
        let mut literals = [(Node::NONE, false); MAX_WAYS];
        let n_ways = self.graph.block(block).preds.len();
        if !(1..=MAX_WAYS).contains(&n_ways) {
            return;
        }
        for way in 0..n_ways {
            let Some(literal) = self.literal_of(self.graph.block(block).preds[way]) else { return };
            // The same flag twice says less than one of the two, or nothing.
            if literals[..way].iter().any(|(flag, _)| *flag == literal.0) {
                return;
            }
            literals[way] = literal;
        }
        self.scratch.facts.add(block, &literals[..n_ways]);
    }

    /// What is so if control takes this way, of which a branch is known that was visited.
    fn literal_of(&self, way: Pred) -> Option<(Node, bool)> {
        let mut way = way;
        for _ in 0..=MAX_JUMPS {
            if !self.scratch.is_past[way.block.at()] {
                return None;
            }
            let end = self.graph.block(way.block).end;
            match (self.graph.node(end).op, &self.graph.block(way.block).preds[..]) {
                (Op::BR, _) => return Some((self.graph.inputs(end)[0], way.succ == 0)),
                (Op::JUMP, [only]) => way = *only,
                _ => return None,
            }
        }
        None
    }

    /// Whether a flag holds in a block, if that is known from how control came there.
    #[inline]
    pub(super) fn is_known(&mut self, flag: Node, block: Block) -> Option<bool> {
        let latest = self.scratch.facts.about(flag)?;
        self.find(latest, |walk, literal| {
            walk.reaches(literal, block)
                && walk.scratch.facts.fact(literal).literals.range().all(|other| {
                    let other = walk.scratch.facts.literals[other];
                    other.flag == literal.flag || walk.is_settled(other.flag, block) == Some(!other.holds)
                })
        })
    }

    /// Whether a flag is known in a block by a fact of its own.
    fn is_settled(&mut self, flag: Node, block: Block) -> Option<bool> {
        let latest = self.scratch.facts.about(flag)?;
        self.find(latest, |walk, literal| {
            walk.scratch.facts.fact(literal).literals.len == 1 && walk.reaches(literal, block)
        })
    }

    /// Whether a flag holds by the first literal about it that is as is asked for.
    fn find(&mut self, latest: Literal, mut is_it: impl FnMut(&mut Self, Literal) -> bool) -> Option<bool> {
        let mut next = Some(latest);
        for _ in 0..MAX_FACTS {
            let literal = next?;
            if is_it(self, literal) {
                return Some(literal.holds);
            }
            next = self.scratch.facts.literal(literal.before);
        }
        None
    }

    /// Whether a literal's fact is known in a block.
    fn reaches(&mut self, literal: Literal, block: Block) -> bool {
        let from = self.scratch.facts.fact(literal).block;
        if self.scratch.facts.flow.is_none() {
            if let Some(dominates) = self.dominates_near(from, block) {
                return dominates;
            }
            let mut flow = self.scratch.facts.unused.take().unwrap_or_default();
            flow.find_dominance(self.graph);
            self.scratch.facts.flow = Some(flow);
        }
        let flow = self.scratch.facts.flow.as_deref().expect("it was found");
        let (from, to) = (flow.rank[from.at()], flow.rank[block.at()]);
        from != NONE && to != NONE && flow.dominates(from, to)
    }

    /// Whether a block dominates another, if few blocks lie between.
    fn dominates_near(&mut self, from: Block, block: Block) -> Option<bool> {
        let rank = &self.scratch.flow.rank;
        let between = &mut self.scratch.facts.between;
        between.clear();
        if from != block {
            between.push(block);
        }
        let mut next = 0;
        while let Some(&at) = between.get(next) {
            next += 1;
            // What a block dominates stands behind it.
            if at == Graph::ENTRY || rank[at.at()] < rank[from.at()] {
                return Some(false);
            }
            for pred in &self.graph.block(at).preds {
                if pred.block != from && !between.contains(&pred.block) {
                    if between.len() == MAX_BETWEEN {
                        return None;
                    }
                    between.push(pred.block);
                }
            }
        }
        Some(true)
    }
}
