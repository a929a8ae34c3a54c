//! Make memory anew.
//!
//! In: a graph, and which parameters may be made anew. Out: calls in their place, and parameters for what the memory has.

use super::{AddressForm, MemorySource, Pointer, Scratch, SourceFlow, SourceUse, SourceUseKind, is_same};
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// How many places of one memory are looked at.
const MAX_PLACES: usize = 24;

const ADDRESS: Sig = Sig { from: Type::Void, ty: Type::I64 };

/// A place that is stored to.
#[derive(Clone, Copy, Debug)]
struct RenewedField {
    offset: i64,
    bytes: u32,
    ty: Type,
    /// The region, as a constant of loads and stores.
    imm: u64,
}

/// What a template says of memory that was made.
#[derive(Clone, Copy, Debug)]
struct HeldPlace {
    offset: i64,
    ty: Type,
    imm: u64,
    value: HeldValue,
}

#[derive(Clone, Copy, Debug)]
enum HeldValue {
    /// One that is the same everywhere.
    Same(Node),
    /// An address so far from that of the memory.
    Inside(i64),
}

/// Parameters and calls among which memory flows, by their numbers.
struct Web {
    params: Vec<u32>,
    calls: Vec<u32>,
    fields: Vec<RenewedField>,
    held: Vec<HeldPlace>,
}

/// Makes all good parameters anew; returns whether there were any.
pub(super) fn make(scratch: &mut Scratch, graph: &mut Graph) -> bool {
    let mut is_done = vec![false; scratch.sources.len()];
    let mut has_made = false;
    for first in 0..scratch.sources.len() as u32 {
        let MemorySource { is_param, is_good, .. } = scratch.sources[first as usize];
        if !is_param || !is_good || is_done[first as usize] {
            continue;
        }
        if let Some(web) = find_web(scratch, graph, first, &mut is_done)
            && scratch.steps.take()
        {
            Renewer { scratch, graph, web: &web }.make();
            has_made = true;
        }
    }
    has_made
}

/// Finds all that has the memory which this parameter has; `None` if its places are not known.
fn find_web(scratch: &Scratch, graph: &Graph, first: u32, is_done: &mut [bool]) -> Option<Web> {
    let mut web = Web { params: Vec::new(), calls: Vec::new(), fields: Vec::new(), held: Vec::new() };
    let mut work = vec![first];
    while let Some(of) = work.pop() {
        let MemorySource { is_param, is_good, .. } = scratch.sources[of as usize];
        if !is_good || core::mem::replace(&mut is_done[of as usize], true) {
            continue;
        }
        let list = if is_param { &mut web.params } else { &mut web.calls };
        list.push(of);
        for SourceFlow { from, to, .. } in scratch.flows.iter().filter(|one| one.from == of || one.to == of) {
            work.extend([*from, *to]);
        }
    }
    find_fields(scratch, graph, &mut web)?;
    find_held(scratch, graph, &mut web);
    (has_all_pointers(scratch, &web) && is_all_known(scratch, graph, &web)).then_some(web)
}

/// Finds the places that are stored to; `None` if they overlap, or if there are too many.
fn find_fields(scratch: &Scratch, graph: &Graph, web: &mut Web) -> Option<()> {
    let is_inside = |of: u32| web.params.contains(&of) || web.calls.contains(&of);
    for one in scratch.uses.iter().filter(|one| one.kind == SourceUseKind::Store && is_inside(one.of)) {
        let data = graph.node(one.node);
        let (_, offset) = scratch.place(graph, graph.inputs(one.node)[0])?;
        let bytes = data.sig.from.bytes();
        if web.fields.iter().any(|field| (field.offset, field.bytes) == (offset, bytes)) {
            continue;
        }
        let is_apart = |field: &RenewedField| {
            field.offset + i64::from(field.bytes) <= offset || offset + i64::from(bytes) <= field.offset
        };
        let is_known = i32::try_from(offset).is_ok() && !graph.may_fault(one.node);
        if !is_known || web.fields.len() == MAX_PLACES || !web.fields.iter().all(is_apart) {
            return None;
        }
        web.fields.push(RenewedField { offset, bytes, ty: data.sig.from, imm: data.imm });
    }
    Some(())
}

/// Finds what is said of what all calls make, and nobody stores.
fn find_held(scratch: &Scratch, graph: &Graph, web: &mut Web) {
    let said_of = |of: u32| {
        scratch.uses.iter().filter(move |one| one.of == of && one.kind == SourceUseKind::Hold).filter_map(
            move |one| {
                let data = graph.node(one.node);
                let [address, value] = *graph.inputs(one.node) else { unreachable!("it has two operands") };
                let (_, offset) = scratch.place(graph, address)?;
                let value = match scratch.place(graph, value) {
                    Some((other, to)) if other == of => HeldValue::Inside(to),
                    _ => HeldValue::Same(value),
                };
                Some(HeldPlace { offset, ty: data.sig.from, imm: data.imm, value })
            },
        )
    };
    let is_equal = |one: &HeldPlace, other: &HeldPlace| {
        (one.offset, one.ty) == (other.offset, other.ty)
            && match (one.value, other.value) {
                (HeldValue::Inside(one), HeldValue::Inside(other)) => one == other,
                (HeldValue::Same(one), HeldValue::Same(other)) => is_same(graph, one, other),
                _ => false,
            }
    };
    let Some((&first, others)) = web.calls.split_first() else { return };
    let held = said_of(first).filter(|held| {
        let end = held.offset + i64::from(held.ty.bytes());
        web.fields
            .iter()
            .all(|field| field.offset + i64::from(field.bytes) <= held.offset || end <= field.offset)
            && others.iter().all(|of| said_of(*of).any(|other| is_equal(held, &other)))
            && match held.value {
                HeldValue::Same(value) => is_same(graph, value, value),
                HeldValue::Inside(offset) => i32::try_from(offset).is_ok(),
            }
    });
    web.held = held.collect();
}

