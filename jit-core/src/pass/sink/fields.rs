//! What memory has at a point, if it was made by a call and stored to since.
//!
//! In: a graph, and the uses of one call that makes memory. Out: for each place in that memory that is stored to, which store is the last
//! one at the start of a block; where ways meet with different ones, a parameter would have to say.

use super::MakingCall;
use super::uses::{AddressUse, UseKind};
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::pass::flow::{FlowGraph, NONE};
use crate::pass::places::{MemoryPlace, made_in};
use crate::vocab::{Op, Sig, Type};

/// So many places of one memory are looked at.
const MAX_PLACES: usize = 24;

/// The last store to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum LastStore {
    /// No way from the call to here is known yet.
    #[default]
    Unvisited,
    /// There is none since the call.
    Nothing,
    /// This one.
    Store(Node),
    /// That which the way has that was taken to the block of this rank.
    Merged(u32),
}

/// A place that is stored to.
#[derive(Clone, Copy, Debug)]
struct FieldPlace {
    offset: i64,
    bytes: u32,
}

/// Memory kept between calls.
#[derive(Debug, Default)]
pub(super) struct Fields {
    home: u32,
    places: Vec<FieldPlace>,
    /// The stores in their order: rank, number of the place, and the node.
    stores: Vec<(u32, u32, Node)>,
    /// By rank from that of the call on, and place: what the block starts with.
    starts: Vec<LastStore>,
    at_end: Vec<LastStore>,
    /// Parameters that say what a block starts with: rank, place, node.
    params: Vec<(u32, u32, Node)>,
    /// Places of blocks of which it is being found out whether they can be said.
    asked: Vec<(u32, u32)>,
}

