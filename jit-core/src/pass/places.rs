//! Places in memory, and which of them loops write.
//!
//! In: a graph and its flow. Out: for an access, the place that it touches; for a loop, whether anything in it may write a place that
//! was accessed before. Needs: equal addresses are one node (`number`, `rewrite`). Cost: linear.

use super::flow::{FlowGraph, NONE};
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{Block, Node};
use crate::ir::regions::{MemoryRegion, MemoryRegions};
use crate::vocab::{Op, Type};

/// How many stores in loops are looked at one by one.
const MAX_STORES: usize = 16;

/// How many nodes an address may depend on for its load to leave a loop.
pub(super) const MAX_ADDRESS: usize = 16;

/// What the addresses of places are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Base {
    pub(super) node: Node,
    /// The number of the kind of which the node is a value, if it is what that value has inside.
    unboxed: Option<u64>,
}

/// Who may know the memory of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Knows {
    /// Anybody.
    All,
    /// The base is the address of memory that a call has made: it is that of no other.
    WhoHasBase,
    /// And nobody but the function's own accesses, and who goes on where it is left, has the address.
    Accesses,
}

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MemoryPlace {
    pub(super) base: Base,
    pub(super) offset: i64,
    pub(super) bytes: u32,
    pub(super) knows: Knows,
    region: MemoryRegion,
}

impl MemoryPlace {
    /// The place that an access of this type touches at an address. `current` says which node stands for another one.
    pub(super) fn of(
        graph: &Graph,
        address: Node,
        ty: Type,
        region: MemoryRegion,
        current: impl Fn(Node) -> Node,
    ) -> MemoryPlace {
        let (mut node, mut offset) = (current(address), 0);
        let unboxed = loop {
            if let Some((next, more)) = without_offset(graph, node)
                && let Some(sum) = i64::checked_add(offset, more)
            {
                (node, offset) = (current(next), sum);
                continue;
            }
            // Two loads of one value may be unboxed each: it is the same place.
            let NodeData { op: Op::UNBOX, imm: kind, .. } = *graph.node(node) else { break None };
            let word = current(graph.inputs(node)[0]);
            let NodeData { op, imm, .. } = *graph.node(word);
            if (op, imm) != (Op::BOX, kind) {
                node = word;
                break Some(kind);
            }
            node = current(graph.inputs(word)[0]);
        };
        let base = Base { node, unboxed };
        let knows = if graph.makes(node) { Knows::WhoHasBase } else { Knows::All };
        MemoryPlace { base, offset, bytes: ty.bytes(), knows, region }
    }

    /// The place that a load reads.
    pub(super) fn of_load(graph: &Graph, load: Node, current: impl Fn(Node) -> Node) -> MemoryPlace {
        let (address, ty) = (graph.inputs(load)[0], graph.node(load).ty());
        MemoryPlace::of(graph, address, ty, graph.region(load), current)
    }

    /// The place that a store writes, or of which a node says what it has.
    pub(super) fn of_store(graph: &Graph, store: Node) -> MemoryPlace {
        let (address, ty) = (graph.inputs(store)[0], graph.node(store).sig.from);
        MemoryPlace::of(graph, address, ty, graph.region(store), |node| node)
    }

    /// Whether others may write there who write to these regions.
    pub(super) fn may_be_in(self, regions: MemoryRegions) -> bool {
        self.knows != Knows::Accesses && self.region.places().meets(regions)
    }

    /// Whether the two are known to be disjoint.
    pub(super) fn is_apart(self, other: MemoryPlace) -> bool {
        let distance = self.distance(other);
        let are_others = match (self.knows, other.knows) {
            (Knows::All, Knows::All | Knows::WhoHasBase) | (Knows::WhoHasBase, Knows::All) => false,
            _ => self.base.node != other.base.node,
        };
        are_others
            || self.region.is_apart(other.region)
            || self.base == other.base
                && (distance >= i64::from(self.bytes) || distance <= -i64::from(other.bytes))
    }

    /// How far the other place starts behind this one, if they are counted from the same base. Addresses wrap around.
    fn distance(self, other: MemoryPlace) -> i64 {
        other.offset.wrapping_sub(self.offset)
    }

    /// Whether this place contains all bytes of the other.
    pub(super) fn covers(self, other: MemoryPlace) -> bool {
        let room = i64::from(self.bytes) - i64::from(other.bytes);
        self.base == other.base && (0..=room).contains(&self.distance(other))
    }
}

