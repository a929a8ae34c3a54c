//! Compute values in cold code, so that hot code need not compute them.
//!
//! In: a floating value whose users all have their blocks. Out: its block, and copies of it in cold code that users there
//! take instead. Holds afterwards: a copy has the operator of its original, and equal operands.
//!
//! The nearest common dominator of uses in several cold blocks is usually hot, and a value computed there is nearly always
//! computed in vain: an argument of calls on slow paths, or an address for stores before exits. So each cold *region* gets
//! its own copy. A region is a cold block with a hot immediate dominator, and the cold blocks below it in the dominator
//! tree. A value that hot code needs as well is placed where hot code needs it; regions that this block does not dominate
//! get copies. A constant or an address that a cold call takes is copied too, wherever it is placed: it folds into other
//! instructions, but a call needs it in a register.
//!
//! A copy needs its operands in its own block, so hot code keeps them live until then. There is no copy if more than one of
//! them is kept live for nothing else: the value itself would take only one register. If one is, there is no copy either where hot code
//! computes the value as often anyway.
//!
//! Cost: a constant for each use in cold code, and no more copies than there are nodes. A value that many regions use is
//! copied only if it is a constant or an address, so that cold code does not become much longer.

use super::uses::{UseInBlock, Uses};
use super::{NONE, Scratch, folds};
use crate::grammar::pattern::is_const;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{List, Node};
use crate::ir::schedule::Schedule;
use crate::vocab::Props;
use crate::vocab::op::Kind;

/// How many operands may be kept live for copies alone, in place of the copied value.
const MAX_KEPT: usize = 1;
/// The maximum number of copies of a value that is neither a constant nor an address.
const MAX_COPIES: usize = 8;
/// How many levels of operands are searched for values that are live anyway.
const MAX_DEPTH: u32 = 2;

/// Memory kept between functions; empty if no block is cold.
#[derive(Debug, Default)]
pub(super) struct Cold {
    /// By rank: the first block of each cold block's region.
    region: Vec<u32>,
    /// By rank of a region's first block: the value divided last, and its copy there.
    copies: Vec<(Node, Node)>,
    /// The uses in cold blocks.
    uses: Uses,
    /// For each node one more than the rank of the last hot block known to use it.
    kept_until: Vec<u32>,
    /// How many more copies are allowed.
    n_left: usize,
}

impl Scratch {
    /// Prepares for a graph whose cold blocks are known.
    pub(super) fn find_regions(&mut self, graph: &Graph) {
        let Scratch { flow, is_cold, cold, .. } = self;
        cold.clear();
        if !is_cold.contains(&true) {
            return;
        }
        for rank in 0..is_cold.len() {
            let above = flow.idom[rank] as usize;
            let region = if is_cold[rank] && is_cold[above] { cold.region[above] } else { rank as u32 };
            cold.region.push(region);
        }
        cold.copies.resize(is_cold.len(), (Node::NONE, Node::NONE));
        cold.uses.start(graph.nodes.len());
        cold.kept_until.resize(graph.nodes.len(), 0);
        cold.n_left = graph.nodes.len();
    }

    /// Notes the uses of a node's operands in its cold block.
    pub(super) fn use_inputs_in_cold(&mut self, graph: &Graph, node: Node, rank: u32) {
        let data = graph.node(node);
        let info = graph.vocab.info(data.op);
        for (at, link) in data.inputs.range().enumerate() {
            let as_address = info.operands.get(at) == Some(&Kind::Ptr);
            // A constant folds into most instructions, but not as an address.
            let is_constant = graph.node(graph.links[link]).inputs.len == 0;
            self.use_in_cold(graph, link, rank, info.is_call() || as_address == is_constant);
        }
    }

    /// Notes a use in a cold block.
    pub(super) fn use_in_cold(&mut self, graph: &Graph, link: usize, rank: u32, in_register: bool) {
        let node = graph.links[link];
        if graph.node(node).block.is_some() {
            return;
        }
        self.cold.uses.add(node, link, rank, in_register);
    }

    /// Finds the block of a value that is used in cold blocks, and may copy it. `home` has the nearest common dominator of
    /// its uses in hot blocks.
    pub(super) fn divide(&mut self, graph: &mut Graph, node: Node, out: &mut Schedule) -> u32 {
        let hot = match self.home[node.at()] {
            NONE => NONE,
            late => self.settle(graph, node, late),
        };
        // What is read again is not worth a register in hot code.
        let is_light = self.again.is_light(node);
        let folds = folds(graph, node) && !is_light;
        let costs = !folds || hot == NONE && costs_without_use(graph, node);
        let (mut all, mut n_regions, mut branch, mut in_register) = (hot, 0, 0, costs);
        let mut next = self.cold.uses.first(node);
        while let Some(at) = self.cold.uses.next(&mut next) {
            let rank = at.rank;
            if self.is_served(hot, folds, at) {
                continue;
            }
            in_register |= at.in_register;
            all = if all == NONE { rank } else { self.flow.meet(all, rank) };
            let region = self.cold.region[rank as usize];
            let (of, copy) = &mut self.cold.copies[region as usize];
            if core::mem::replace(of, node) != node {
                *copy = Node::NONE;
                n_regions += 1;
                branch = branch.max(self.flow.idom[region as usize]);
            }
        }
        let n_copies = n_regions - (hot == NONE) as usize;
        // A value that exists on entry cannot be computed again.
        let info = graph.vocab.info(graph.node(node).op);
        let is_made = !graph.inputs(node).is_empty() || is_const(info) || info.props.contains(Props::REREAD);
        let n_kept = self.n_kept(graph, node, branch);
        // Hot code that computes the value as often earlier keeps it in a register in place of operands.
        let is_as_often = || hot != NONE && !folds && n_kept > 0 && self.run_equally_often(hot, all);
        if n_copies == 0
            || !in_register
            || is_as_often()
            || !is_made
            || n_copies > if folds || is_light { self.cold.n_left } else { self.cold.n_left.min(MAX_COPIES) }
            || n_kept > MAX_KEPT
            || !self.steps.take()
        {
            return if all == hot { hot } else { self.settle(graph, node, all) };
        }
        self.cold.n_left -= n_copies;
        self.copy(graph, node, hot, folds, out)
    }

