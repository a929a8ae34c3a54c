//! What uses memory that was made.
//!
//! In: a graph, and its calls that make memory. Out: for each node that has an address in such memory as an operand, what it does with it.

use super::{Sinker, floats};
use crate::ir::index::Node;
use crate::pass::flow::NONE;
use crate::pass::places::made_in;
use crate::vocab::Op;

/// What a use does with an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UseKind {
    /// Stores there.
    Store,
    /// Loads from there.
    Load,
    /// Stores the address in what another call makes, or passes it to that call.
    Held(u32),
    /// Gives it to somebody.
    Escape,
    /// Computes something of it, wherever that is.
    Anywhere,
}

/// A use.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressUse {
    /// The number of the call.
    pub(super) of: u32,
    /// The rank of the block that uses it: for a parameter that of the way to it.
    pub(super) rank: u32,
    pub(super) node: Node,
    /// Which of all operands it is.
    pub(super) link: u32,
    pub(super) kind: UseKind,
}

impl Sinker<'_> {
    /// Finds all uses. What nodes compute that have no place of their own counts only if it is known which nodes are live.
    pub(super) fn find_uses(&mut self) {
        let order = core::mem::take(&mut self.scratch.flow.order);
        let mut at = Vec::new();
        for (rank, block) in (0u32..).zip(&order) {
            let data = self.graph.block(*block);
            at.extend(data.body.iter().chain([&data.end]).map(|node| (*node, rank)));
            for &param in &data.params {
                at.push((param, NONE));
            }
        }
        self.scratch.flow.order = order;
        let knows_live = !self.scratch.is_live.is_empty();
        for (node, rank) in at {
            if self.graph.node(node).op != Op::HOLDS && self.is_live(node) && (knows_live || rank != NONE) {
                self.find_in(node, rank);
            }
        }
        for number in 0..self.scratch.is_live.len() {
            let node = Node::from(number);
            if self.scratch.is_live[number] && floats(self.graph, node) && made_in(self.graph, node).is_none()
            {
                self.find_in(node, 0);
            }
        }
        // Those of a call are next to each other.
        self.scratch.uses.sort_by_key(|one| (one.of, one.link));
    }

    fn is_live(&self, node: Node) -> bool {
        self.scratch.is_live.get(node.at()).copied().unwrap_or(true)
    }

    /// Adds the uses by a node.
    fn find_in(&mut self, node: Node, rank: u32) {
        let data = *self.graph.node(node);
        for (operand, link) in data.inputs.range().enumerate() {
            let Some(of) = self.number_of(self.graph.links[link]) else { continue };
            let mut rank = rank;
            let kind = match data.op {
                _ if floats(self.graph, node) => UseKind::Anywhere,
                Op::PARAM => {
                    let pred = self.graph.block(data.block).preds[operand];
                    rank = self.scratch.flow.rank[pred.block.at()];
                    UseKind::Escape
                }
                Op::STORE if operand == 0 => UseKind::Store,
                Op::LOAD => UseKind::Load,
                Op::STORE => {
                    self.number_of(self.graph.inputs(node)[0]).map_or(UseKind::Escape, UseKind::Held)
                }
                _ if self.graph.makes(node) => self.number_of(node).map_or(UseKind::Escape, UseKind::Held),
                _ => UseKind::Escape,
            };
            if rank != NONE {
                self.scratch.uses.push(AddressUse { of, rank, node, link: link as u32, kind });
            }
        }
    }

    /// The number of the call in whose memory an address is.
    pub(super) fn number_of(&self, address: Node) -> Option<u32> {
        let call = made_in(self.graph, address)?;
        self.scratch.made.iter().position(|made| made.call == call).map(|at| at as u32)
    }
}
