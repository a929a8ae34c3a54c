//! Values of places where ways meet.
//!
//! In: what is known at the end of each block. Out: parameters of blocks in which ways meet that know different values of a place, for
//! those that a load needs. At a loop's head the value that an iteration leaves is the next one's: that is supposed before it is known,
//! and looked at when all blocks have been visited.

use super::{Forwarder, Known, Scratch};
use crate::ir::graph::{BlockData, Heat};
use crate::ir::index::{Block, Node};
use crate::pass::places::MemoryPlace;
use crate::vocab::{Op, Sig, Type};

/// How many loads are looked through for the address of a store.
const MAX_LOADS: u32 = 3;

/// A value in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// What this node computes.
    Of(Node),
    /// What each way has that leads to a block: the number of a [`Merge`].
    Merged(u32),
    /// While a block starts: what is to be merged there.
    Different,
}

/// What the ways into a block have at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    block: Block,
    place: MemoryPlace,
    ty: Type,
    /// A parameter of the block, once a load needs it.
    param: Node,
}

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Merges {
    all: Vec<Merge>,
    /// Those that have a parameter, in the order in which they got it.
    made: Vec<u32>,
    /// Whether nothing is supposed of loops.
    excludes_loops: bool,
}

impl Merges {
    pub(super) fn start(&mut self) {
        self.all.clear();
        self.made.clear();
        self.excludes_loops = false;
    }

    /// The node that has a value, if there is one.
    fn node_of(&self, value: Value) -> Option<Node> {
        match value {
            Value::Of(node) => Some(node),
            Value::Merged(number) => Some(self.all[number as usize].param).filter(|param| param.is_some()),
            Value::Different => None,
        }
    }
}

/// The latest value that is known of a place, as this type.
fn latest(known: &[Known], place: MemoryPlace, ty: Type) -> Option<Value> {
    known.iter().rev().find(|one| one.place == place && one.ty == ty).map(|one| one.value)
}

/// What is known at the end of a block.
fn at_end<'a>(ends: &[(u32, u32)], kept: &'a [Known], rank: u32) -> &'a [Known] {
    let (start, len) = ends[rank as usize];
    &kept[start as usize..(start + len) as usize]
}

