//! Give each block parameter the type of the values it carries.
//!
//! In and out: a graph as `build` makes it. There, a VM register that a function uses as several types is a 64-bit integer,
//! and so is each parameter that carries it. A parameter that only brings a float, or a narrow integer, from its definition
//! to its uses becomes a parameter of that type, and the 64-bit integer is computed from it. The casts around it cancel out
//! in `rewrite`. Keeps: the bits of every value. Cost: linear.
//!
//! Types are found optimistically, so that values may travel around loops. A parameter takes the type of its first argument
//! that is a widened value, or of a parameter among its arguments. It keeps that type unless one of two things is true:
//!
//! - An argument has bits that do not fit the type. This concerns narrow types only: any 64 bits are an `f64`.
//! - The remaining casts, of integer arguments and for integer uses, run as often as the casts that are removed.
//!
//! A parameter that is known to be of one kind of boxed values ([`KindMask`]) is treated alike: it carries what is in the box, and the
//! box is made from that. Taking a value out of a box is the cast there, and making the box.
//!
//! A cast counts as often as its block is expected to run. A floating use counts in the parameter's own block, because it
//! has no block of its own yet.

use super::flow::FlowGraph;
use super::limits::Steps;
use crate::ir::graph::{Graph, NodeData};
use crate::ir::index::{Block, List, Node};
use crate::ir::kinds::{KindMask, ValueKind};
use crate::vocab::{Op, Sig, Type};

/// How much more often a loop's block runs than the surrounding code, as a power of two.
const LOOP_SHIFT: u32 = 3;
/// The deepest nesting of loops that still raises the estimate.
const DEEPEST: u16 = 6;
/// How often a block outside of loops runs, relative to a cold block.
const ONCE: u64 = 1 << LOOP_SHIFT;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    flow: FlowGraph,
    /// The candidates: parameters that are 64-bit integers.
    params: Vec<Candidate>,
    /// For each node its index in `params`.
    number: Vec<u32>,
    /// Pairs of parameters: the second has the first as an argument. Sorted by the first.
    passed: Vec<(u32, u32)>,
    work: Vec<u32>,
    /// By rank.
    is_cold: Vec<bool>,
    inputs: Vec<Node>,
    pub(super) steps: Steps,
}

impl Scratch {
    /// Frees the memory.
    pub(super) fn release(&mut self) {
        *self = Scratch { steps: core::mem::take(&mut self.steps), ..Scratch::default() };
    }
}

/// A candidate.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    node: Node,
    /// How it will carry its values.
    form: Representation,
    /// How often its block runs.
    weight: u64,
    /// How often uses, other than as arguments of blocks, need this type, and how often they need the integer.
    typed_uses: u64,
    int_uses: u64,
    /// Index in `passed` of the first pair with this parameter as argument.
    first_passed: u32,
    is_waiting: bool,
    /// The parameter that replaces this one.
    made: Node,
}

const NONE: u32 = u32::MAX;

/// How a parameter carries values of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Representation {
    /// As integers of 64 bits.
    Word,
    /// As values of this type, whose bits they are, with zeros above.
    Typed(Type),
    /// As what is in boxes of the kind with this number.
    InBox(u64),
}

impl Representation {
    fn ty(self, kinds: &[ValueKind]) -> Type {
        match self {
            Representation::Word => Type::I64,
            Representation::Typed(ty) => ty,
            Representation::InBox(kind) => kinds[kind as usize].ty,
        }
    }

    /// Whether a parameter's values may have this form. All have a type, but boxes may be of other kinds.
    fn fits(self, param: Node, masks: &[KindMask]) -> bool {
        match self {
            Representation::InBox(kind) => masks[param.at()].says(kind) == Some(true),
            _ => true,
        }
    }

    /// Whether a constant in this form costs nothing.
    fn has_constant(self, bits: u64) -> bool {
        match self {
            Representation::Word | Representation::InBox(_) => true,
            Representation::Typed(ty) => ty.truncate(bits) == bits,
        }
    }
}

/// An argument of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Given {
    /// A value of a narrower type or of another class, widened to 64 bits, or a value in a box.
    Widened(Node, Representation),
    /// A candidate, possibly the parameter itself.
    Param(u32),
    Constant(u64),
    /// A loaded value, which can be loaded as a float just as well.
    Loaded,
    Integer,
}

