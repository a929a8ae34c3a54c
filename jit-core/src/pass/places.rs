//! Places in memory, and which of them loops write.
//!
//! In: a graph and its flow. Out: for an access, the place that it touches; for a loop, whether anything in it may write a place that
//! was accessed before. Needs: equal addresses are one node (`number`, `rewrite`). Cost: linear.

use super::flow::{FlowGraph, NONE};
use crate::ir::graph::Graph;
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

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MemoryPlace {
    pub(super) base: Base,
    pub(super) offset: i64,
    pub(super) bytes: u32,
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
        while let Some((next, more)) = without_offset(graph, node)
            && let Some(sum) = i64::checked_add(offset, more)
        {
            (node, offset) = (current(next), sum);
        }
        // Two loads of one value may be unboxed each: it is the same place.
        let unboxed = (graph.node(node).op == Op::UNBOX).then(|| graph.node(node).imm);
        if unboxed.is_some() {
            node = current(graph.inputs(node)[0]);
        }
        let base = Base { node, unboxed };
        MemoryPlace { base, offset, bytes: ty.bytes(), region }
    }

    /// The place that a load reads.
    pub(super) fn of_load(graph: &Graph, load: Node, current: impl Fn(Node) -> Node) -> MemoryPlace {
        let (address, ty) = (graph.inputs(load)[0], graph.node(load).ty());
        MemoryPlace::of(graph, address, ty, graph.region(load), current)
    }

    /// Whether nobody writes there.
    pub(super) fn never_changes(self) -> bool {
        self.region == MemoryRegion::UNCHANGING
    }

    /// Whether the two are known to be disjoint.
    pub(super) fn is_apart(self, other: MemoryPlace) -> bool {
        let distance = self.distance(other);
        self.region.is_apart(other.region)
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

/// An address that is another one and a constant. Before anything is rewritten, that may be widened.
fn without_offset(graph: &Graph, address: Node) -> Option<(Node, i64)> {
    match (graph.node(address).op, graph.inputs(address)) {
        (Op::ADDR, inputs) => Some((inputs[0], graph.node(address).imm as i64)),
        (Op::ADD, &[base, offset]) if graph.node(address).ty() == Type::I64 => {
            let is_widened = graph.node(offset).op == Op::UCAST;
            let constant = if is_widened { graph.inputs(offset)[0] } else { offset };
            let is_plain = |bits: &u64| !is_widened || *bits <= i32::MAX as u64;
            graph.as_const(constant).filter(is_plain).map(|bits| (base, bits as i64))
        }
        _ => None,
    }
}

/// What the loops of a graph write.
#[derive(Debug, Default)]
pub(super) struct WrittenPlaces {
    /// By loop: where anything in it writes.
    regions: Vec<MemoryRegions>,
    /// The stores in loops that name a region, each with the number of its innermost loop. If there are more than [`MAX_STORES`], these
    /// are not all.
    stores: Vec<(u32, MemoryPlace, Node)>,
}

impl WrittenPlaces {
    /// Finds what is written in loops.
    pub(super) fn find(&mut self, graph: &Graph, flow: &FlowGraph) {
        self.regions.clear();
        self.regions.resize(flow.loops.len(), MemoryRegions::NONE);
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
                self.regions[parent as usize] = self.regions[parent as usize].or(self.regions[inner]);
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
            if region != MemoryRegion::ANY
                && graph.node(node).op == Op::STORE
                && self.stores.len() <= MAX_STORES
            {
                let ty = graph.node(node).sig.from;
                let place = MemoryPlace::of(graph, graph.inputs(node)[0], ty, region, |node| node);
                self.stores.push((inner, place, node));
            }
        }
        self.regions[inner as usize] = written;
    }

    /// Where anything in a loop writes.
    pub(super) fn of(&self, inner: u32) -> MemoryRegions {
        self.regions[inner as usize]
    }

    /// Whether a loop may write a place that was accessed before the loop. What is written to a region is among the stores, and an address
    /// that was used before the loop is the same one in the loop.
    pub(super) fn may_write(&self, flow: &FlowGraph, this: u32, place: MemoryPlace) -> bool {
        place.region.places().meets(self.of(this))
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
        let is_inside = move |mut inner: u32| {
            // Inner loops come before outer ones.
            while inner < this {
                inner = flow.loops[inner as usize].parent;
            }
            inner == this
        };
        let all_are_there = self.of(this) != MemoryRegions::ALL && self.stores.len() <= MAX_STORES;
        let inside = self.stores.iter().filter(move |(inner, ..)| is_inside(*inner));
        all_are_there.then(|| inside.map(|(_, place, store)| (*place, *store)))
    }
}