    /// Whether a use in cold code takes the value from the hot block.
    fn is_served(&self, hot: u32, folds: bool, at: UseInBlock) -> bool {
        hot != NONE && !(folds && at.in_register) && self.flow.dominates(hot, at.rank)
    }

    /// Gives each region with uses of a value its own copy. If hot code does not use the value, the first region gets the
    /// value itself.
    fn copy(&mut self, graph: &mut Graph, node: Node, hot: u32, folds: bool, out: &mut Schedule) -> u32 {
        let first = graph.nodes.len();
        let mut home = hot;
        let mut next = self.cold.uses.first(node);
        while let Some(at) = self.cold.uses.next(&mut next) {
            let UseInBlock { link, rank, .. } = at;
            if self.is_served(hot, folds, at) {
                continue;
            }
            let region = self.cold.region[rank as usize] as usize;
            let there = self.cold.copies[region].1;
            let copy = match there {
                Node::NONE if home == NONE => node,
                Node::NONE => {
                    let copy = self.add_copy(graph, node);
                    out.copies.push((copy, node));
                    copy
                }
                there => there,
            };
            self.cold.copies[region].1 = copy;
            graph.links[link as usize] = copy;
            if copy == node {
                home = if home == NONE { rank } else { self.flow.meet(home, rank) };
            } else {
                let home = &mut self.home[copy.at()];
                *home = if *home == NONE { rank } else { self.flow.meet(*home, rank) };
            }
        }
        for copy in first..graph.nodes.len() {
            self.use_inputs_in_cold(graph, Node::from(copy), self.home[copy]);
        }
        home
    }

    pub(super) fn add_copy(&mut self, graph: &mut Graph, node: Node) -> Node {
        let data = *graph.node(node);
        let start = graph.links.len();
        graph.links.extend_from_within(data.inputs.range());
        let copy = Node::from(graph.nodes.len());
        let inputs = List { start: start as u32, ..data.inputs };
        graph.nodes.push(NodeData { inputs, ..data });
        self.early.push(self.early[node.at()]);
        self.need.push(self.need[node.at()]);
        self.home.push(NONE);
        self.cold.uses.add_node();
        self.cold.kept_until.push(0);
        self.again.add_copy(node);
        self.floating.push(copy);
        copy
    }

    /// How many operands of a value are kept live up to a block for that value alone.
    fn n_kept(&self, graph: &Graph, node: Node, rank: u32) -> usize {
        let inputs = graph.inputs(node);
        // A repeated operand counts once.
        let is_first = |at: usize| !inputs[..at].contains(&inputs[at]);
        let is_kept = |at: &usize| is_first(*at) && !self.is_there(graph, inputs[*at], rank, MAX_DEPTH);
        (0..inputs.len()).filter(is_kept).count()
    }

    /// Whether a value is known to be available where control leaves a hot block for a cold one: hot code uses it later or
    /// in the next iteration of a loop, or it can be computed from available values.
    fn is_there(&self, graph: &Graph, node: Node, rank: u32, depth: u32) -> bool {
        let until = self.cold.kept_until[node.at()];
        let inner = self.flow.innermost[rank as usize];
        let is_kept_around = || {
            inner != NONE && {
                let head = self.flow.loops[inner as usize].head;
                until > head && self.early[node.at()] < head
            }
        };
        let is_anywhere =
            || graph.vocab.info(graph.node(node).op).props.intersects(Props::REREAD | Props::STAYS);
        if until > rank + 1 || is_kept_around() || is_anywhere() {
            return true;
        }
        let is_made = !graph.node(node).block.is_some() && depth > 0;
        is_made && graph.inputs(node).iter().all(|input| self.is_there(graph, *input, rank, depth - 1))
    }
}

/// Whether a value that folds may cost hot code something if that does not use it: a constant that needs a register, or an
/// address that is computed from other values.
fn costs_without_use(graph: &Graph, node: Node) -> bool {
    let inputs = graph.inputs(node);
    let is_computed = |input: &Node| !graph.node(*input).block.is_some() && !folds(graph, *input);
    inputs.is_empty() || inputs.iter().any(is_computed)
}

impl Cold {
    fn clear(&mut self) {
        let Cold { region, copies, uses, kept_until, n_left: _ } = self;
        region.clear();
        copies.clear();
        uses.clear();
        kept_until.clear();
    }

    /// Notes a use in a hot block.
    #[inline(always)]
    pub(super) fn use_in_hot(&mut self, node: Node, rank: u32) {
        let until = &mut self.kept_until[node.at()];
        *until = (*until).max(rank + 1);
    }

    /// Whether cold blocks use a node.
    #[inline(always)]
    pub(super) fn is_used(&self, node: Node) -> bool {
        self.uses.is_used(node)
    }
}
