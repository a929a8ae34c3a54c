//! Let blocks make memory anew that comes to them by a parameter.
//!
//! In and out: a graph that was just built, in which equal values are one node (`number`). Out: a parameter that always has the address of
//! memory which calls of one function have made, and which is used from there on only by that parameter, is another call of that function,
//! at the start of its block; what the memory has is loaded on the ways there, and stored again.
//!
//! ```text
//!     head: p = param a b                 head: x = param xa xb
//!       y = load p.x                        p = make; store p.x x
//!       ...                                 y = load p.x
//!       b = make; store b.x (add y 1)       ...
//!       jump head                           b = make; store b.x (add y 1)
//!                                           xb = load b.x; jump head
//! ```
//!
//! That takes more time by itself. But now it is known of either memory who has its address, so `forward` finds what is loaded, and
//! [`sink`](super::sink) leaves out both: an object that each iteration of a loop makes from the one before is a value for each field.
//!
//! Whether an address is that of the same memory as another one is not to be seen afterwards: nothing is compared, no way leads from where
//! somebody gets an address to where a parameter has the memory, and from there on nobody uses the address that it had before. Of a
//! loop whose first value comes from elsewhere the first iteration has to be in front of it ([`find`], [`peel`](super::peel)). Cost: linear, for each of at most [`MAX_SOURCES`] calls and parameters.

mod make;
mod settle;

use super::flow::{FlowGraph, NONE};
use super::limits::Steps;
use super::places::{MemoryPlace, base_of};
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{Block, Node};
use crate::ir::regions::MemoryRegion;
use crate::vocab::{Op, Sig, Type};

/// How many calls and parameters are looked at.
const MAX_SOURCES: usize = 32;

/// How deep a value may be for two of them to be found equal.
const MAX_DEPTH: u32 = 5;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    is_cold: Vec<bool>,
    sources: Vec<MemorySource>,
    /// By node: which source it is, or in whose memory the address is that it loads; or [`NONE`].
    numbers: Vec<u32>,
    pointers: Vec<Pointer>,
    /// The loads of such pointers, and how far what they load is from the memory's start.
    loaded: Vec<(Node, i64)>,
    flows: Vec<SourceFlow>,
    uses: Vec<SourceUse>,
    /// By rank, of the source that is looked at: whether control may come from there to where a parameter has its memory.
    leads_on: Vec<bool>,
    /// By rank, of the source that is looked at: whether it is used behind the start of the block.
    is_live: Vec<bool>,
    work: Vec<u32>,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// Which values a loop may start with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// Any: the first iteration will be in front of it.
    Anything,
    /// Memory that was made.
    Made,
}

/// How a value is the address of memory: itself, or as a box of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AddressForm {
    Address,
    /// The number of the kind, and the types of the operator.
    Box(u64, Sig),
}

/// What has the address of memory that was made: the call itself, or a parameter.
#[derive(Clone, Copy, Debug)]
struct MemorySource {
    node: Node,
    /// The rank of its block.
    home: u32,
    form: AddressForm,
    is_param: bool,
    /// Whether nothing is known that forbids it.
    is_good: bool,
    /// Whether the loop whose head it is at starts with something else.
    starts_with_other: bool,
    /// A call that makes what it has: once it is known, of a parameter.
    call: Node,
}

/// Memory that is said to have an address in itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pointer {
    /// The number of the call.
    of: u32,
    /// Where it has it.
    offset: i64,
    /// How far that address is from the memory's start.
    to: i64,
}

/// A parameter has what a source had on an edge. Both are given by their numbers.
#[derive(Clone, Copy, Debug)]
struct SourceFlow {
    from: u32,
    to: u32,
    /// The position of the edge among those into the parameter's block, and the rank of its source.
    way: u32,
    pred: u32,
}

/// What a node does with a source's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SourceUseKind {
    /// Loads from there, or asks something that is the same of any such memory.
    Look,
    Store,
    /// Says what the memory has.
    Hold,
    /// Gives the address to somebody.
    Escape,
}

#[derive(Clone, Copy, Debug)]
struct SourceUse {
    of: u32,
    /// The rank of the block.
    rank: u32,
    node: Node,
    kind: SourceUseKind,
}