/// Gives parameters the types of the values they carry; returns whether any parameter changed. The masks say for each node of
/// which kinds its value may be; there are none if the graph has no kinds.
pub fn represent(scratch: &mut Scratch, graph: &mut Graph, masks: &[KindMask]) -> bool {
    if !scratch.find_params(graph, masks) {
        return false;
    }
    scratch.flow.find(graph);
    scratch.flow.find_cold(graph, &mut scratch.is_cold);
    for at in 0..scratch.params.len() {
        scratch.params[at].weight = scratch.weight(graph.node(scratch.params[at].node).block);
    }
    scratch.spread_types(graph, masks);
    scratch.count_uses(graph);
    scratch.drop_dear(graph);
    scratch.retype(graph)
}

impl Scratch {
    /// Lists the candidates, with the types of their widened arguments; returns false if no argument is widened.
    fn find_params(&mut self, graph: &Graph, masks: &[KindMask]) -> bool {
        self.params.clear();
        self.number.clear();
        let ended = || graph.blocks.iter().filter(|block| block.end.is_some());
        let params =
            || ended().flat_map(|block| &block.params).filter(|node| graph.node(**node).ty() == Type::I64);
        let form_of = |node: Node| {
            let mut forms = graph.inputs(node).iter().filter_map(|input| widened(graph, *input));
            forms.find(|(_, form)| form.fits(node, masks)).map(|(_, form)| form)
        };
        // Most functions have no widened argument, but many parameters.
        if !params().any(|node| form_of(*node).is_some()) {
            return false;
        }
        self.number.resize(graph.nodes.len(), NONE);
        for &node in params() {
            self.number[node.at()] = self.params.len() as u32;
            self.params.push(Candidate {
                node,
                form: form_of(node).unwrap_or(Representation::Word),
                weight: 0,
                typed_uses: 0,
                int_uses: 0,
                first_passed: 0,
                is_waiting: false,
                made: Node::NONE,
            });
        }
        true
    }

    /// How often a block is expected to run.
    fn weight(&self, block: Block) -> u64 {
        let rank = self.flow.rank[block.at()];
        if !self.flow.is_reached(block) || self.is_cold[rank as usize] {
            return 1;
        }
        ONCE << (self.flow.depth(rank).min(DEEPEST) as u32 * LOOP_SHIFT)
    }

    fn given(&self, graph: &Graph, input: Node) -> Given {
        let input = unmoved(graph, input);
        if let Some(&at) = self.number.get(input.at())
            && at != NONE
        {
            return Given::Param(at);
        }
        if let Some((value, form)) = widened(graph, input) {
            return Given::Widened(value, form);
        }
        match graph.node(input).op {
            Op::CONST => Given::Constant(graph.node(input).imm),
            Op::LOAD => Given::Loaded,
            _ => Given::Integer,
        }
    }

    /// A parameter without a widened argument takes the type of a parameter among its arguments.
    fn spread_types(&mut self, graph: &Graph, masks: &[KindMask]) {
        self.passed.clear();
        for (to, param) in self.params.iter().enumerate() {
            for &input in graph.inputs(param.node) {
                if let Given::Param(from) = self.given(graph, input)
                    && from != to as u32
                {
                    self.passed.push((from, to as u32));
                }
            }
        }
        self.passed.sort_unstable();
        let mut at = 0;
        for (number, param) in self.params.iter_mut().enumerate() {
            param.first_passed = at as u32;
            at += self.passed[at..].iter().take_while(|(from, _)| *from == number as u32).count();
        }
        self.work.clear();
        self.work.extend(
            (0..self.params.len() as u32).filter(|at| self.params[*at as usize].form != Representation::Word),
        );
        while let Some(from) = self.work.pop() {
            for at in self.passed_from(from) {
                let (to, form) = (self.passed[at].1, self.params[from as usize].form);
                let param = &mut self.params[to as usize];
                if param.form == Representation::Word && form.fits(param.node, masks) {
                    param.form = form;
                    self.work.push(to);
                }
            }
        }
    }

    /// The range in `passed` of pairs with this parameter as argument.
    fn passed_from(&self, param: u32) -> core::ops::Range<usize> {
        let end =
            self.params.get(param as usize + 1).map_or(self.passed.len(), |next| next.first_passed as usize);
        self.params[param as usize].first_passed as usize..end
    }

    fn count_uses(&mut self, graph: &Graph) {
        for user in &graph.nodes {
            if user.op == Op::PARAM {
                continue;
            }
            for (operand, &input) in graph.links[user.inputs.range()].iter().enumerate() {
                let Some(&at) = self.number.get(input.at()) else { continue };
                if at == NONE {
                    continue;
                }
                let form = self.params[at as usize].form;
                let in_block = if user.block.is_some() { Some(self.weight(user.block)) } else { None };
                let param = &mut self.params[at as usize];
                let weight = in_block.unwrap_or(param.weight);
                match wants(user, operand, form) {
                    Wants::Typed => param.typed_uses += weight,
                    Wants::Integer => param.int_uses += weight,
                    Wants::Either => {}
                }
            }
        }
    }

