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

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MemoryPlace {
    pub(super) base: Node,
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
        let (mut base, mut offset) = (current(address), 0);
        loop {
            offset += match (graph.node(base).op, graph.inputs(base)) {
                (Op::ADDR, _) => graph.node(base).imm as i64,
                // Before anything is rewritten, an address may be the sum of another one and a constant.
                (Op::ADD, &[_, offset]) => match small_constant(graph, offset) {
                    Some(offset) => offset,
                    None => break,
                },
                _ => break,
            };
            base = current(graph.inputs(base)[0]);
        }
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
        self.region.is_apart(other.region)
            || self.base == other.base
                && (self.offset + self.bytes as i64 <= other.offset
                    || other.offset + other.bytes as i64 <= self.offset)
    }

    /// Whether this place contains all bytes of the other.
    pub(super) fn covers(self, other: MemoryPlace) -> bool {
        self.base == other.base
            && self.offset <= other.offset
            && other.offset + other.bytes as i64 <= self.offset + self.bytes as i64
    }
}

/// The value of a constant, also one that is widened.
fn small_constant(graph: &Graph, node: Node) -> Option<i64> {
    let data = graph.node(node);
    let constant = if data.op == Op::UCAST { graph.inputs(node)[0] } else { node };
    graph.as_const(constant).and_then(|bits| i32::try_from(bits as i64).ok()).map(i64::from)
}

/// What the loops of a graph write.
#[derive(Debug, Default)]
pub(super) struct WrittenPlaces {
    /// By loop: where anything in it writes.
    regions: Vec<MemoryRegions>,
    /// The stores in loops that name a region, each with the number of its innermost loop. If there are more than [`MAX_STORES`], these
    /// are not all.
    stores: Vec<(u32, MemoryPlace)>,
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
                self.stores.push((inner, place));
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
        let written = self.of(this);
        if !place.region.places().meets(written) {
            return false;
        }
        let is_inside = |mut inner: u32| {
            // Inner loops come before outer ones.
            while inner < this {
                inner = flow.loops[inner as usize].parent;
            }
            inner == this
        };
        written == MemoryRegions::ALL
            || self.stores.len() > MAX_STORES
            || self.stores.iter().any(|(inner, store)| is_inside(*inner) && !store.is_apart(place))
    }
}