impl Fields {
    /// Finds what there is at the start of all blocks behind a call. Returns false if stores overlap, or if there are too many places.
    pub(super) fn find<'a>(
        &mut self,
        graph: &Graph,
        flow: &FlowGraph,
        home: u32,
        uses: impl Iterator<Item = &'a AddressUse>,
    ) -> bool {
        self.home = home;
        self.places.clear();
        self.stores.clear();
        self.params.clear();
        for one in uses.filter(|one| one.kind == UseKind::Store) {
            let Some(place) = self.place_of(graph, one.node) else { return false };
            self.stores.push((one.rank, place, one.node));
        }
        let position = |rank: u32, node: Node| {
            graph.block(flow.order[rank as usize]).body.iter().position(|other| *other == node)
        };
        self.stores.sort_by_cached_key(|(rank, _, node)| (*rank, position(*rank, *node)));
        self.flow_through(graph, flow);
        true
    }

    /// The number of the place that a store writes, if it is another place or the same one as that of each other store.
    fn place_of(&mut self, graph: &Graph, store: Node) -> Option<u32> {
        let MemoryPlace { offset, bytes, .. } = MemoryPlace::of_store(graph, store);
        let known = self.places.iter().position(|place| (place.offset, place.bytes) == (offset, bytes));
        if let Some(known) = known {
            return Some(known as u32);
        }
        let end = |offset: i64, bytes: u32| offset.checked_add(i64::from(bytes));
        let overlaps = |place: &FieldPlace| {
            end(place.offset, place.bytes).is_none_or(|end| end > offset)
                && end(offset, bytes).is_none_or(|end| end > place.offset)
        };
        if self.places.len() == MAX_PLACES || self.places.iter().any(overlaps) {
            return None;
        }
        self.places.push(FieldPlace { offset, bytes });
        Some(self.places.len() as u32 - 1)
    }

    fn flow_through(&mut self, graph: &Graph, flow: &FlowGraph) {
        let (home, n_places) = (self.home, self.places.len());
        let n_ranks = flow.order.len() as u32 - home;
        self.starts.clear();
        self.starts.resize(n_ranks as usize * n_places, LastStore::Unvisited);
        self.starts[..n_places].fill(LastStore::Nothing);
        let mut changed = true;
        while core::mem::take(&mut changed) {
            for rank in home + 1..flow.order.len() as u32 {
                if !flow.dominates(home, rank) {
                    continue;
                }
                for pred in &graph.block(flow.order[rank as usize]).preds {
                    let pred = flow.rank[pred.block.at()];
                    if pred == NONE {
                        continue;
                    }
                    self.find_end(pred);
                    for place in 0..n_places {
                        let at = (rank - home) as usize * n_places + place;
                        let merged = match (self.starts[at], self.at_end[place]) {
                            (known, LastStore::Unvisited) => known,
                            (LastStore::Unvisited, new) => new,
                            (known, new) if known == new => known,
                            _ => LastStore::Merged(rank),
                        };
                        changed |= core::mem::replace(&mut self.starts[at], merged) != merged;
                    }
                }
            }
        }
    }

    /// Finds what there is at the end of a block.
    fn find_end(&mut self, rank: u32) {
        let n_places = self.places.len();
        let at = (rank - self.home) as usize * n_places;
        self.at_end.clear();
        self.at_end.extend_from_slice(&self.starts[at..at + n_places]);
        let first = self.stores.partition_point(|store| store.0 < rank);
        for &(_, place, store) in self.stores[first..].iter().take_while(|store| store.0 == rank) {
            self.at_end[place as usize] = LastStore::Store(store);
        }
    }

    /// The last store to each place at a block's start.
    pub(super) fn at_start(&self, rank: u32) -> impl Iterator<Item = LastStore> + '_ {
        let n_places = self.places.len();
        let at = (rank - self.home) as usize * n_places;
        self.starts[at..at + n_places].iter().copied()
    }

    /// Whether it can be said what each place has at a block's start.
    pub(super) fn are_known(
        &mut self,
        graph: &Graph,
        flow: &FlowGraph,
        made: &[MakingCall],
        rank: u32,
    ) -> bool {
        self.asked.clear();
        let all: Vec<LastStore> = self.at_start(rank).collect();
        (0u32..).zip(all).all(|(place, last)| match last {
            LastStore::Merged(at) => self.can_merge(graph, flow, made, (at, place)),
            LastStore::Nothing | LastStore::Store(_) => true,
            LastStore::Unvisited => false,
        })
    }

    /// Whether a parameter of a block could say what a place has.
    fn can_merge(&mut self, graph: &Graph, flow: &FlowGraph, made: &[MakingCall], at: (u32, u32)) -> bool {
        if self.asked.contains(&at) {
            return true;
        }
        self.asked.push(at);
        let (rank, place) = at;
        let preds = &graph.block(flow.order[rank as usize]).preds;
        preds.iter().map(|pred| flow.rank[pred.block.at()]).all(|pred| {
            if pred == NONE {
                return false;
            }
            self.find_end(pred);
            match self.at_end[place as usize] {
                LastStore::Store(store) => {
                    let value = graph.inputs(store)[1];
                    // The parameter would be a use of what is made in this memory.
                    let holds = |call: Node| made.iter().any(|made| made.call == call);
                    made_in(graph, value).is_none_or(|call| !holds(call))
                }
                LastStore::Merged(from) => self.can_merge(graph, flow, made, (from, place)),
                LastStore::Nothing | LastStore::Unvisited => false,
            }
        })
    }

    /// A store to a place, of the type that a [parameter](Fields::param) has which says what is there.
    pub(super) fn store_to(&self, place: u32) -> Node {
        let store = self.stores.iter().find(|store| store.1 == place);
        store.expect("places are those of stores").2
    }

    /// The parameter that says what a place has. Blocks get it if they have none.
    pub(super) fn param(&mut self, graph: &mut Graph, flow: &FlowGraph, (rank, place): (u32, u32)) -> Node {
        let known = self.params.iter().find(|(at, of, _)| (*at, *of) == (rank, place));
        if let Some((.., param)) = known {
            return *param;
        }
        let store = self.store_to(place);
        let ty = graph.node(store).sig.from;
        let block = flow.order[rank as usize];
        let param = graph.add_param(block, ty, graph.node(store).origin);
        self.params.push((rank, place, param));
        let preds: Vec<u32> =
            graph.block(block).preds.iter().map(|pred| flow.rank[pred.block.at()]).collect();
        let mut inputs = Vec::new();
        for pred in preds {
            self.find_end(pred);
            let value = match self.at_end[place as usize] {
                LastStore::Store(store) => {
                    let (value, from) = (graph.inputs(store)[1], graph.node(store).sig.from);
                    as_type(graph, value, from, ty)
                }
                LastStore::Merged(from) => self.param(graph, flow, (from, place)),
                _ => unreachable!("it was asked whether it can be said"),
            };
            inputs.push(value);
        }
        graph.set_inputs(param, &inputs);
        param
    }
}

/// The bits of a value as a type of the same width.
fn as_type(graph: &mut Graph, value: Node, from: Type, ty: Type) -> Node {
    if from == ty {
        return value;
    }
    let origin = graph.node(value).origin;
    graph.add(Op::BITCAST, Sig { from, ty }, &[value], 0, origin)
}
