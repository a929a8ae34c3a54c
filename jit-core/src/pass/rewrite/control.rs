//! Simplification of control flow by known values.
//!
//! In: a block whose nodes have been visited. Out: the block without a branch that a known value decides or a selection
//! replaces, and merged with a successor of which it is the only predecessor.

use super::Walk;
use crate::ir::graph::{Heat, Pred};
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// How many values the two arms of a branch may compute if it is to be replaced: a predictable branch mostly costs less
/// than values that are computed in vain, and adds no dependency.
const MAX_COMPUTED: usize = 2;
/// How many selections may replace a branch.
const MAX_CHOICES: usize = 2;

impl Walk<'_> {
    /// The only predecessor of a block, if the block is its only successor.
    pub(super) fn sole_source(&self, block: Block) -> Option<Block> {
        let [pred] = self.graph.block(block).preds[..] else { return None };
        (self.graph.block(pred.block).succs.len() == 1 && pred.block != block).then_some(pred.block)
    }

    /// Appends a block to its only predecessor; returns where its body begins there.
    pub(super) fn join(&mut self, to: Block, block: Block) -> usize {
        let mut joined = core::mem::take(&mut self.graph.blocks[block.at()]);
        debug_assert!(joined.params.is_empty(), "a block with one way in has no parameters left");
        for &node in joined.body.iter().chain([&joined.end]) {
            self.graph.nodes[node.at()].block = to;
        }
        for (at, &succ) in joined.succs.iter().enumerate() {
            let old = Pred { block, succ: at as u32 };
            let preds = &mut self.graph.blocks[succ.at()].preds;
            let way =
                preds.iter_mut().find(|pred| **pred == old).expect("each successor knows its predecessors");
            way.block = to;
        }
        let data = &mut self.graph.blocks[to.at()];
        let start = data.body.len();
        data.body.extend_from_slice(&joined.body);
        data.end = joined.end;
        core::mem::swap(&mut data.succs, &mut joined.succs);
        data.heat = data.heat.min(joined.heat);
        joined.clear();
        self.graph.blocks[block.at()] = joined;
        start
    }

    /// Drops parameters that have only one value; returns whether there were any.
    #[inline]
    pub(super) fn drop_trivial_params(&mut self, block: Block) -> bool {
        !self.graph.block(block).params.is_empty() && self.drop_trivial(block)
    }

    fn drop_trivial(&mut self, block: Block) -> bool {
        let mut kept = 0;
        let n_params = self.graph.block(block).params.len();
        for at in 0..n_params {
            let param = self.graph.block(block).params[at];
            match self.only_value(param) {
                Some(value) => self.replace(param, value),
                None => {
                    self.graph.blocks[block.at()].params[kept] = param;
                    kept += 1;
                }
            }
        }
        self.graph.blocks[block.at()].params.truncate(kept);
        kept < n_params
    }

    fn only_value(&mut self, param: Node) -> Option<Node> {
        let mut only = None;
        for link in self.graph.node(param).inputs.range() {
            let input = self.current(self.graph.links[link]);
            if input == param || only == Some(input) {
                continue;
            }
            if only.replace(input).is_some() {
                return None;
            }
        }
        // A parameter whose only input is itself is in a loop that has become unreachable.
        let data = *self.graph.node(param);
        only.or_else(|| Some(self.graph.constant(data.ty(), 0, data.origin)))
    }

    /// Replaces a branch or switch on a known value by a jump; swaps the targets of a branch on a negation.
    pub(super) fn decide(&mut self, block: Block) {
        let end = self.graph.block(block).end;
        let data = *self.graph.node(end);
        if data.op == Op::BR {
            let flag = *self.graph.node(self.graph.inputs(end)[0]);
            if flag.op == Op::CONST {
                self.keep_way(block, (flag.imm == 0) as usize);
            } else if flag.op == Op::NOTF {
                self.graph.links[data.inputs.start as usize] = self.graph.links[flag.inputs.start as usize];
                self.swap_ways(block);
                self.decide(block);
            } else if let Some(holds) = self.is_known(self.graph.inputs(end)[0], block) {
                self.keep_way(block, !holds as usize);
            }
        } else if data.op == Op::SWITCH
            && let Some(value) = self.graph.as_const(self.graph.inputs(end)[0])
        {
            let last = self.graph.block(block).succs.len() - 1;
            self.keep_way(block, value.min(last as u64) as usize);
        }
    }

    fn swap_ways(&mut self, block: Block) {
        self.graph.blocks[block.at()].succs.swap(0, 1);
        let [a, b] = self.graph.block(block).succs[..] else { unreachable!("a branch goes two ways") };
        for succ in [Some(a), (a != b).then_some(b)].into_iter().flatten() {
            for pred in &mut self.graph.blocks[succ.at()].preds {
                if pred.block == block {
                    pred.succ ^= 1;
                }
            }
        }
    }

    /// Keeps only one of a block's successors.
    fn keep_way(&mut self, block: Block, kept: usize) {
        let succs = core::mem::take(&mut self.graph.blocks[block.at()].succs);
        for (at, &succ) in succs.iter().enumerate() {
            if at != kept {
                self.drop_way(succ, Pred { block, succ: at as u32 });
            }
        }
        let old = Pred { block, succ: kept as u32 };
        let preds = &mut self.graph.blocks[succs[kept].at()].preds;
        let way = preds.iter_mut().find(|pred| **pred == old).expect("each successor knows its predecessors");
        way.succ = 0;
        let to = succs[kept];
        self.graph.blocks[block.at()].succs = succs;
        self.graph.end_with_jump(block, to);
        self.has_dropped_edges = true;
    }

    /// Removes an edge into a block, and the block as well if that was the last one.
    fn drop_way(&mut self, block: Block, way: Pred) {
        self.remove_pred(block, way);
        debug_assert!(self.scratch.dropped.is_empty());
        self.scratch.dropped.push(block);
        while let Some(block) = self.scratch.dropped.pop() {
            if !self.graph.block(block).preds.is_empty() || self.scratch.is_past[block.at()] {
                continue;
            }
            self.scratch.is_past[block.at()] = true;
            let mut data = core::mem::take(&mut self.graph.blocks[block.at()]);
            for (at, &succ) in data.succs.iter().enumerate() {
                self.remove_pred(succ, Pred { block, succ: at as u32 });
                self.scratch.dropped.push(succ);
            }
            data.clear();
            self.graph.blocks[block.at()] = data;
        }
    }

    fn remove_pred(&mut self, block: Block, way: Pred) {
        let data = &mut self.graph.blocks[block.at()];
        // A block that was dropped before has no predecessors.
        let Some(at) = data.preds.iter().position(|pred| *pred == way) else { return };
        data.preds.remove(at);
        for &param in &data.params {
            let inputs = &mut self.graph.nodes[param.at()].inputs;
            self.graph.links[inputs.range()].copy_within(at + 1.., at);
            inputs.len -= 1;
        }
    }

    /// Replaces a branch by selections if its two ways meet again without an effect in between. `n_computed` values were
    /// computed for the block's parameters only.
    pub(super) fn choose_instead(&mut self, block: Block, n_computed: usize) {
        let [a, b] = self.graph.block(block).preds[..] else { return };
        let (Some((way_a, is_a_cold)), Some((way_b, is_b_cold))) =
            (self.way_to_arm(block, a), self.way_to_arm(block, b))
        else {
            return;
        };
        let source = way_a.block;
        let end = self.graph.block(source).end;
        let is_branch = source == way_b.block && way_a.succ != way_b.succ && source != block;
        if !is_branch || self.graph.node(end).op != Op::BR || n_computed > MAX_COMPUTED {
            return;
        }
        let mut n_choices = 0;
        for &param in &self.graph.block(block).params {
            let [a, b] = *self.graph.inputs(param) else { unreachable!("one operand for each way in") };
            if a == param || b == param {
                return;
            }
            n_choices += (a != b) as usize;
            // Machines select integers without a branch, but not floats.
            if n_choices > MAX_CHOICES || (a != b && !self.graph.node(param).ty().is_int()) {
                return;
            }
        }
        // A predictable branch costs less than a selection, but more than nothing.
        if n_choices > 0 && (is_a_cold || is_b_cold) {
            return;
        }
        let flag = self.graph.inputs(end)[0];
        let mut params = core::mem::take(&mut self.graph.blocks[block.at()].params);
        for param in params.drain(..) {
            let [a, b] = *self.graph.inputs(param) else { unreachable!("one operand for each way in") };
            let (a, b) = (self.current(a), self.current(b));
            let (so, not) = if way_a.succ == 0 { (a, b) } else { (b, a) };
            let origin = self.graph.node(param).origin;
            let sig = Sig { from: Type::Void, ty: self.graph.node(param).ty() };
            let value = if a == b { a } else { self.graph.add(Op::SELECT, sig, &[flag, so, not], 0, origin) };
            let value = self.visit(value);
            self.replace(param, value);
        }
        self.graph.blocks[block.at()].params = params;
        for arm in [a.block, b.block] {
            if arm != source {
                self.scratch.is_past[arm.at()] = true;
                self.graph.blocks[arm.at()].clear();
            }
        }
        self.graph.blocks[block.at()].preds.clear();
        self.graph.blocks[block.at()].preds.push(Pred { block: source, succ: 0 });
        self.graph.end_with_jump(source, block);
    }

    /// The edge from a branch that leads through `pred` into `block`, directly or through an empty block, and whether that
    /// empty block is cold.
    fn way_to_arm(&self, block: Block, pred: Pred) -> Option<(Pred, bool)> {
        let data = self.graph.block(pred.block);
        if !self.scratch.is_past[pred.block.at()] || pred.block == block {
            return None;
        }
        if data.succs.len() == 2 {
            return Some((pred, false));
        }
        let [way] = data.preds[..] else { return None };
        let is_empty = data.body.is_empty() && data.params.is_empty() && data.succs.len() == 1;
        is_empty.then_some((way, data.heat == Heat::Cold))
    }

    /// Removes unreachable blocks, and the edges from them.
    pub(super) fn drop_unreachable(&mut self) {
        let flow = &mut self.scratch.flow;
        flow.find_order(self.graph);
        for at in 0..self.graph.blocks.len() {
            let block = Block::from(at);
            if !flow.is_reached(block) {
                self.graph.blocks[at].clear();
                continue;
            }
            let mut way = 0;
            while let Some(&pred) = self.graph.block(block).preds.get(way) {
                if flow.is_reached(pred.block) {
                    way += 1;
                    continue;
                }
                let data = &mut self.graph.blocks[at];
                data.preds.remove(way);
                for &param in &data.params {
                    let inputs = &mut self.graph.nodes[param.at()].inputs;
                    self.graph.links[inputs.range()].copy_within(way + 1.., way);
                    inputs.len -= 1;
                }
            }
        }
    }
}
