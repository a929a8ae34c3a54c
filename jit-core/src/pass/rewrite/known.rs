//! Facts about flags that follow from the path to a block.
//!
//! In: each block as it starts, after all branches that lead there were visited. Out: whether a flag holds in a block. A
//! block whose incoming edges all come from branches starts with one fact: at least one of these branches' flags has the
//! value that leads here. With a single incoming edge, that flag has. A fact that holds at a block's start holds in every
//! block that it dominates: no path leads from the computation of the flag to such a block without passing the dominator
//! again, so it is the same value of the flag.
//!
//! So a branch is decided by a dominating branch on the same flag, whatever is in between, and in
//!
//! ```text
//!     if not a { if not b { trap } }  …  if not a { if not b { trap } }
//! ```
//!
//! the second test is dropped: where it tests `b`, one of the two flags holds, and `a` does not.
//!
//! A branch that compares an integer with a constant also says something of comparisons of the same integer with other
//! constants: an object of one shape is of no other.
//!
//! Cost: a constant for each incoming edge and for each branch. Whether a block dominates another is found by a search
//! backwards from the latter, if few blocks lie in between; the first time that fails, the dominators of all blocks are
//! computed.

use super::Walk;
use crate::ir::graph::{Graph, Pred};
use crate::ir::index::{Block, List, Node};
use crate::pass::flow::{FlowGraph, NONE};
use crate::vocab::Op;

/// The maximum number of incoming edges from which a fact is made.
const MAX_WAYS: usize = 4;
/// How many facts about a flag are checked, the latest first.
const MAX_FACTS: usize = 8;
/// How many blocks are visited to check dominance, before the dominators of all blocks are computed.
const MAX_BETWEEN: usize = 24;
/// How many blocks that end in a jump may lie between a branch and a block that it leads to.
const MAX_JUMPS: usize = 2;

/// A flag, and its value on one side of a branch.
#[derive(Clone, Copy, Debug)]
struct Literal {
    flag: Node,
    holds: bool,
    fact: u32,
    /// The previous literal about the same flag.
    before: u32,
}

/// What a fact with one literal says of an integer: that it is equal to a constant, or that it is not.
#[derive(Clone, Copy, Debug)]
struct Compared {
    bits: u64,
    is_equal: bool,
    fact: u32,
    /// What an earlier fact says of the same integer.
    before: u32,
}

/// A comparison of an integer with a constant.
#[derive(Clone, Copy, Debug)]
struct Equation {
    value: Node,
    bits: u64,
    is_equal: bool,
}

/// At least one of some literals is true from the start of a block on.
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
    /// For each node the last literal about it; entries of nodes with higher numbers may be missing.
    last: Vec<u32>,
    compared: Vec<Compared>,
    /// For each integer the last of `compared` about it; entries of nodes with higher numbers may be missing.
    last_compared: Vec<u32>,
    /// Dominators of the graph at the first query about distant blocks. They stay valid although edges are dropped later,
    /// since those edges are never taken.
    flow: Option<Box<FlowGraph>>,
    /// Memory for `flow` while that is not computed.
    unused: Option<Box<FlowGraph>>,
    /// The blocks between two others that a search has visited.
    between: Vec<Block>,
}

