//! What uses memory that was made.
//!
//! In: a graph, and its calls that make memory. Out: for each node that has an address in such memory as an operand, what it does with it.

use super::Sinker;
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
        let knows_live = !self.scratch.is_live.is_empty();
        for rank in 0..self.scratch.flow.order.len() as u32 {
            let data = self.graph.block(self.scratch.flow.order[rank as usize]);
            let params = data.params.iter().filter(|_| knows_live);
            for &node in data.body.iter().chain([&data.end]).chain(params) {
                if self.graph.node(node).op != Op::HOLDS && self.is_live(node) {
                    self.find_in(node, rank);
                }
            }
        }
        for number in 0..self.scratch.is_live.len() {
            let node = Node::from(number);
            if self.scratch.is_live[number]
                && !self.graph.node(node).block.is_some()
                && made_in(self.graph, node).is_none()
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
            let Some(of) = self.scratch.number_of(self.graph, self.graph.links[link]) else { continue };
            let mut rank = rank;
            let kind = match data.op {
                _ if !data.block.is_some() => UseKind::Anywhere,
                Op::PARAM => {
                    let pred = self.graph.block(data.block).preds[operand];
                    rank = self.scratch.flow.rank[pred.block.at()];
                    UseKind::Escape
                }
                Op::STORE if operand == 0 => UseKind::Store,
                Op::LOAD => UseKind::Load,
                Op::STORE => self
                    .scratch
                    .number_of(self.graph, self.graph.inputs(node)[0])
                    .map_or(UseKind::Escape, UseKind::Held),
                _ if self.graph.makes(node) => {
                    self.scratch.number_of(self.graph, node).map_or(UseKind::Escape, UseKind::Held)
                }
                _ => UseKind::Escape,
            };
            if rank != NONE {
                self.scratch.uses.push(AddressUse { of, rank, node, link: link as u32, kind });
            }
        }
    }
}