impl Forwarder<'_> {
    /// Finds the values known at a block's start.
    pub(super) fn start(&mut self, block: Block, rank: u32) {
        let mut known = core::mem::take(&mut self.scratch.known);
        known.clear();
        let Scratch { flow, merges, .. } = &*self.scratch;
        let BlockData { preds, heat, .. } = self.graph.block(block);
        let is_head = preds.iter().any(|pred| flow.goes_around(rank, flow.rank[pred.block.at()]));
        let may_merge = *heat != Heat::Cold && !(is_head && merges.excludes_loops);
        self.meet(&mut known, block, rank, may_merge);
        if is_head {
            self.go_around(&mut known, flow.innermost[rank as usize], may_merge);
        }
        for one in known.iter_mut().filter(|one| one.value == Value::Different) {
            let all = &mut self.scratch.merges.all;
            one.value = Value::Merged(all.len() as u32);
            all.push(Merge { block, place: one.place, ty: one.ty, param: Node::NONE });
        }
        self.scratch.known = known;
    }

    /// Finds of which places all ways into a block know a value, but for those around a loop.
    fn meet(&self, known: &mut Vec<Known>, block: Block, rank: u32, may_merge: bool) {
        let Scratch { flow, ends, kept, .. } = &*self.scratch;
        let mut is_first = true;
        for pred in &self.graph.block(block).preds {
            let pred = flow.rank[pred.block.at()];
            if pred >= rank {
                if flow.goes_around(rank, pred) {
                    continue;
                }
                known.clear();
                return;
            }
            let at_end = at_end(ends, kept, pred);
            if core::mem::take(&mut is_first) {
                known.extend_from_slice(at_end);
                continue;
            }
            known.retain_mut(|one| match latest(at_end, one.place, one.ty) {
                Some(value) if value == one.value => true,
                Some(_) => {
                    one.value = Value::Different;
                    may_merge
                }
                None => false,
            });
        }
    }

    /// Keeps what the iterations of a loop do not change, and what each leaves to the next one: what they write at this very place.
    fn go_around(&self, known: &mut Vec<Known>, inner: u32, may_merge: bool) {
        let Scratch { flow, writes, .. } = &*self.scratch;
        if writes.of(inner).is_empty() {
            return;
        }
        let is_written: Vec<bool> =
            known.iter().map(|one| writes.may_write(flow, inner, one.place)).collect();
        let stores = writes.stores_in(flow, inner).filter(|_| may_merge && is_written.contains(&true));
        let places = stores.map(|stores| {
            stores.map(|store| self.place_in_loop(known, &is_written, store)).collect::<Vec<_>>()
        });
        let mut is_written = is_written.into_iter();
        known.retain_mut(|one| {
            if is_written.next() == Some(false) {
                return true;
            }
            if writes.is_called(inner, one.place) {
                return false;
            }
            one.value = Value::Different;
            let is_here = |place: &(MemoryPlace, Type)| *place == (one.place, one.ty);
            let is_here_or_apart =
                |place: &(MemoryPlace, Type)| place.0.is_apart(one.place) || is_here(place);
            places.as_ref().is_some_and(|places| places.iter().all(is_here_or_apart))
        });
    }

    /// The place that a store in a loop writes, and as which type, where the loop starts with what is known, some of which it writes.
    fn place_in_loop(&self, known: &[Known], is_written: &[bool], store: Node) -> (MemoryPlace, Type) {
        let ty = self.graph.node(store).sig.from;
        let (address, region) = (self.graph.inputs(store)[0], self.graph.region(store));
        let finds = |node: Node| self.found_in_loop(known, is_written, node, MAX_LOADS);
        (self.scratch.private.known(MemoryPlace::of(self.graph, address, ty, region, finds)), ty)
    }

    /// What stands for a value in such a loop.
    fn found_in_loop(&self, known: &[Known], is_written: &[bool], node: Node, most: u32) -> Node {
        let node = self.current(node);
        if most == 0 || self.graph.node(node).op != Op::LOAD {
            return node;
        }
        let finds = |node: Node| self.found_in_loop(known, is_written, node, most - 1);
        let place = self.scratch.private.known(MemoryPlace::of_load(self.graph, node, finds));
        let ty = self.graph.node(node).ty();
        let mut all = core::iter::zip(known, is_written);
        let found = all.find(|(one, is_written)| !**is_written && (one.place, one.ty) == (place, ty));
        found.and_then(|(one, _)| self.scratch.merges.node_of(one.value)).unwrap_or(node)
    }

    /// The node that has a value. A block gets a parameter, if need be.
    pub(super) fn node_of(&mut self, value: Value, origin: u32) -> Node {
        if let Some(node) = self.scratch.merges.node_of(value) {
            return node;
        }
        let Value::Merged(number) = value else { unreachable!("all that a block starts with was merged") };
        let Merge { block, ty, .. } = self.scratch.merges.all[number as usize];
        // It is one of the block's when it has operands.
        let param = self.add(Op::PARAM, Sig { from: Type::Void, ty }, &[], origin);
        self.graph.nodes[param.at()].block = block;
        self.scratch.merges.all[number as usize].param = param;
        self.scratch.merges.made.push(number);
        param
    }

    /// Whether a node is what is known.
    pub(super) fn is_known_as(&self, value: Value, node: Node) -> bool {
        self.scratch.merges.node_of(value) == Some(node)
    }

    /// Gives the parameters their operands, and the blocks their parameters. Returns false if an iteration of a loop leaves no known value
    /// where that was supposed: then nothing holds that was found, and nothing is supposed of loops any more.
    pub(super) fn merge(&mut self) -> bool {
        let mut inputs = Vec::new();
        let mut at = 0;
        while let Some(&number) = self.scratch.merges.made.get(at) {
            at += 1;
            let Merge { block, place, ty, param } = self.scratch.merges.all[number as usize];
            let origin = self.graph.node(param).origin;
            inputs.clear();
            for way in 0..self.graph.block(block).preds.len() {
                let Scratch { flow, ends, kept, .. } = &*self.scratch;
                let rank = flow.rank[self.graph.block(block).preds[way].block.at()];
                let Some(value) = latest(at_end(ends, kept, rank), place, ty) else {
                    self.drop_params();
                    return false;
                };
                inputs.push(self.node_of(value, origin));
            }
            self.graph.set_inputs(param, &inputs);
        }
        for at in 0..self.scratch.merges.made.len() {
            let Merge { block, param, .. } = self.scratch.merges.all[self.scratch.merges.made[at] as usize];
            match self.same_param(block, param) {
                Some(same) => {
                    self.scratch.replaced[param.at()] = same;
                    self.drop_param(param);
                }
                None => self.graph.blocks[block.at()].params.push(param),
            }
        }
        true
    }

    /// The parameter that a block has with the values of another one, if there is one.
    fn same_param(&self, block: Block, param: Node) -> Option<Node> {
        let values = |param: Node| self.graph.inputs(param).iter().map(|input| self.current(*input));
        let ty = |param: Node| self.graph.node(param).ty();
        let mut params = self.graph.block(block).params.iter().copied();
        params.find(|other| ty(*other) == ty(param) && values(*other).eq(values(param)))
    }

    /// Makes a parameter that no block has a node that nobody uses.
    fn drop_param(&mut self, param: Node) {
        let sig = self.graph.node(param).sig;
        self.graph.nodes[param.at()].block = Block::NONE;
        self.graph.redefine(param, Op::CONST, sig, &[], 0);
    }

    fn drop_params(&mut self) {
        for number in core::mem::take(&mut self.scratch.merges.made) {
            self.drop_param(self.scratch.merges.all[number as usize].param);
        }
        self.scratch.merges.start();
        self.scratch.merges.excludes_loops = true;
    }
}