/// Finds out whether anything may be made anew, in a graph that was just built, if the memory is not needed that these bytecodes make. Returns
/// the heads of loops whose first iteration has to be in front of them.
pub fn find(scratch: &mut Scratch, graph: &Graph, needed: &[u32]) -> Option<Vec<Block>> {
    if !SourceFinder::find(scratch, graph, needed, Start::Anything) {
        return None;
    }
    let starts = |source: &&MemorySource| source.is_param && source.is_good && source.starts_with_other;
    let starts = scratch.sources.iter().filter(starts);
    Some(starts.map(|source| scratch.flow.order[source.home as usize]).collect())
}

/// Makes anew what may be, if the memory is not needed that these bytecodes make. Returns whether there was any.
pub fn renew(scratch: &mut Scratch, graph: &mut Graph, needed: &[u32]) -> bool {
    SourceFinder::find(scratch, graph, needed, Start::Made) && make::make(scratch, graph)
}

impl Scratch {
    fn number(&self, node: Node) -> Option<u32> {
        self.numbers.get(node.at()).copied().filter(|of| *of != NONE)
    }

    /// The source in whose memory an address is, and how far it is from the memory's start.
    fn place(&self, graph: &Graph, address: Node) -> Option<(u32, i64)> {
        let base = base_of(graph, address)?;
        let of = self.number(base)?;
        let offset = MemoryPlace::of(graph, address, Type::I64, MemoryRegion::ANY, |node| node).offset;
        let loaded = self.loaded.iter().find(|(load, _)| *load == base);
        Some((of, offset.saturating_add(loaded.map_or(0, |(_, to)| *to))))
    }
}

struct SourceFinder<'a> {
    graph: &'a Graph,
    scratch: &'a mut Scratch,
    start: Start,
}

