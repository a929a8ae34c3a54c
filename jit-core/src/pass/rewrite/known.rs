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
//! Cost: a constant for each way in and for each branch. Dominators are found once, when the first branch asks whose flag is
//! in a fact.

use super::Walk;
use crate::ir::graph::Pred;
use crate::ir::index::{Block, List, Node};
use crate::pass::flow::{Flow, NONE};
use crate::vocab::Op;

/// The most ways into a block of which a fact is made.
const MAX_WAYS: usize = 4;
/// How many facts about a flag are looked at, the latest first.
const MAX_FACTS: usize = 8;
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
    /// The graph as it was when somebody asked first. Edges that were dropped since then are never taken.
    flow: Option<Box<Flow>>,
    /// Its memory while nobody has asked.
    unused: Option<Box<Flow>>,
}

impl Facts {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.literals.clear();
        self.last.clear();
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

    /// The latest literals about a flag.
    fn about(&self, flag: Node) -> impl Iterator<Item = Literal> {
        let literal = |at: u32| self.literals.get(at as usize).copied();
        let last = self.last.get(flag.at()).copied().unwrap_or(NONE);
        core::iter::successors(literal(last), move |last| literal(last.before)).take(MAX_FACTS)
    }

    fn others(&self, literal: Literal) -> impl Iterator<Item = Literal> {
        let literals = &self.literals[self.all[literal.fact as usize].literals.range()];
        literals.iter().filter(move |other| other.flag != literal.flag).copied()
    }

    fn is_single(&self, literal: Literal) -> bool {
        self.all[literal.fact as usize].literals.len == 1
    }

    /// Whether a literal's fact is known in a block.
    fn reaches(&self, literal: Literal, block: Block) -> bool {
        let flow = self.flow.as_deref().expect("it was found before");
        let (from, to) = (flow.rank[self.all[literal.fact as usize].block.at()], flow.rank[block.at()]);
        from != NONE && to != NONE && flow.dominates(from, to)
    }

    /// Whether a flag is known in a block by a fact of its own.
    fn is_settled(&self, flag: Node, block: Block) -> Option<bool> {
        let mut about = self.about(flag);
        let found = about.find(|literal| self.is_single(*literal) && self.reaches(*literal, block))?;
        Some(found.holds)
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
    pub(super) fn is_known(&mut self, flag: Node, block: Block) -> Option<bool> {
        self.scratch.facts.about(flag).next()?;
        if self.scratch.facts.flow.is_none() {
            let mut flow = self.scratch.facts.unused.take().unwrap_or_default();
            flow.find_dominance(self.graph);
            self.scratch.facts.flow = Some(flow);
        }
        let facts = &self.scratch.facts;
        let found = facts.about(flag).find(|literal| {
            let is_refuted = |other: Literal| facts.is_settled(other.flag, block) == Some(!other.holds);
            facts.reaches(*literal, block) && facts.others(*literal).all(is_refuted)
        })?;
        Some(found.holds)
    }
}
