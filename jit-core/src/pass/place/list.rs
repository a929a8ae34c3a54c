//! Put the nodes of each block in order.
//!
//! In: the block of each value, and the order of blocks. Out: the nodes of each block in [`Schedule::nodes`]. Holds
//! afterwards: each node comes after its operands, and pinned nodes keep their order.

use super::{LISTED, MANY, NONE, Scratch, folds};
use crate::ir::graph::Graph;
use crate::ir::index::{Block, List, Node};
use crate::ir::schedule::Schedule;
use crate::vocab::op::Yields;
use crate::vocab::{Op, Type};

/// The distance, in effects of a long block, at which values of earlier bytecodes are listed even if no user needs them
/// yet, so that their operands need not stay live.
const MAX_WAITING: usize = 256;

impl Scratch {
    pub(super) fn find_users(&mut self, graph: &Graph) {
        self.user.clear();
        self.user.resize(graph.nodes.len(), Node::NONE);
        for at in 0..graph.nodes.len() {
            let node = Node::from(at);
            for input in graph.inputs(node) {
                let user = &mut self.user[input.at()];
                *user = if user.is_some() { MANY } else { node };
            }
        }
    }

    pub(super) fn list_nodes(&mut self, graph: &Graph, out: &mut Schedule) {
        for position in 0..out.blocks.len() {
            let block = out.blocks[position].block;
            let rank = self.flow.rank[block.at()];
            let start = out.nodes.len();
            let data = graph.block(block);
            let is_long = data.body.len() > MAX_WAITING;
            if is_long {
                self.find_waiting(graph, rank);
            }
            for (count, &node) in data.body.iter().enumerate() {
                if is_long && count % MAX_WAITING == 0 {
                    self.list_waiting(graph, graph.node(node).origin, block, &mut out.nodes);
                }
                self.list_operands(graph, node, rank, &mut out.nodes);
                out.nodes.push(node);
                if self.may_fault || is_long {
                    self.home[node.at()] = LISTED;
                    if graph.may_fault(node) {
                        self.list_users(graph, node, rank, &mut out.nodes);
                    }
                }
            }
            let mut node = self.first[rank as usize];
            while node.is_some() {
                self.list(graph, node, rank, &mut out.nodes);
                node = self.next[node.at()];
            }
            out.nodes.push(data.end);
            out.blocks[position].nodes = List { start: start as u32, len: (out.nodes.len() - start) as u32 };
        }
    }

    /// The values of a block in the order of their bytecodes, except those that fold into other instructions.
    fn find_waiting(&mut self, graph: &Graph, rank: u32) {
        self.waiting.clear();
        let mut node = self.first[rank as usize];
        while node.is_some() {
            let data = graph.node(node);
            if data.ty() != Type::Flag && !folds(graph, node) {
                self.waiting.push((data.origin, node));
            }
            node = self.next[node.at()];
        }
        // The next one is at the end.
        self.waiting.sort_unstable_by_key(|(origin, node)| core::cmp::Reverse((*origin, node.at())));
    }

    /// Lists the values of bytecodes before this one that no user in the block has needed yet, if their operands are
    /// available. If they were listed last, their operands would stay live to the end of the block.
    fn list_waiting(&mut self, graph: &Graph, before: u32, block: Block, nodes: &mut Vec<Node>) {
        let rank = self.flow.rank[block.at()];
        while let Some((_, node)) = self.waiting.pop_if(|(origin, _)| *origin < before) {
            if graph.inputs(node).iter().all(|input| self.is_at_hand(graph, *input, block, rank)) {
                self.list(graph, node, rank, nodes);
            }
        }
    }

    /// Whether an operand of a value of this block is available, or can be computed anywhere.
    fn is_at_hand(&self, graph: &Graph, input: Node, block: Block, rank: u32) -> bool {
        let data = graph.node(input);
        match data.block == block {
            true => self.home[input.at()] == LISTED || data.op == Op::PARAM,
            false => self.home[input.at()] != rank || data.inputs.len == 0,
        }
    }

    fn list_operands(&mut self, graph: &Graph, node: Node, rank: u32, nodes: &mut Vec<Node>) {
        for turn in 0..graph.inputs(node).len() {
            self.list(graph, self.operand(graph, node, turn), rank, nodes);
        }
    }

    /// Lists the user in this block of a value that was just listed, then the user of that one, and so on, as long as their
    /// other operands are available. A user that folds into its own user stays with that.
    fn list_users(&mut self, graph: &Graph, node: Node, rank: u32, nodes: &mut Vec<Node>) {
        let block = graph.node(node).block;
        let mut value = node;
        loop {
            let user = self.user[value.at()];
            if self.home.get(user.at()) != Some(&rank) {
                return;
            }
            let data = graph.node(user);
            if data.ty() == Type::Flag || graph.vocab.info(data.op).yields == Yields::Ptr {
                return;
            }
            let is_there = |input: &Node| *input == value || self.is_at_hand(graph, *input, block, rank);
            if !graph.inputs(user).iter().all(is_there) {
                return;
            }
            self.list(graph, user, rank, nodes);
            value = user;
        }
    }

    /// Lists a value of this block that is not listed yet, after its operands.
    fn list(&mut self, graph: &Graph, root: Node, rank: u32, nodes: &mut Vec<Node>) {
        if self.home[root.at()] != rank {
            return;
        }
        self.stack.push((root, 0));
        while let Some(&(node, turn)) = self.stack.last() {
            if (turn as usize) < graph.inputs(node).len() {
                let input = self.operand(graph, node, turn as usize);
                self.stack.last_mut().expect("it was just read").1 += 1;
                if self.home[input.at()] == rank {
                    self.stack.push((input, 0));
                }
                continue;
            }
            self.stack.pop();
            // An operand that two nodes on the stack share has been listed for the upper one.
            if core::mem::replace(&mut self.home[node.at()], NONE) == rank {
                nodes.push(node);
            }
        }
    }

    /// The operand to compute in this turn: of two, the one that needs more registers comes first.
    fn operand(&self, graph: &Graph, node: Node, turn: usize) -> Node {
        match *graph.inputs(node) {
            [a, b] if self.need[b.at()] > self.need[a.at()] => [b, a][turn],
            ref inputs => inputs[turn],
        }
    }
}