impl SourceFinder<'_> {
    /// Finds all there is; returns whether a parameter is good.
    fn find(scratch: &mut Scratch, graph: &Graph, needed: &[u32], start: Start) -> bool {
        scratch.sources.clear();
        scratch.flows.clear();
        scratch.uses.clear();
        if !graph.makes_memory() {
            return false;
        }
        scratch.flow.find_order(graph);
        let mut finder = SourceFinder { graph, scratch, start };
        finder.add_calls(needed);
        finder.add_params();
        if finder.scratch.sources.iter().all(|source| !source.is_param) {
            return false;
        }
        finder.scratch.flow.find(graph);
        finder.find_homes();
        finder.find_flows();
        finder.settle_calls();
        finder.find_pointers();
        finder.find_uses();
        finder.settle();
        finder.scratch.sources.iter().any(|source| source.is_param && source.is_good)
    }

    fn add(&mut self, node: Node, form: AddressForm, is_param: bool) {
        let Scratch { sources, numbers, .. } = &mut *self.scratch;
        numbers[node.at()] = sources.len() as u32;
        let call = if is_param { Node::NONE } else { node };
        let starts_with_other = false;
        sources.push(MemorySource {
            node,
            home: NONE,
            form,
            is_param,
            is_good: true,
            starts_with_other,
            call,
        });
    }

    /// Adds the calls that make memory which is not needed.
    fn add_calls(&mut self, needed: &[u32]) {
        self.scratch.numbers.clear();
        self.scratch.numbers.resize(self.graph.nodes.len(), NONE);
        for rank in 0..self.scratch.flow.order.len() {
            for &node in &self.graph.block(self.scratch.flow.order[rank]).body {
                if self.graph.makes(node)
                    && !needed.contains(&self.graph.node(node).origin)
                    && self.scratch.sources.len() < MAX_SOURCES
                {
                    self.add(node, AddressForm::Address, false);
                }
            }
        }
    }

    /// Adds the parameters that have the address of such memory on some way.
    fn add_params(&mut self) {
        let mut has_more = !self.scratch.sources.is_empty();
        while core::mem::take(&mut has_more) {
            for rank in 0..self.scratch.flow.order.len() {
                for &param in &self.graph.block(self.scratch.flow.order[rank]).params {
                    if self.scratch.numbers[param.at()] == NONE
                        && self.scratch.sources.len() < MAX_SOURCES
                        && let Some(form) = self.form_of_param(param)
                    {
                        self.add(param, form, true);
                        has_more = true;
                    }
                }
            }
        }
    }

    fn form_of_param(&self, param: Node) -> Option<AddressForm> {
        let mut inputs = self.graph.inputs(param).iter();
        inputs.find_map(|input| self.source_and_form(*input)).map(|(_, form)| form)
    }

    /// The source whose address a value is, and how it is that.
    fn source_and_form(&self, value: Node) -> Option<(u32, AddressForm)> {
        let data = self.graph.node(value);
        let (node, form) = match data.op {
            Op::BOX => (self.graph.inputs(value)[0], Some(AddressForm::Box(data.imm, data.sig))),
            _ => (value, None),
        };
        let of = self.number(node)?;
        let source = &self.scratch.sources[of as usize];
        if source.node != node {
            return None;
        }
        // The box of a parameter would be another form of what it has.
        (!source.is_param || form.is_none()).then(|| (of, form.unwrap_or(source.form)))
    }

    fn number(&self, node: Node) -> Option<u32> {
        self.scratch.number(node)
    }

    /// The source in whose memory an address is, or whose box a value is.
    fn source_under(&self, value: Node) -> Option<u32> {
        self.number(base_of(self.graph, value)?)
    }

    /// The source in whose memory an address is, and how far it is from the memory's start.
    fn place(&self, address: Node) -> Option<(u32, i64)> {
        self.scratch.place(self.graph, address)
    }

    /// Finds which loads find addresses in the very memory: what is stored at those is stored there.
    fn find_pointers(&mut self) {
        self.scratch.pointers.clear();
        self.scratch.loaded.clear();
        self.each_place_of(Op::HOLDS, |finder, node, of, offset| {
            let inside = finder.place(finder.graph.inputs(node)[1]).filter(|(other, _)| *other == of);
            finder.scratch.pointers.extend(inside.map(|(_, to)| Pointer { of, offset, to }));
        });
        if self.scratch.pointers.is_empty() {
            return;
        }
        self.each_place_of(Op::LOAD, |finder, node, of, offset| {
            if let Some(pointer) = finder.pointer(of, offset) {
                finder.scratch.numbers[node.at()] = of;
                finder.scratch.loaded.push((node, pointer.to));
            }
        });
    }

    /// Visits all nodes of an operator that is about a word in a source's memory.
    fn each_place_of(&mut self, op: Op, mut visit: impl FnMut(&mut Self, Node, u32, i64)) {
        for rank in 0..self.scratch.flow.order.len() {
            for &node in &self.graph.block(self.scratch.flow.order[rank]).body {
                let NodeData { op: other, sig, .. } = *self.graph.node(node);
                let is_word = sig.ty == Type::I64 || sig.from == Type::I64;
                if other == op
                    && is_word
                    && let Some((of, offset)) = self.place(self.graph.inputs(node)[0])
                {
                    visit(self, node, of, offset);
                }
            }
        }
    }

    /// The pointer that a source's memory has at an offset.
    fn pointer(&self, of: u32, offset: i64) -> Option<Pointer> {
        let call = self.number(self.scratch.sources[of as usize].call)?;
        let is_there = |pointer: &&Pointer| pointer.of == call && pointer.offset == offset;
        self.scratch.pointers.iter().find(is_there).copied()
    }

    fn find_homes(&mut self) {
        let Scratch { flow, sources, is_cold, .. } = &mut *self.scratch;
        flow.find_cold(self.graph, is_cold);
        for source in sources {
            source.home = flow.rank[self.graph.node(source.node).block.at()];
        }
    }

    /// Finds what each parameter has on each way to it.
    fn find_flows(&mut self) {
        for to in 0..self.scratch.sources.len() as u32 {
            let MemorySource { node, home, form, is_param, .. } = self.scratch.sources[to as usize];
            if !is_param {
                continue;
            }
            let preds = &self.graph.block(self.graph.node(node).block).preds;
            for ((way, &input), edge) in (0u32..).zip(self.graph.inputs(node)).zip(preds) {
                let pred = self.scratch.flow.rank[edge.block.at()];
                let goes_around = self.scratch.flow.goes_around(home, pred);
                let from = self.source_and_form(input).filter(|(_, other)| pred != NONE && *other == form);
                let source = &mut self.scratch.sources[to as usize];
                match from {
                    Some((from, _)) => self.scratch.flows.push(SourceFlow { from, to, way, pred }),
                    None if self.start == Start::Anything && !goes_around => source.starts_with_other = true,
                    None => source.is_good = false,
                }
                if from.is_none() {
                    self.escape(input, pred, node);
                }
            }
        }
        // Only a loop can start with something else.
        let Scratch { sources, flows, flow, .. } = &mut *self.scratch;
        for (to, source) in (0u32..).zip(sources).filter(|(_, source)| source.starts_with_other) {
            let goes_around = |one: &SourceFlow| one.to == to && flow.goes_around(source.home, one.pred);
            source.is_good &= flows.iter().any(goes_around);
        }
    }

    /// Finds what else uses the sources.
    fn find_uses(&mut self) {
        for rank in 0..self.scratch.flow.order.len() as u32 {
            let data = self.graph.block(self.scratch.flow.order[rank as usize]);
            for &param in &data.params {
                if self.number(param).is_some() {
                    continue;
                }
                for (&input, edge) in self.graph.inputs(param).iter().zip(&data.preds) {
                    self.escape(input, self.scratch.flow.rank[edge.block.at()], param);
                }
            }
            for &node in data.body.iter().chain([&data.end]) {
                self.find_uses_by(node, rank);
            }
        }
        for at in 0..self.graph.nodes.len() {
            let node = Node::from(at);
            let data = self.graph.node(node);
            if !data.block.is_some() && base_of(self.graph, node).is_none() {
                self.find_floating_uses_by(node);
            }
        }
    }

    /// A node gets a value on a way to it from the block of this rank.
    fn escape(&mut self, value: Node, rank: u32, node: Node) {
        if rank != NONE
            && let Some(of) = self.source_under(value)
        {
            self.scratch.uses.push(SourceUse { of, rank, node, kind: SourceUseKind::Escape });
        }
    }

    fn find_uses_by(&mut self, node: Node, rank: u32) {
        let op = self.graph.node(node).op;
        for (operand, &input) in self.graph.inputs(node).iter().enumerate() {
            let kind = match (op, operand) {
                (Op::LOAD, _) => SourceUseKind::Look,
                (Op::STORE, 0) => SourceUseKind::Store,
                (Op::HOLDS, 0) => SourceUseKind::Hold,
                (Op::HOLDS, _) => continue,
                _ => SourceUseKind::Escape,
            };
            if let Some(of) = self.source_under(input) {
                self.scratch.uses.push(SourceUse { of, rank, node, kind });
            }
        }
    }

    /// What computes something of an address may do so anywhere. Of a box it may be asked which kind it is of, or whether it is a certain
    /// constant: that is the same of any such memory.
    fn find_floating_uses_by(&mut self, node: Node) {
        let data = self.graph.node(node);
        let inputs = self.graph.inputs(node);
        for &input in inputs {
            if let Some(of) = self.source_under(input) {
                let is_harmless = data.ty() == Type::Flag
                    && inputs.iter().all(|other| *other == input || self.graph.as_const(*other).is_some());
                self.scratch.sources[of as usize].is_good &= is_harmless;
            }
        }
    }
}

/// Whether two values are the same wherever they are computed, as they depend on nothing that is pinned.
fn is_same(graph: &Graph, one: Node, other: Node) -> bool {
    is_same_within(graph, one, other, MAX_DEPTH)
}

fn is_same_within(graph: &Graph, one: Node, other: Node, depth: u32) -> bool {
    let (a, b) = (graph.node(one), graph.node(other));
    depth > 0
        && !a.block.is_some()
        && (a.op, a.sig, a.imm, a.block) == (b.op, b.sig, b.imm, b.block)
        && a.inputs.range().len() == b.inputs.range().len()
        && core::iter::zip(graph.inputs(one), graph.inputs(other))
            .all(|(one, other)| is_same_within(graph, *one, *other, depth - 1))
}
