//! Make memory where it is needed.
//!
//! In: a graph, and where the calls that make memory go. Out: the graph with the calls there, and what the memory had been stored before.

use super::fields::LastStore;
use super::uses::{AddressUse, UseKind};
use super::{MakingCall, NewPlace, Scratch};
use crate::ir::graph::Graph;
use crate::ir::index::Node;

/// Moves all calls that are not needed where they are.
pub(super) fn make(scratch: &mut Scratch, graph: &mut Graph) {
    // What is made in a block is needed in those that the block dominates.
    scratch.places.sort_by_key(|place| (place.rank, place.of));
    let mut at = 0;
    while let Some(&NewPlace { rank, .. }) = scratch.places.get(at) {
        let len = scratch.places[at..].iter().take_while(|place| place.rank == rank).count();
        make_in(scratch, graph, at, len);
        at += len;
    }
    use_made(scratch, graph);
    remove(scratch, graph);
}

/// Makes some memory at the start of a block: that of the places from one on.
fn make_in(scratch: &mut Scratch, graph: &mut Graph, first: usize, len: usize) {
    let rank = scratch.places[first].rank;
    let block = scratch.flow.order[rank as usize];
    let mut body = Vec::new();
    for at in first..first + len {
        let made = scratch.made[scratch.places[at].of as usize].call;
        let data = *graph.node(made);
        let inputs: Vec<Node> = graph.inputs(made).to_vec();
        let inputs: Vec<Node> = inputs.iter().map(|input| real(scratch, graph, *input, rank)).collect();
        let call = graph.add(data.op, data.sig, &inputs, data.imm, data.origin);
        graph.nodes[call.at()].block = block;
        scratch.places[at].call = call;
        body.push(call);
    }
    for at in first..first + len {
        let of = scratch.places[at].of;
        let home = scratch.made[of as usize].home;
        let Scratch { fields, flow, uses, .. } = &mut *scratch;
        fields.find(graph, flow, home, uses.iter().filter(|one| one.of == of));
        let last: Vec<LastStore> = fields.at_start(rank).collect();
        for (place, last) in (0u32..).zip(last) {
            let (store, value) = match last {
                LastStore::Store(store) => (store, graph.inputs(store)[1]),
                LastStore::Merged(from) => {
                    let Scratch { fields, flow, .. } = &mut *scratch;
                    let store = fields.store_to(place);
                    (store, fields.param(graph, flow, (from, place)))
                }
                _ => continue,
            };
            let data = *graph.node(store);
            let address = graph.inputs(store)[0];
            let [address, value] = [address, value].map(|node| real(scratch, graph, node, rank));
            let store = graph.add(data.op, data.sig, &[address, value], data.imm, data.origin);
            graph.nodes[store.at()].block = block;
            body.push(store);
        }
    }
    graph.blocks[block.at()].body.splice(0..0, body);
}

/// The value that stands for one in a block, if that is an address in memory that is made there or in front of it.
fn real(scratch: &Scratch, graph: &mut Graph, node: Node, rank: u32) -> Node {
    let Some(of) = scratch.number_of(graph, node) else { return node };
    let MakingCall { call, is_needed, .. } = scratch.made[of as usize];
    if is_needed {
        return node;
    }
    let place = scratch.place_of(of, rank).expect("it is made where it is needed");
    moved(graph, node, call, scratch.places[place].call)
}

/// The same address as this one in other memory.
fn moved(graph: &mut Graph, node: Node, from: Node, to: Node) -> Node {
    if node == from {
        return to;
    }
    let data = *graph.node(node);
    let mut inputs: Vec<Node> = graph.inputs(node).to_vec();
    inputs[0] = moved(graph, inputs[0], from, to);
    graph.add(data.op, data.sig, &inputs, data.imm, data.origin)
}

/// Lets all that uses addresses where the memory is made use those.
fn use_made(scratch: &Scratch, graph: &mut Graph) {
    for one in &scratch.uses {
        if scratch.made[one.of as usize].is_needed || scratch.place_of(one.of, one.rank).is_none() {
            continue;
        }
        let link = one.link as usize;
        graph.links[link] = real(scratch, graph, graph.links[link], one.rank);
    }
}

/// Removes the calls that are not needed, the stores to their memory where that is not made, and what nobody uses: it may use what goes.
fn remove(scratch: &mut Scratch, graph: &mut Graph) {
    for of in 0..scratch.made.len() as u32 {
        let MakingCall { call, is_needed, .. } = scratch.made[of as usize];
        if is_needed {
            continue;
        }
        scratch.is_live[call.at()] = false;
        let is_gone =
            |one: &&AddressUse| one.kind == UseKind::Store && scratch.place_of(of, one.rank).is_none();
        let gone: Vec<Node> = scratch.uses_of(of).iter().filter(is_gone).map(|one| one.node).collect();
        gone.iter().for_each(|store| scratch.is_live[store.at()] = false);
    }
    let stays = |node: &Node| scratch.is_live.get(node.at()).copied().unwrap_or(true);
    for block in &mut graph.blocks {
        block.params.retain(stays);
        block.body.retain(stays);
    }
}
