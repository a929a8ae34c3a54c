//! Forward values through memory.
//!
//! In and out: a graph. Out: a load of a known value is replaced by the value that was stored or loaded there before. A
//! store is removed if it is overwritten before it can be read, or if it changes nothing. A load at the head of a loop that
//! does not write there is hoisted into the block before the loop. Needs: equal addresses are one node (`number`, `rewrite`).
//! Keeps: the order of effects. Cost: linear, as at most [`MAX_KNOWN`] values are remembered.
//!
//! An access that may fault can end a function, like a trap. The handler of the fault may read all earlier stores, and
//! loads after the access are not moved before it. The access itself is removed only if the same place has been accessed
//! before: that access would have faulted instead.
//!
//! Two accesses are disjoint if their addresses are the same node plus constant offsets, and do not overlap, or if they are in
//! different regions ([`MemoryRegion`]). Nothing else is known about different nodes. Calls declare what they touch. A call that does
//! not observe the frame leaves the frame alone, as long as the frame's address has not escaped.
//!
//! The values known at a block's end are known at the start of blocks with no other predecessor. Where several predecessors know
//! different values of a place, a parameter has them if there is a load that needs it ([`merges`]). A loop's head starts with those of the
//! values known before the loop that are in regions which the loop does not write: values from before the loop at addresses from before
//! it, which each iteration finds as the first one does. Where it writes at the very place, each iteration finds what the one before has left.

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use super::places::{Knows, MAX_ADDRESS, MemoryPlace, PrivateMemory, WrittenPlaces};
use crate::ir::graph::{CallData, Effect, Graph, Heat};
use crate::ir::index::{Block, Node};
use crate::ir::regions::{MemoryRegion, MemoryRegions};
use crate::vocab::{Op, Props, Sig, Type};
use merges::{Merges, Value};

/// How many values in memory are remembered; the oldest are forgotten.
const MAX_KNOWN: usize = 24;
/// How many more of those are remembered that are in memory which calls have made.
const MAX_MADE: usize = 72;

mod merges;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// The replacement of a load; `NONE` if there is none.
    replaced: Vec<Node>,
    writes: WrittenPlaces,
    /// By rank: the values known at the end of each block, as start and length in `kept`.
    ends: Vec<(u32, u32)>,
    kept: Vec<Known>,
    known: Vec<Known>,
    pending: Vec<Pending>,
    merges: Merges,
    is_dead: Vec<bool>,
    is_frame: Vec<bool>,
    private: PrivateMemory,
    work: Vec<Node>,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// A known value in memory.
#[derive(Clone, Copy, Debug)]
struct Known {
    place: MemoryPlace,
    ty: Type,
    value: Value,
}

/// A store that has not been read yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    place: MemoryPlace,
    node: Node,
}

/// Forwards values through memory; returns whether anything changed.
pub fn forward(scratch: &mut Scratch, graph: &mut Graph) -> bool {
    if has_only_entry_loads(graph) {
        return false;
    }
    scratch.flow.find(graph);
    scratch.writes.find(graph, &scratch.flow);
    scratch.replaced.clear();
    scratch.replaced.resize(graph.nodes.len(), Node::NONE);
    scratch.is_dead.clear();
    scratch.is_dead.resize(graph.nodes.len(), false);
    let mut forwarder = Forwarder { graph, scratch, frame_escapes: false, changed: false };
    forwarder.find_frame();
    forwarder.scratch.private.find(forwarder.graph);
    forwarder.hoist();
    forwarder.scratch.merges.start();
    forwarder.walk();
    if !forwarder.merge() {
        forwarder.start_again();
        forwarder.walk();
        assert!(forwarder.merge(), "without loops, what is merged is known on all ways");
    }
    forwarder.finish();
    forwarder.changed
}

/// Whether only the loads of the entry touch memory, as in code that computes with VM registers alone. There is one load
/// for each register, so there is nothing to forward.
fn has_only_entry_loads(graph: &Graph) -> bool {
    let entry = graph.block(Graph::ENTRY);
    entry.body.iter().all(|node| graph.node(*node).op == Op::LOAD)
        && graph.blocks[1..].iter().all(|block| block.body.is_empty())
}

struct Forwarder<'a> {
    graph: &'a mut Graph,
    scratch: &'a mut Scratch,
    /// Whether an address in the frame is used by anything but loads and stores.
    frame_escapes: bool,
    changed: bool,
}