    /// Keeps a parameter an integer if its new type is impossible or does not pay, and reconsiders its neighbors.
    fn drop_dear(&mut self, graph: &Graph) {
        self.work.clear();
        self.work.extend((0..self.params.len() as u32).rev());
        self.params.iter_mut().for_each(|param| param.is_waiting = true);
        while let Some(at) = self.work.pop() {
            self.params[at as usize].is_waiting = false;
            if self.params[at as usize].form == Representation::Word || self.serves(graph, at) {
                continue;
            }
            self.params[at as usize].form = Representation::Word;
            for passed in self.passed_from(at) {
                self.look_again(self.passed[passed].1);
            }
            for &input in graph.inputs(self.params[at as usize].node) {
                if let Given::Param(from) = self.given(graph, input) {
                    self.look_again(from);
                }
            }
        }
    }

    fn look_again(&mut self, at: u32) {
        let param = &mut self.params[at as usize];
        if param.form != Representation::Word && !core::mem::replace(&mut param.is_waiting, true) {
            self.work.push(at);
        }
    }

    /// Whether a parameter can have its type, and fewer casts run with that type.
    fn serves(&self, graph: &Graph, at: u32) -> bool {
        let Candidate { node, form, int_uses, typed_uses, .. } = self.params[at as usize];
        let (mut casts_typed, mut casts_as_int) = (int_uses, typed_uses);
        let block = graph.node(node).block;
        for (way, &input) in graph.inputs(node).iter().enumerate() {
            let has_type = match self.given(graph, input) {
                Given::Param(from) if from == at => continue,
                Given::Param(from) => self.params[from as usize].form == form,
                Given::Widened(_, from) => from == form,
                Given::Constant(bits) if form.has_constant(bits) => continue,
                Given::Loaded if form == Representation::Typed(Type::F64) => continue,
                _ => false,
            };
            if !has_type && matches!(form, Representation::Typed(ty) if ty.bits() < 64) {
                return false;
            }
            let weight = self.weight(graph.block(block).preds[way].block);
            *if has_type { &mut casts_as_int } else { &mut casts_typed } += weight;
        }
        for passed in self.passed_from(at) {
            let to = &self.params[self.passed[passed].1 as usize];
            *if to.form == form { &mut casts_as_int } else { &mut casts_typed } += to.weight;
        }
        casts_typed < casts_as_int
    }

    /// Makes the new parameters; returns whether there are any.
    fn retype(&mut self, graph: &mut Graph) -> bool {
        for param in &mut self.params {
            if param.form != Representation::Word && !self.steps.take() {
                param.form = Representation::Word;
            }
        }
        // A step limit may have kept a parameter an integer, while another parameter relies on its new type.
        self.drop_dear(graph);
        // Arguments are classified by the old graph, so all parameters are made before any node changes.
        let first_new = graph.nodes.len();
        for at in 0..self.params.len() {
            let Candidate { node, form, .. } = self.params[at];
            if form != Representation::Word {
                let NodeData { block, origin, .. } = *graph.node(node);
                let ty = form.ty(graph.kinds);
                let made = graph.add(Op::PARAM, Sig { from: Type::Void, ty }, &[], 0, origin);
                graph.nodes[made.at()].block = block;
                self.params[at].made = made;
            }
        }
        if graph.nodes.len() == first_new {
            return false;
        }
        for at in 0..self.params.len() {
            self.set_inputs(graph, at);
        }
        for at in 0..self.params.len() {
            self.widen(graph, at);
        }
        true
    }

    /// Sets the arguments of a new parameter from those of the old one.
    fn set_inputs(&mut self, graph: &mut Graph, at: usize) {
        let Candidate { node, form, made, .. } = self.params[at];
        if form == Representation::Word {
            return;
        }
        let ty = form.ty(graph.kinds);
        let mut inputs = core::mem::take(&mut self.inputs);
        inputs.clear();
        for way in 0..graph.inputs(node).len() {
            let input = graph.inputs(node)[way];
            let origin = graph.node(input).origin;
            inputs.push(match self.given(graph, input) {
                Given::Param(from) if self.params[from as usize].form == form => {
                    self.params[from as usize].made
                }
                Given::Widened(value, from) if from == form => value,
                given => match (form, given) {
                    (Representation::InBox(kind), _) => {
                        let sig = Sig { from: Type::Void, ty };
                        graph.add(Op::UNBOX, sig, &[input], kind, origin)
                    }
                    (_, Given::Constant(bits)) => graph.constant(ty, bits, origin),
                    _ => {
                        debug_assert_eq!(ty, Type::F64, "narrow types are there only if all ways bring them");
                        graph.add(Op::BITCAST, Sig { from: Type::I64, ty }, &[input], 0, origin)
                    }
                },
            });
        }
        graph.set_inputs(made, &inputs);
        self.inputs = inputs;
    }