/// An address that is another one and a constant.
fn without_offset(graph: &Graph, address: Node) -> Option<(Node, i64)> {
    match (graph.node(address).op, graph.inputs(address)) {
        (Op::ADDR, inputs) => Some((inputs[0], graph.node(address).imm as i64)),
        (Op::IDX, &[base, index]) => {
            let index = constant(graph, index, MAX_OPERATORS)? as i64;
            Some((base, index.checked_mul(graph.node(address).imm as i64)?))
        }
        (Op::ADD, &[base, offset]) if graph.node(address).ty() == Type::I64 => {
            constant(graph, offset, MAX_OPERATORS).map(|bits| (base, bits as i64))
        }
        _ => None,
    }
}

/// In so many steps a constant is computed.
const MAX_OPERATORS: u32 = 3;

/// The bits of a constant, or of what is computed from constants: nothing may have been rewritten yet.
fn constant(graph: &Graph, node: Node, steps: u32) -> Option<u64> {
    if let Some(bits) = graph.as_const(node) {
        return Some(bits);
    }
    let (NodeData { op, sig, .. }, inputs) = (*graph.node(node), graph.inputs(node));
    if steps == 0 || !matches!(op, Op::UCAST | Op::ADD | Op::SHR) {
        return None;
    }
    let mut operands = [0; 2];
    for (operand, input) in core::iter::zip(operands.get_mut(..inputs.len())?, inputs) {
        *operand = constant(graph, *input, steps - 1)?;
    }
    graph.vocab.evaluate(op, sig, &operands[..inputs.len()])?.ok()
}

/// Memory that was made, and of which nobody gets the address who may write there.
#[derive(Debug, Default)]
pub(super) struct PrivateMemory {
    /// The calls that have made it.
    calls: Vec<Node>,
}

impl PrivateMemory {
    /// Finds the memory.
    pub(super) fn find(&mut self, graph: &Graph) {
        self.calls.clear();
        if !graph.makes_memory() {
            return;
        }
        let bodies = graph.blocks.iter().flat_map(|block| &block.body);
        self.calls.extend(bodies.filter(|node| graph.makes(**node)));
        let (mut pointers, mut loaded) = (Vec::new(), Vec::new());
        for block in &graph.blocks {
            for &node in
                block.params.iter().chain(&block.body).chain([&block.end]).filter(|node| node.is_some())
            {
                let first = match graph.node(node).op {
                    // Who does not know the memory does not see the address.
                    Op::HOLDS if holds_itself(graph, node) => {
                        pointers.push(MemoryPlace::of_store(graph, node));
                        continue;
                    }
                    // It is not known where such an address leads, until it is known what this finds.
                    Op::LOAD if graph.node(node).ty() == Type::I64 => {
                        let place = MemoryPlace::of_load(graph, node, |node| node);
                        loaded.extend((place.knows == Knows::WhoHasBase).then_some(place));
                        continue;
                    }
                    Op::LOAD | Op::HOLDS | Op::STORE => 1,
                    op if graph.has_state(op) => continue,
                    _ => 0,
                };
                self.give(graph, &graph.inputs(node)[first..]);
            }
        }
        for place in loaded {
            if pointers.iter().any(|pointer| !place.is_apart(*pointer)) {
                self.give(graph, &[place.base.node]);
            }
        }
        let is_address = |node: &Node| made_in(graph, *node).is_some();
        for at in 0..graph.nodes.len() {
            let (node, data) = (Node::from(at), &graph.nodes[at]);
            // A flag is no address.
            if !data.block.is_some()
                && data.ty() != Type::Flag
                && graph.inputs(node).iter().any(is_address)
                && !is_address(&node)
                && !is_only_compared(graph, node)
            {
                self.give(graph, graph.inputs(node));
            }
        }
    }

    /// Somebody gets these values.
    fn give(&mut self, graph: &Graph, values: &[Node]) {
        for value in values {
            if let Some(call) = made_in(graph, *value) {
                self.calls.retain(|other| *other != call);
            }
        }
    }

    /// A place, with what is known of who knows its memory.
    pub(super) fn known(&self, place: MemoryPlace) -> MemoryPlace {
        let is_private = place.knows == Knows::WhoHasBase && self.calls.contains(&place.base.node);
        MemoryPlace { knows: if is_private { Knows::Accesses } else { place.knows }, ..place }
    }
}

/// Whether memory is said to have an address in itself.
fn holds_itself(graph: &Graph, node: Node) -> bool {
    let [address, value] = *graph.inputs(node) else { unreachable!("it has two operands") };
    made_in(graph, address).is_some_and(|call| made_in(graph, value) == Some(call))
}

/// Whether a node has the upper bits of something, and these go nowhere but to comparisons.
fn is_only_compared(graph: &Graph, node: Node) -> bool {
    let uses = |data: &&NodeData| graph.links[data.inputs.range()].contains(&node);
    graph.node(node).op == Op::SHR && graph.nodes.iter().filter(uses).all(|data| data.ty() == Type::Flag)
}