impl Forwarder<'_> {
    /// Finds the nodes that are addresses in the frame, and whether one of them escapes.
    fn find_frame(&mut self) {
        let is_frame = &mut self.scratch.is_frame;
        is_frame.clear();
        is_frame.resize(self.graph.nodes.len(), false);
        // Rewriting may number an address before its base, which takes another round.
        let (mut has_frame, mut changed) = (false, true);
        while core::mem::take(&mut changed) {
            let mut may_be_late = false;
            for (at, data) in self.graph.nodes.iter().enumerate() {
                let is_address = match data.op {
                    Op::LOCAL | Op::FRAME => true,
                    Op::ADDR | Op::IDX => {
                        let base = self.graph.links[data.inputs.start as usize].at();
                        may_be_late |= base > at;
                        is_frame[base]
                    }
                    _ => continue,
                };
                changed |= is_address && !core::mem::replace(&mut is_frame[at], true);
            }
            has_frame |= changed;
            changed &= may_be_late;
        }
        self.frame_escapes = self.graph.has_captured
            || has_frame
                && self.graph.nodes.iter().any(|data| {
                    let mut inputs = self.graph.links[data.inputs.range()].iter();
                    match data.op {
                        Op::LOAD => false,
                        Op::STORE | Op::HOLDS | Op::ADDR | Op::IDX => {
                            inputs.skip(1).any(|input| is_frame[input.at()])
                        }
                        op if self.graph.vocab.info(op).is_call()
                            && self.graph.calls[data.imm as usize].effect == Effect::Observes =>
                        {
                            false
                        }
                        _ => inputs.any(|input| is_frame[input.at()]),
                    }
                });
    }

    /// Hoists loads at the head of loops that do not write there into the block before the loop.
    fn hoist(&mut self) {
        for inner in 0..self.scratch.flow.loops.len() {
            let head = self.scratch.flow.loops[inner].head;
            if self.scratch.writes.of(inner as u32) == MemoryRegions::ALL {
                continue;
            }
            let block = self.scratch.flow.order[head as usize];
            let Some(before) = self.block_before(block, head) else { continue };
            let block = self.first_that_works(block);
            let mut body = core::mem::take(&mut self.graph.blocks[block.at()].body);
            let mut may_have_faulted = false;
            body.retain(|&node| {
                let is_load = self.graph.node(node).op == Op::LOAD;
                may_have_faulted |= self.graph.may_fault(node);
                let stays = !is_load
                    || may_have_faulted
                    || self.may_be_written(node, inner as u32)
                    || !self.is_known_in(self.graph.inputs(node)[0], before)
                    || !self.scratch.steps.take();
                if stays {
                    return true;
                }
                self.changed = true;
                self.graph.nodes[node.at()].block = before;
                self.graph.blocks[before.at()].body.push(node);
                false
            });
            self.graph.blocks[block.at()].body = body;
        }
    }

    /// Whether a loop may write what a load reads.
    fn may_be_written(&self, load: Node, inner: u32) -> bool {
        self.scratch.writes.may_write(&self.scratch.flow, inner, self.place_of_load(load))
    }

    /// The first block, from a loop's head on, that does more than poll for a stop, spend fuel, or ask what is known.
    fn first_that_works(&self, head: Block) -> Block {
        let mut at = head;
        loop {
            let block = self.graph.block(at);
            let goes_on = |block: &&Block| self.graph.block(**block).preds.len() == 1;
            let is_hot = |block: &&Block| self.graph.block(**block).heat != Heat::Cold;
            let next = match (&block.body[..], self.known_way(at)) {
                ([], Some(way)) => block.succs.get(way).filter(goes_on),
                ([only], None) if self.is_poll(*only) => {
                    block.succs.iter().find(|block| is_hot(block) && goes_on(block))
                }
                _ => None,
            };
            match next {
                Some(next) => at = *next,
                None => return at,
            }
        }
    }

    /// The successor to which a branch on a constant leads.
    fn known_way(&self, block: Block) -> Option<usize> {
        let end = self.graph.block(block).end;
        if self.graph.node(end).op != Op::BR {
            return None;
        }
        self.graph.as_known_flag(self.graph.inputs(end)[0]).map(|holds| usize::from(!holds))
    }

    fn is_poll(&self, node: Node) -> bool {
        matches!(self.graph.node(node).op, Op::POLL | Op::SPEND)
    }

    /// The only predecessor of a loop's head from outside the loop, if the head is its only successor.
    fn block_before(&self, block: Block, head: u32) -> Option<Block> {
        let flow = &self.scratch.flow;
        // A later block that the head does not dominate is outside too: another entry to the loop goes through it.
        let outside = |block: Block| {
            let rank = flow.rank[block.at()];
            rank != NONE && !flow.goes_around(head, rank)
        };
        let mut ways = self.graph.block(block).preds.iter().filter(|pred| outside(pred.block));
        let before = ways.next()?.block;
        (ways.next().is_none() && self.graph.block(before).succs.len() == 1).then_some(before)
    }

    /// Whether an address can be computed at the end of a block.
    fn is_known_in(&mut self, address: Node, block: Block) -> bool {
        let Scratch { flow, work, .. } = &mut *self.scratch;
        flow.is_known_in(self.graph, work, address, flow.rank[block.at()], MAX_ADDRESS)
    }

    fn walk(&mut self) {
        self.scratch.ends.clear();
        self.scratch.kept.clear();
        for rank in 0..self.scratch.flow.order.len() {
            let block = self.scratch.flow.order[rank];
            self.start(block, rank as u32);
            self.scratch.pending.clear();
            for at in 0..self.graph.block(block).body.len() {
                self.visit(self.graph.block(block).body[at]);
            }
            let start = self.scratch.kept.len() as u32;
            self.scratch.kept.extend_from_slice(&self.scratch.known);
            self.scratch.ends.push((start, self.scratch.known.len() as u32));
        }
    }

    fn visit(&mut self, node: Node) {
        let data = *self.graph.node(node);
        match data.op {
            Op::LOAD => self.load(node),
            Op::STORE => self.store(node),
            Op::HOLDS => self.hold(node),
            op if self.graph.vocab.info(op).is_call() => self.call(node),
            op => {
                let props = self.graph.vocab.info(op).props;
                if props.contains(Props::WRITES) {
                    self.forget();
                }
                if props.intersects(Props::WRITES | Props::READS) {
                    self.scratch.pending.clear();
                }
            }
        }
    }

    /// A call reads what was stored, wherever that is, and changes what it says; but not the frame, if it knows nothing of that.
    fn call(&mut self, node: Node) {
        let CallData { effect, memory, .. } = self.graph.calls[self.graph.node(node).imm as usize];
        if effect == Effect::Pure {
            return;
        }
        let knows_frame = effect == Effect::Observes || self.frame_escapes;
        let is_frame = &self.scratch.is_frame;
        let stays = |place: MemoryPlace| !knows_frame && is_frame[place.base.node.at()];
        // What it makes is other memory each time.
        self.scratch.known.retain(|Known { place, .. }| {
            (stays(*place) || !place.may_be_in(memory.changes)) && !(memory.makes && place.base.node == node)
        });
        self.scratch.pending.retain(|store| stays(store.place));
    }

    /// Forgets all that may change.
    fn forget(&mut self) {
        self.scratch.known.retain(|known| !known.place.may_be_in(MemoryRegions::ALL));
    }

    /// The place that an access of this type touches at an address.
    fn place(&self, address: Node, ty: Type, region: MemoryRegion) -> MemoryPlace {
        let place = MemoryPlace::of(self.graph, address, ty, region, |node| self.current(node));
        self.scratch.private.known(place)
    }

    fn place_of_load(&self, node: Node) -> MemoryPlace {
        let place = MemoryPlace::of_load(self.graph, node, |node| self.current(node));
        self.scratch.private.known(place)
    }

    fn load(&mut self, node: Node) {
        let ty = self.graph.node(node).ty();
        let place = self.place_of_load(node);
        // The latest values come last. A value narrower than the load does not help.
        let fits = |known: &&Known| {
            (known.place.base, known.place.offset) == (place.base, place.offset)
                && (known.ty == ty || known.place.bytes == place.bytes || (known.ty.is_int() && ty.is_int()))
                && known.place.bytes >= place.bytes
        };
        // What is merged takes registers, which does not pay for code that seldom runs.
        let pays = |known: &Known| matches!(known.value, Value::Of(_)) || !self.is_cold(node);
        if let Some(&known) = self.scratch.known.iter().rev().find(fits).filter(|known| pays(known))
            && self.scratch.steps.take()
        {
            let value = self.read_as(known, ty, self.graph.node(node).origin);
            self.scratch.replaced[node.at()] = value;
            return;
        }
        match self.graph.may_fault(node) {
            true => self.scratch.pending.clear(),
            false => self.scratch.pending.retain(|store| store.place.is_apart(place)),
        }
        self.remember(Known { place, ty, value: Value::Of(node) });
    }

    /// The value of a load of `ty` at the place of a known value that is at least as wide. All supported machines, and the
    /// reference evaluator, are little-endian.
    fn read_as(&mut self, known: Known, ty: Type, origin: u32) -> Node {
        let value = self.node_of(known.value, origin);
        if known.ty == ty {
            return value;
        }
        let op = if known.ty.bits() == ty.bits() { Op::BITCAST } else { Op::UCAST };
        self.add(op, Sig { from: known.ty, ty }, &[value], origin)
    }

    /// Adds a node.
    fn add(&mut self, op: Op, sig: Sig, inputs: &[Node], origin: u32) -> Node {
        let node = self.graph.add(op, sig, inputs, 0, origin);
        self.scratch.replaced.push(Node::NONE);
        self.scratch.is_dead.push(false);
        self.scratch.is_frame.push(false);
        node
    }

    fn is_cold(&self, node: Node) -> bool {
        self.graph.block(self.graph.node(node).block).heat == Heat::Cold
    }

    fn store(&mut self, node: Node) {
        let ty = self.graph.node(node).sig.from;
        let [address, value] = *self.graph.inputs(node) else { unreachable!("a store has two operands") };
        let place = self.place(address, ty, self.graph.region(node));
        let value = self.current(value);
        let is_there =
            |known: &Known| (known.place, known.ty) == (place, ty) && self.is_known_as(known.value, value);
        if self.scratch.known.iter().any(is_there) && self.scratch.steps.take() {
            self.scratch.is_dead[node.at()] = true;
            return;
        }
        let Scratch { known, pending, is_dead, steps, .. } = &mut *self.scratch;
        known.retain(|known| known.place.is_apart(place));
        if self.graph.may_fault(node) {
            // The handler of a fault may read all earlier stores, and a later store must not remove this one, which may
            // fault.
            pending.clear();
        } else {
            pending.retain(|store| {
                let is_overwritten = place.covers(store.place) && steps.take();
                is_dead[store.node.at()] |= is_overwritten;
                !is_overwritten
            });
            pending.push(Pending { place, node });
        }
        self.remember(Known { place, ty, value: Value::Of(value) });
    }

    /// What a template says of a place is as good as a load of it.
    fn hold(&mut self, node: Node) {
        let ty = self.graph.node(node).sig.from;
        let [address, value] = *self.graph.inputs(node) else { unreachable!("it has two operands") };
        let place = self.place(address, ty, self.graph.region(node));
        self.remember(Known { place, ty, value: Value::Of(self.current(value)) });
    }

    fn remember(&mut self, known: Known) {
        let all = &mut self.scratch.known;
        if all.len() >= MAX_KNOWN {
            // What is in memory that was made comes on top: all of that is to be known for the memory not to be needed.
            let is_other = |known: &Known| known.place.knows == Knows::All;
            let n_others = all.iter().filter(|known| is_other(known)).count();
            if n_others >= MAX_KNOWN {
                all.remove(all.iter().position(is_other).unwrap_or(0));
            } else if all.len() == MAX_KNOWN + MAX_MADE {
                all.remove(0);
            }
        }
        all.push(known);
    }

    /// The node that replaces this one, or the node itself.
    fn current(&self, mut node: Node) -> Node {
        // Chains are short: the replacement of a load was itself resolved.
        while let Some(&next) = self.scratch.replaced.get(node.at()).filter(|next| next.is_some()) {
            node = next;
        }
        node
    }

    /// Forgets what was found, for another walk.
    fn start_again(&mut self) {
        self.scratch.replaced.fill(Node::NONE);
        self.scratch.is_dead.fill(false);
    }

    fn finish(&mut self) {
        let Scratch { replaced, is_dead, .. } = &*self.scratch;
        let is_replaced = replaced.iter().any(|by| by.is_some());
        if !is_replaced && !is_dead.contains(&true) {
            return;
        }
        self.changed = true;
        for at in 0..self.graph.links.len() {
            self.graph.links[at] = self.current(self.graph.links[at]);
        }
        let Scratch { replaced, is_dead, .. } = &*self.scratch;
        for block in &mut self.graph.blocks {
            block.body.retain(|node| !replaced[node.at()].is_some() && !is_dead[node.at()]);
        }
    }
}