    /// Puts the new parameter into the block, and computes the old one from it.
    fn widen(&mut self, graph: &mut Graph, at: usize) {
        let Candidate { node, form, made, .. } = self.params[at];
        if form == Representation::Word {
            return;
        }
        let NodeData { block, origin, .. } = *graph.node(node);
        let place = graph.blocks[block.at()].params.iter_mut().find(|param| **param == node);
        *place.expect("a parameter stands in its block") = made;
        let (op, from, input, imm) = match form {
            Representation::InBox(kind) => (Op::BOX, form.ty(graph.kinds), made, kind),
            Representation::Typed(Type::F64) => (Op::BITCAST, Type::F64, made, 0),
            Representation::Typed(Type::F32) => {
                let sig = Sig { from: Type::F32, ty: Type::I32 };
                (Op::UCAST, Type::I32, graph.add(Op::BITCAST, sig, &[made], 0, origin), 0)
            }
            _ => (Op::UCAST, form.ty(graph.kinds), made, 0),
        };
        let inputs = List::push(&mut graph.links, &[input]);
        let sig = Sig { from, ty: Type::I64 };
        graph.nodes[node.at()] = NodeData { op, sig, inputs, imm, block: Block::NONE, origin };
    }
}

/// The form in which a use needs a value that might be held as another type.
enum Wants {
    Typed,
    Integer,
    Either,
}

/// The form in which a user needs one of its operands: as a 64-bit integer or in this form.
fn wants(user: &NodeData, operand: usize, form: Representation) -> Wants {
    let ty = match form {
        Representation::Word => return Wants::Integer,
        Representation::Typed(ty) => ty,
        Representation::InBox(kind) => {
            return match user.op {
                Op::UNBOX if user.imm == kind => Wants::Typed,
                // What is in a box of a known kind is not checked.
                Op::IS => Wants::Either,
                _ => Wants::Integer,
            };
        }
    };
    match user.op {
        Op::BITCAST if user.sig.ty == ty => Wants::Typed,
        // Both forms have the low bits.
        Op::UCAST if ty.is_int() && user.sig.ty.bits() <= ty.bits() => Wants::Either,
        Op::UCAST if ty == Type::F32 && user.sig.ty == Type::I32 => Wants::Typed,
        // A store of the float writes the same bits.
        Op::STORE if operand == 1 && ty.is_float() => Wants::Either,
        _ => Wants::Integer,
    }
}

/// If a 64-bit integer is another value's zero-extended bits, or its box: that value, and its form.
fn widened(graph: &Graph, node: Node) -> Option<(Node, Representation)> {
    let NodeData { op, sig, imm, .. } = *graph.node(node);
    if op == Op::BOX {
        return Some((graph.inputs(node)[0], Representation::InBox(imm)));
    }
    let is_widening = matches!((op, sig.from, sig.ty), (Op::BITCAST, Type::F64, Type::I64))
        || op == Op::UCAST && sig.ty == Type::I64 && sig.from.is_int();
    if !is_widening {
        return None;
    }
    let input = graph.inputs(node)[0];
    match *graph.node(input) {
        NodeData { op: Op::BITCAST, sig: Sig { from: Type::F32, .. }, .. } => {
            Some((graph.inputs(input)[0], Representation::Typed(Type::F32)))
        }
        _ => Some((input, Representation::Typed(sig.from))),
    }
}

/// Strips round trips of a 64-bit integer through a float.
fn unmoved(graph: &Graph, mut node: Node) -> Node {
    loop {
        let is_float = |node: Node, from, ty| {
            let data = graph.node(node);
            data.op == Op::BITCAST && (data.sig.from, data.sig.ty) == (from, ty)
        };
        if !is_float(node, Type::F64, Type::I64) {
            return node;
        }
        let float = graph.inputs(node)[0];
        if !is_float(float, Type::I64, Type::F64) {
            return node;
        }
        node = graph.inputs(float)[0];
    }
}