/// Whether all calls are said to have the pointers that were taken to be in the memory.
fn has_all_pointers(scratch: &Scratch, web: &Web) -> bool {
    let is_held = |pointer: &Pointer| {
        web.held.iter().any(|held| {
            held.offset == pointer.offset && matches!(held.value, HeldValue::Inside(to) if to == pointer.to)
        })
    };
    scratch.pointers.iter().filter(|pointer| web.calls.contains(&pointer.of)).all(is_held)
}

/// Whether it is known of all that is loaded what that may be: memory may have its own address where nobody says so, and be written by
/// that.
fn is_all_known(scratch: &Scratch, graph: &Graph, web: &Web) -> bool {
    let is_inside = |one: &&SourceUse| {
        graph.node(one.node).op == Op::LOAD && (web.params.contains(&one.of) || web.calls.contains(&one.of))
    };
    let place_of = |one: &SourceUse| scratch.place(graph, graph.inputs(one.node)[0]);
    scratch.uses.iter().filter(is_inside).all(|one| {
        let is_said =
            |other: &SourceUse| other.kind == SourceUseKind::Hold && place_of(other) == place_of(one);
        place_of(one).is_some_and(|(_, offset)| {
            web.fields.iter().any(|field| field.offset == offset)
                || web.held.iter().any(|held| held.offset == offset)
                || scratch.uses.iter().any(is_said)
        })
    })
}

struct Renewer<'a> {
    scratch: &'a mut Scratch,
    graph: &'a mut Graph,
    web: &'a Web,
}

impl Renewer<'_> {
    fn make(&mut self) {
        for &of in &self.web.params {
            self.call(of);
        }
        for &of in &self.web.params {
            self.give_fields(of);
        }
        for &of in &self.web.params {
            self.replace(of);
        }
    }

    fn block(&self, of: u32) -> Block {
        self.graph.node(self.scratch.sources[of as usize].node).block
    }

    /// Makes the memory that a parameter will have.
    fn call(&mut self, of: u32) {
        let MemorySource { call, .. } = self.scratch.sources[of as usize];
        let data = *self.graph.node(call);
        let inputs = self.graph.inputs(call).to_vec();
        let new = self.graph.add(data.op, data.sig, &inputs, data.imm, data.origin);
        self.graph.nodes[new.at()].block = self.block(of);
        self.scratch.sources[of as usize].call = new;
    }

    /// Adds parameters for the fields, loads of them where control comes from, stores of them, and what is said of other places.
    fn give_fields(&mut self, of: u32) {
        let MemorySource { call, .. } = self.scratch.sources[of as usize];
        let (block, origin) = (self.block(of), self.graph.node(call).origin);
        let mut flows: Vec<SourceFlow> =
            self.scratch.flows.iter().copied().filter(|one| one.to == of).collect();
        flows.sort_unstable_by_key(|one| one.way);
        let mut body = vec![call];
        for field in &self.web.fields {
            let inputs: Vec<Node> = flows
                .iter()
                .map(|one| {
                    let from = self.scratch.sources[one.from as usize].call;
                    let address = self.address(from, field.offset, origin);
                    let edge = self.graph.block(block).preds[one.way as usize];
                    let sig = Sig { from: Type::Void, ty: field.ty };
                    self.graph.push(edge.block, Op::LOAD, sig, &[address], field.imm, origin)
                })
                .collect();
            let param = self.graph.add_param(block, field.ty, origin);
            self.graph.set_inputs(param, &inputs);
            body.push(self.say(Op::STORE, call, (field.offset, field.ty, field.imm), param));
        }
        for held in &self.web.held {
            let value = match held.value {
                HeldValue::Same(value) => value,
                HeldValue::Inside(offset) => self.address(call, offset, origin),
            };
            body.push(self.say(Op::HOLDS, call, (held.offset, held.ty, held.imm), value));
        }
        for &node in &body {
            self.graph.nodes[node.at()].block = block;
        }
        self.graph.blocks[block.at()].body.splice(0..0, body);
    }

    fn address(&mut self, base: Node, offset: i64, origin: u32) -> Node {
        self.graph.add_normal(Op::ADDR, ADDRESS, &[base], offset as u64, origin)
    }

    /// Says or stores what a place has.
    fn say(&mut self, op: Op, base: Node, (offset, ty, imm): (i64, Type, u64), value: Node) -> Node {
        let origin = self.graph.node(base).origin;
        let address = self.address(base, offset, origin);
        self.graph.add(op, Sig { from: ty, ty: Type::Void }, &[address, value], imm, origin)
    }

    /// Lets all that uses a parameter use what is made in its place.
    fn replace(&mut self, of: u32) {
        let MemorySource { node, call, form, .. } = self.scratch.sources[of as usize];
        let block = self.block(of);
        let value = match form {
            AddressForm::Address => call,
            AddressForm::Box(kind, sig) => {
                let origin = self.graph.node(node).origin;
                self.graph.add(Op::BOX, sig, &[call], kind, origin)
            }
        };
        for link in self.graph.links.iter_mut().filter(|link| **link == node) {
            *link = value;
        }
        self.graph.blocks[block.at()].params.retain(|param| *param != node);
    }
}