impl Facts {
    /// Forgets all facts, and makes room for a graph with this many nodes.
    pub(super) fn clear(&mut self, n_nodes: usize) {
        self.all.clear();
        self.literals.clear();
        self.last.clear();
        self.last.resize(n_nodes, NONE);
        self.compared.clear();
        self.last_compared.clear();
        self.last_compared.resize(n_nodes, NONE);
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

    /// Adds what the last fact says of an integer.
    fn compare(&mut self, value: Node, bits: u64, is_equal: bool) {
        if self.last_compared.len() <= value.at() {
            self.last_compared.resize(value.at() + 1, NONE);
        }
        let fact = self.all.len() as u32 - 1;
        let new = self.compared.len() as u32;
        let before = core::mem::replace(&mut self.last_compared[value.at()], new);
        self.compared.push(Compared { bits, is_equal, fact, before });
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
    /// Notes the fact that follows from the edges into a block.
    pub(super) fn note_ways_in(&mut self, block: Block) {
        let mut literals = [(Node::NONE, false); MAX_WAYS];
        let n_ways = self.graph.block(block).preds.len();
        if !(1..=MAX_WAYS).contains(&n_ways) {
            return;
        }
        for way in 0..n_ways {
            let Some(literal) = self.literal_of(self.graph.block(block).preds[way]) else { return };
            // Each flag may occur only once: a fact about both values of a flag would say nothing.
            if literals[..way].iter().any(|(flag, _)| *flag == literal.0) {
                return;
            }
            literals[way] = literal;
        }
        self.scratch.facts.add(block, &literals[..n_ways]);
        if let [(flag, holds)] = literals[..n_ways]
            && let Some(Equation { value, bits, is_equal }) = self.equation(flag)
        {
            self.scratch.facts.compare(value, bits, is_equal == holds);
        }
    }

    /// The comparison that a flag is, if it is one of an integer with a constant.
    #[inline]
    fn equation(&self, flag: Node) -> Option<Equation> {
        let data = self.graph.node(flag);
        let is_equal = match data.op {
            Op::EQ | Op::ZR => true,
            Op::NE | Op::NZ => false,
            _ => return None,
        };
        let bits = match *self.graph.inputs(flag) {
            [_, constant] => self.graph.as_const(constant)?,
            _ => 0,
        };
        data.sig.from.is_int().then(|| Equation { value: self.graph.inputs(flag)[0], bits, is_equal })
    }

    /// The literal that is true if control takes this edge, if the edge comes from a visited branch.
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

    /// Whether a flag holds in a block, if the facts decide that.
    #[inline]
    pub(super) fn is_known(&mut self, flag: Node, block: Block) -> Option<bool> {
        self.is_told(flag, block).or_else(|| self.is_decided(flag, block))
    }

    /// Whether a flag holds in a block, if what is known there of an integer that it compares decides that.
    fn is_decided(&mut self, flag: Node, block: Block) -> Option<bool> {
        if self.scratch.facts.compared.is_empty() {
            return None;
        }
        let Equation { value, bits, is_equal } = self.equation(flag)?;
        let mut next = *self.scratch.facts.last_compared.get(value.at())?;
        for _ in 0..MAX_FACTS {
            let known = *self.scratch.facts.compared.get(next as usize)?;
            let tells = known.is_equal || known.bits == bits;
            let fact = self.scratch.facts.all[known.fact as usize];
            if tells && self.reaches(fact.block, block) {
                return Some((known.is_equal && known.bits == bits) == is_equal);
            }
            next = known.before;
        }
        None
    }

    /// Whether a flag holds in a block, if the facts about it decide that.
    fn is_told(&mut self, flag: Node, block: Block) -> Option<bool> {
        let latest = self.scratch.facts.about(flag)?;
        self.find(latest, |walk, literal| {
            let fact = walk.scratch.facts.fact(literal);
            walk.reaches(fact.block, block)
                && fact.literals.range().all(|other| {
                    let other = walk.scratch.facts.literals[other];
                    other.flag == literal.flag || walk.is_settled(other.flag, block) == Some(!other.holds)
                })
        })
    }

    /// Whether a flag holds in a block, if a fact about this flag alone decides that.
    fn is_settled(&mut self, flag: Node, block: Block) -> Option<bool> {
        let latest = self.scratch.facts.about(flag)?;
        self.find(latest, |walk, literal| {
            let fact = walk.scratch.facts.fact(literal);
            fact.literals.len == 1 && walk.reaches(fact.block, block)
        })
    }

    /// Whether a flag holds, by the first literal about it that is accepted.
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

    /// Whether a fact that holds from the start of a block on holds in another block.
    fn reaches(&mut self, from: Block, block: Block) -> bool {
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

    /// Whether a block dominates another; `None` if many blocks lie between.
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
            // A block precedes those that it dominates.
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
