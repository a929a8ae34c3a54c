//! The place in the graph where nodes are added, and the conversions between a value and the 64 bits of its slot.

use super::WORD;
use crate::ir::graph::{CallData, CallMemory, CallTarget, Effect, Graph, Heat, Pred};
use crate::ir::index::{Block, Node};
use crate::ir::template::{Convention, Ref, Signature};
use crate::vocab::{Op, Sig, Type};

/// The place in the graph where nodes are added.
pub(super) struct Cursor<'a> {
    pub(super) graph: &'a mut Graph,
    /// The block being filled; `NONE` after its end, where control cannot be.
    pub(super) block: Block,
    /// The bytecode that new nodes originate from.
    pub(super) at: u32,
}

/// The inputs of an operator, as numbers of the template's values.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    /// The template's values so far.
    pub(super) values: &'a [Node],
    pub(super) refs: &'a [Ref],
}

impl Inputs<'_> {
    pub(super) fn get(self, index: usize) -> Node {
        self.values[self.refs[index] as usize]
    }
}

impl Cursor<'_> {
    /// Whether control can be here.
    pub(super) fn is_reached(&self) -> bool {
        self.block.is_some()
    }

    /// Control has been here: the block is in the hot path, whatever was expected.
    pub(super) fn was_here(&mut self) {
        if self.is_reached() {
            self.graph.blocks[self.block.at()].heat = Heat::Normal;
        }
    }

    pub(super) fn ty(&self, value: Node) -> Type {
        self.graph.node(value).ty()
    }

    /// Adds a floating node.
    pub(super) fn add(&mut self, op: Op, sig: Sig, inputs: &[Node], imm: u64) -> Node {
        self.graph.add(op, sig, inputs, imm, self.at)
    }

    /// Adds a node that is pinned in order in the block.
    pub(super) fn push(&mut self, op: Op, sig: Sig, inputs: &[Node], imm: u64) -> Node {
        self.graph.push(self.block, op, sig, inputs, imm, self.at)
    }

    /// Adds a template's operator, pinned if its order matters.
    pub(super) fn operator(&mut self, op: Op, sig: Sig, inputs: Inputs<'_>, imm: u64) -> Node {
        let floats = self.graph.would_float(op, sig, imm);
        if floats && !Graph::is_normal(op) {
            // Addresses have two inputs at most, constants none.
            let mut gathered = [Node::NONE; 2];
            let gathered = &mut gathered[..inputs.refs.len()];
            for (index, input) in gathered.iter_mut().enumerate() {
                *input = inputs.get(index);
            }
            return self.graph.add_normal(op, sig, gathered, imm, self.at);
        }
        let each = inputs.refs.iter().map(|&input| inputs.values[input as usize]);
        let node = self.graph.add_each(op, sig, each, imm, self.at);
        if !floats {
            self.graph.pin(node, self.block);
        }
        node
    }

    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Node {
        self.graph.constant(ty, bits, self.at)
    }

    /// Whether a flag holds, if it is computed of constants.
    pub(super) fn known_flag(&self, flag: Node) -> Option<bool> {
        let (graph, mut operands) = (&*self.graph, [0; 2]);
        let inputs = graph.inputs(flag);
        for (operand, &input) in core::iter::zip(operands.get_mut(..inputs.len())?, inputs) {
            *operand = graph.as_const(input)?;
        }
        let data = graph.node(flag);
        Some(graph.vocab.evaluate(data.op, data.sig, &operands[..inputs.len()])?.ok()? & 1 != 0)
    }

    /// The address `offset` bytes after another.
    pub(super) fn address(&mut self, base: Node, offset: u64) -> Node {
        self.graph.add_normal(Op::ADDR, WORD, &[base], offset, self.at)
    }

    pub(super) fn load(&mut self, ty: Type, address: Node) -> Node {
        self.push(Op::LOAD, Sig { from: Type::Void, ty }, &[address], 0)
    }

    pub(super) fn store(&mut self, address: Node, value: Node) {
        let sig = Sig { from: self.ty(value), ty: Type::Void };
        self.push(Op::STORE, sig, &[address, value], 0);
    }

    /// Adds a call of a native function at a known address to the graph; returns the number by which a node refers to the
    /// call.
    pub(super) fn native_call(&mut self, address: u64, args: &'static [Type], ret: Type) -> u64 {
        let signature = Signature { convention: Convention::SysV64, args, ret };
        let (target, memory) = (CallTarget::Direct(address), CallMemory::ANY);
        self.call_data(CallData { target, signature, effect: Effect::Memory, memory })
    }

    /// The code of the trap with which a call failed, or zero.
    pub(super) fn failure(&mut self, call: Node) -> Node {
        self.push(Op::FAILURE, Sig { from: Type::Void, ty: Type::I32 }, &[call], 0)
    }

    /// Adds a call to the graph; returns its number.
    pub(super) fn call_data(&mut self, call: CallData) -> u64 {
        self.graph.calls.push(call);
        self.graph.calls.len() as u64 - 1
    }

    /// Ends the block. Control continues at one of the successors, or leaves the function.
    pub(super) fn end(&mut self, op: Op, from: Type, inputs: &[Node], imm: u64, succs: &[Block]) {
        self.graph.end(self.block, op, from, inputs, imm, succs, self.at);
        self.block = Block::NONE;
    }

    /// Ends the block, and leaves the function.
    pub(super) fn leave(&mut self, op: Op, from: Type, inputs: &[Node], imm: u64) {
        self.end(op, from, inputs, imm, &[]);
    }

    /// Leaves the function with a result, if it has one.
    pub(super) fn give_back(&mut self, value: Option<Node>) {
        match value {
            None => self.leave(Op::RET, Type::Void, &[], 0),
            Some(value) => self.leave(Op::RETURN, self.ty(value), &[value], 0),
        }
    }

    pub(super) fn jump(&mut self, to: Block) {
        self.end(Op::JUMP, Type::Void, &[], 0, &[to]);
    }

    /// Goes on in the only block that jumps to this one, in place of this one, if nothing else leads here and both run equally often.
    /// That block must have ended with the jump.
    pub(super) fn reopen(&mut self, block: Block) -> bool {
        let data = self.graph.block(block);
        let [Pred { block: before, .. }] = data.preds[..] else { return false };
        let from = self.graph.block(before);
        let is_joined =
            before != Graph::ENTRY && self.graph.node(from.end).op == Op::JUMP && from.heat == data.heat;
        if is_joined {
            let from = &mut self.graph.blocks[before.at()];
            from.end = Node::NONE;
            from.succs.clear();
            self.graph.blocks[block.at()].preds.clear();
            self.block = before;
        }
        is_joined
    }

    pub(super) fn branch(&mut self, flag: Node, then: Block, otherwise: Block) {
        self.end(Op::BR, Type::Void, &[flag], 0, &[then, otherwise]);
    }

    /// The low bits of a slot's content, as a value of a type.
    pub(super) fn bits_as(&mut self, value: Node, ty: Type) -> Node {
        if ty == Type::I64 {
            return value;
        }
        let bits = match ty.bits() {
            64 => value,
            32 => self.narrow(value, Type::I32),
            16 => self.narrow(value, Type::I16),
            _ => self.narrow(value, Type::I8),
        };
        if self.ty(bits) == ty { bits } else { self.bitcast(bits, ty) }
    }

    /// The value's bits as another type of the same width.
    pub(super) fn bitcast(&mut self, value: Node, ty: Type) -> Node {
        self.add(Op::BITCAST, Sig { from: self.ty(value), ty }, &[value], 0)
    }

    /// The low bits of a 64-bit integer.
    pub(super) fn narrow(&mut self, value: Node, ty: Type) -> Node {
        let data = self.graph.node(value);
        if data.op == Op::UCAST && data.sig.from == ty {
            // The register was written with the type with which it is read.
            return self.graph.inputs(value)[0];
        }
        self.add(Op::UCAST, Sig { from: Type::I64, ty }, &[value], 0)
    }

    /// An integer of at most 32 bits, zero-extended to 32.
    pub(super) fn as_i32(&mut self, value: Node) -> Node {
        self.extended(value, Type::I32)
    }

    /// A value's bits, zero-extended to 64.
    pub(super) fn widen(&mut self, value: Node) -> Node {
        let bits = match self.ty(value) {
            Type::F32 => self.bitcast(value, Type::I32),
            ty if ty.is_float() => self.bitcast(value, Type::I64),
            _ => value,
        };
        self.extended(bits, Type::I64)
    }

    fn extended(&mut self, value: Node, ty: Type) -> Node {
        let from = self.ty(value);
        if from == ty { value } else { self.add(Op::UCAST, Sig { from, ty }, &[value], 0) }
    }
}
