//! Read again what is read through a register that is kept, in place of holding it.
//!
//! In: a floating value that any block may read again, or that takes little more than such values, whose users all have their blocks. Out:
//! copies of it, so that no block computes it only for others. Holds afterwards: a copy has the operator of its original, and equal
//! operands.
//!
//! The code that interprets an opcode has several ways, such as those for calls of bytecode and of Rust, and all read the same fields. The
//! nearest common dominator of these uses is in front of the branch. A value there takes a register up to its uses, and on ways with
//! calls one has to be saved; since many such values are read at once, most would be spilled on all ways. So each way gets its own copy,
//! unless the block of the dominator uses the value itself.
//!
//! Cost: at most a copy for each use. Nothing is noted in graphs without such values, which those of functions are.

use super::uses::{UseInBlock, Uses};
use super::{NONE, Scratch};
use crate::grammar::pattern::is_const;
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::schedule::Schedule;
use crate::vocab::Props;

/// Memory kept between functions; empty if no value can be read again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// For each node whether it is such a value.
    is_light: Vec<bool>,
    /// The uses of such values in hot blocks.
    uses: Uses,
    /// The uses of the value that is divided: the rank of the block, and the index of the operand.
    list: Vec<(u32, u32)>,
}

impl Again {
    pub(super) fn is_light(&self, node: Node) -> bool {
        self.is_light.get(node.at()).is_some_and(|is_light| *is_light)
    }

    /// Notes a use in a hot block.
    #[inline(always)]
    pub(super) fn note(&mut self, node: Node, link: usize, rank: u32) {
        if self.is_light(node) {
            self.uses.add(node, link, rank, false);
        }
    }

    /// A copy of a value is one, too.
    pub(super) fn add_copy(&mut self, of: Node) {
        if !self.is_light.is_empty() {
            self.is_light.push(self.is_light[of.at()]);
            self.uses.add_node();
        }
    }
}

impl Scratch {
    /// Finds the values that can be read again, of floating nodes that are listed operands first.
    pub(super) fn find_light(&mut self, graph: &Graph) {
        let Scratch { again: Again { is_light, uses, .. }, floating, .. } = self;
        is_light.clear();
        uses.clear();
        let props = |node: Node| graph.vocab.info(graph.node(node).op).props;
        if !floating.iter().any(|node| props(*node).contains(Props::REREAD)) {
            return;
        }
        is_light.resize(graph.nodes.len(), false);
        uses.start(graph.nodes.len());
        for &node in floating.iter() {
            let inputs = graph.inputs(node);
            let is_there = |input: &Node| {
                is_light[input.at()]
                    || props(*input).contains(Props::STAYS)
                    || is_const(graph.vocab.info(graph.node(*input).op))
            };
            let from_light =
                || inputs.iter().all(is_there) && inputs.iter().any(|input| is_light[input.at()]);
            is_light[node.at()] = props(node).contains(Props::REREAD) || from_light();
        }
    }

    /// Gives each way from the nearest common dominator of a value's uses in hot blocks its own copy, and so on below, down to blocks that
    /// use the value.
    pub(super) fn read_again<const COLD: bool>(&mut self, graph: &mut Graph, node: Node, out: &mut Schedule) {
        let mut list = core::mem::take(&mut self.again.list);
        list.clear();
        let mut next = self.again.uses.first(node);
        while let Some(UseInBlock { link, rank, .. }) = self.again.uses.next(&mut next) {
            list.push((rank, link));
        }
        self.home[node.at()] = NONE;
        self.divide_ways(&mut list, &mut |this, uses, home| {
            // The first way gets the value itself.
            if this.home[node.at()] == NONE {
                this.home[node.at()] = home;
                return;
            }
            let copy = this.add_copy(graph, node);
            out.copies.push((copy, node));
            uses.iter().for_each(|(_, link)| graph.links[*link as usize] = copy);
            let home = this.settle(graph, copy, home);
            this.home[copy.at()] = home;
            this.use_inputs::<COLD>(graph, copy, home);
        });
        self.again.list = list;
    }

    /// Divides uses among blocks, each of which uses the value or has but one way to the uses.
    fn divide_ways(
        &mut self,
        uses: &mut [(u32, u32)],
        found: &mut impl FnMut(&mut Scratch, &[(u32, u32)], u32),
    ) {
        let Some(home) = uses.iter().map(|(rank, _)| *rank).reduce(|a, b| self.flow.meet(a, b)) else {
            return;
        };
        if uses.iter().any(|(rank, _)| *rank == home) {
            return found(self, uses, home);
        }
        uses.sort_unstable_by_key(|(rank, link)| (self.way(home, *rank), *rank, *link));
        let mut rest = uses;
        while let Some((first, _)) = rest.first() {
            let way = self.way(home, *first);
            let count = rest.partition_point(|(rank, _)| self.way(home, *rank) <= way);
            let (uses, others) = rest.split_at_mut(count);
            self.divide_ways(uses, found);
            rest = others;
        }
    }

    /// The block right below one in the dominator tree on the way to another, which it dominates.
    fn way(&self, from: u32, to: u32) -> u32 {
        let mut at = to;
        while self.flow.idom[at as usize] != from {
            at = self.flow.idom[at as usize];
        }
        at
    }
}