/// The call that makes the memory which a value is an address in, or a box of that: a constant away from it.
pub(super) fn made_in(graph: &Graph, node: Node) -> Option<Node> {
    base_of(graph, node).filter(|base| graph.makes(*base))
}

/// The pinned node that a value is a constant away from, or a box of that.
pub(super) fn base_of(graph: &Graph, mut node: Node) -> Option<Node> {
    /// Addresses that are further away are not looked for.
    const MAX_STEPS: usize = 8;
    for _ in 0..MAX_STEPS {
        if graph.node(node).block.is_some() {
            return Some(node);
        }
        node = match graph.node(node).op {
            Op::BOX | Op::UNBOX => graph.inputs(node)[0],
            _ => without_offset(graph, node)?.0,
        };
    }
    None
}

/// What the loops of a graph write.
#[derive(Debug, Default)]
pub(super) struct WrittenPlaces {
    /// By loop: where anything in it writes.
    regions: Vec<MemoryRegions>,
    /// By loop: where calls in it write, and others that are no stores.
    called: Vec<MemoryRegions>,
    /// The stores in loops that name a region, each with the number of its innermost loop. If there are more than [`MAX_STORES`], these
    /// are not all.
    stores: Vec<(u32, MemoryPlace, Node)>,
}

impl WrittenPlaces {
    /// Finds what is written in loops.
    pub(super) fn find(&mut self, graph: &Graph, flow: &FlowGraph) {
        self.regions.clear();
        self.regions.resize(flow.loops.len(), MemoryRegions::NONE);
        self.called.clear();
        self.called.resize(flow.loops.len(), MemoryRegions::NONE);
        self.stores.clear();
        for (block, &inner) in core::iter::zip(&flow.order, &flow.innermost) {
            if inner != NONE {
                self.find_in(graph, *block, inner);
            }
        }
        // Inner loops come before outer ones.
        for inner in 0..flow.loops.len() {
            let parent = flow.loops[inner].parent;
            if parent != NONE {
                for of in [&mut self.regions, &mut self.called] {
                    of[parent as usize] = of[parent as usize].or(of[inner]);
                }
            }
        }
    }

    /// Adds what a block writes to what its innermost loop does.
    fn find_in(&mut self, graph: &Graph, block: Block, inner: u32) {
        let mut written = self.regions[inner as usize];
        for &node in &graph.block(block).body {
            if written == MemoryRegions::ALL {
                break;
            }
            written = written.or(graph.written(node));
            let region = graph.region(node);
            if graph.node(node).op != Op::STORE {
                let called = &mut self.called[inner as usize];
                *called = called.or(graph.written(node));
            }
            if region != MemoryRegion::ANY
                && graph.node(node).op == Op::STORE
                && self.stores.len() <= MAX_STORES
            {
                self.stores.push((inner, MemoryPlace::of_store(graph, node), node));
            }
        }
        self.regions[inner as usize] = written;
    }

    /// Where anything in a loop writes.
    pub(super) fn of(&self, inner: u32) -> MemoryRegions {
        self.regions[inner as usize]
    }

    /// Whether a call in a loop may write a place.
    pub(super) fn is_called(&self, this: u32, place: MemoryPlace) -> bool {
        place.may_be_in(self.called[this as usize])
    }

    /// Whether a loop may write a place that was accessed before the loop. What is written to a region is among the stores, and an address
    /// that was used before the loop is the same one in the loop.
    pub(super) fn may_write(&self, flow: &FlowGraph, this: u32, place: MemoryPlace) -> bool {
        self.is_called(this, place)
            || place.region.places().meets(self.of(this))
                && self
                    .places_in(flow, this)
                    .is_none_or(|mut stores| stores.any(|(store, _)| !store.is_apart(place)))
    }

    /// The stores in a loop; `None` if it may write what is not among them.
    pub(super) fn stores_in<'a>(
        &'a self,
        flow: &'a FlowGraph,
        this: u32,
    ) -> Option<impl Iterator<Item = Node> + 'a> {
        self.places_in(flow, this).map(|stores| stores.map(|(_, store)| store))
    }

    fn places_in<'a>(
        &'a self,
        flow: &'a FlowGraph,
        this: u32,
    ) -> Option<impl Iterator<Item = (MemoryPlace, Node)> + 'a> {
        let all_are_there = self.of(this) != MemoryRegions::ALL && self.stores.len() <= MAX_STORES;
        let inside = self.stores.iter().filter(move |(inner, ..)| flow.is_within(*inner, this));
        all_are_there.then(|| inside.map(|(_, place, store)| (*place, *store)))
    }
}
