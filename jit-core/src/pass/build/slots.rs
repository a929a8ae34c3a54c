//! Reads and writes of VM registers, as the types that templates want, and the slots that registers are in when someone
//! may look.

use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::bytecode::{OperandKind, run_of};
use crate::ir::index::Node;
use crate::ir::template::Template;
use crate::vocab::{Op, Sig, Type};

impl Builder<'_> {
    pub(super) fn slot_address(&mut self, register: u32) -> Node {
        let local = self.local();
        let offset = register as u64 * SLOT_BYTES;
        self.graph.add_normal(Op::ADDR, WORD, &[local], offset, self.at)
    }

    pub(super) fn local(&mut self) -> Node {
        let op = if self.source.call_entry.is_some() { Op::FRAME } else { Op::LOCAL };
        self.scratch.registers.local(self.graph, op)
    }

    pub(super) fn read(&mut self, register: u32, ty: Type) -> Node {
        let value = self.scratch.registers.read(register);
        let from = self.graph.node(value).ty();
        if from == ty {
            return value;
        }
        debug_assert_eq!(from, Type::I64, "a register used as several types is at home as an integer");
        self.bits_as(value, ty)
    }

    /// The low bits of a slot's content as a value of a type.
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
        let from = self.graph.node(bits).ty();
        if from == ty {
            return bits;
        }
        self.graph.add(Op::BITCAST, Sig { from, ty }, &[bits], 0, self.at)
    }

    pub(super) fn narrow(&mut self, value: Node, ty: Type) -> Node {
        let data = self.graph.node(value);
        if data.op == Op::UCAST && data.sig.from == ty {
            // The register was written as the type it is read as.
            return self.graph.inputs(value)[0];
        }
        self.graph.add(Op::UCAST, Sig { from: Type::I64, ty }, &[value], 0, self.at)
    }

    /// An integer of 32 bits or fewer with 32, zeros above its own.
    pub(super) fn as_i32(&mut self, value: Node) -> Node {
        let from = self.graph.node(value).ty();
        if from == Type::I32 {
            return value;
        }
        self.graph.add(Op::UCAST, Sig { from, ty: Type::I32 }, &[value], 0, self.at)
    }

    pub(super) fn write(&mut self, register: u32, value: Node) {
        let home = self.scratch.registers.home(register);
        let value = if home == self.graph.node(value).ty() { value } else { self.widen(value) };
        self.scratch.registers.write(register, value);
    }

    /// A value's bits with zeros above them.
    pub(super) fn widen(&mut self, value: Node) -> Node {
        let mut value = value;
        let ty = self.graph.node(value).ty();
        if ty.is_float() {
            let bits = if ty == Type::F32 { Type::I32 } else { Type::I64 };
            value = self.graph.add(Op::BITCAST, Sig { from: ty, ty: bits }, &[value], 0, self.at);
        }
        let from = self.graph.node(value).ty();
        if from == Type::I64 {
            return value;
        }
        self.graph.add(Op::UCAST, Sig { from, ty: Type::I64 }, &[value], 0, self.at)
    }

    /// Puts a register's value in its slot, unless it is there already because nothing was ever written.
    pub(super) fn flush(&mut self, register: u32) {
        let value = self.scratch.registers.read(register);
        if self.scratch.registers.is_initial(register, value) {
            return;
        }
        // The whole slot is written: what is above a narrow value is zero.
        let value = if self.graph.node(value).ty().bits() < 64 { self.widen(value) } else { value };
        let address = self.slot_address(register);
        let sig = Sig { from: self.graph.node(value).ty(), ty: Type::Void };
        self.graph.push(self.current, Op::STORE, sig, &[address, value], 0, self.at);
    }

    pub(super) fn flush_all(&mut self) {
        for index in 0..self.scratch.flushes.len() {
            let register = self.scratch.flushes[index];
            if !self.is_in_window(register) {
                self.flush(register);
            }
        }
    }

    /// Puts what is needed where the interpreter goes on in its slots, unless everything is there.
    pub(super) fn flush_needed(&mut self, to: usize) {
        if self.observed {
            return;
        }
        for index in 0..self.scratch.flushes.len() {
            let register = self.scratch.flushes[index];
            if self.scratch.alive.is_needed(register, to) && !self.is_in_window(register) {
                self.flush(register);
            }
        }
    }

    pub(super) fn reload(&mut self, register: u32) {
        let ty = self.scratch.registers.home(register);
        let address = self.slot_address(register);
        let sig = Sig { from: Type::Void, ty };
        let value = self.graph.push(self.current, Op::LOAD, sig, &[address], 0, self.at);
        self.scratch.registers.write(register, value);
    }

    pub(super) fn reload_all(&mut self) {
        for register in 0..self.source.slots {
            if self.scratch.registers.is_used(register) {
                self.reload(register);
            }
        }
    }

    /// The address of a run of registers, which are in their slots from here on.
    pub(super) fn window(&mut self, operand: u8) -> Node {
        let run = run_of(self.operand(operand));
        match self.operand_kind(operand) {
            OperandKind::RegsMut => self.hand_out(),
            _ => self.flush_run(run.clone()),
        }
        self.slot_address(run.start as u32)
    }

    /// Puts the registers of all runs that the template may write in their slots, where they are from here on. Only once:
    /// then others may write there.
    fn hand_out(&mut self) {
        if self.has_window || self.observed {
            return;
        }
        let count = self.source.opcodes[self.opcode()].operands.len() as u8;
        for operand in 0..count {
            if self.operand_kind(operand) == OperandKind::RegsMut {
                self.flush_run(run_of(self.operand(operand)));
            }
        }
        self.has_window = true;
    }

    /// Puts the registers of a run in their slots, but for those that are there.
    fn flush_run(&mut self, run: core::ops::Range<usize>) {
        for register in run {
            let register = register as u32;
            let is_there = self.observed || self.is_in_window(register);
            if !is_there && self.scratch.registers.is_elsewhere(register) {
                self.flush(register);
            }
        }
    }

    fn opcode(&self) -> usize {
        self.scratch.code.opcode(self.at as usize)
    }

    fn operand_kind(&self, operand: u8) -> OperandKind {
        self.source.opcodes[self.opcode()].operands[operand as usize].kind
    }

    /// Before a template that looks at registers on some ways only: on the others slots must have, too, what is loaded from
    /// them afterwards.
    pub(super) fn store_shared(&mut self, template: &Template, opcode: usize) {
        let operands = self.source.opcodes[opcode].operands;
        if template.observes() {
            self.observed = true;
            self.flush_all();
        } else if operands.iter().any(|info| info.kind == OperandKind::RegsMut) {
            self.hand_out();
        }
    }

    /// Whether a register is in a run whose address the template has handed out, for others to write there.
    pub(super) fn is_in_window(&self, register: u32) -> bool {
        if !self.has_window {
            return false;
        }
        let operands = self.source.opcodes[self.scratch.code.opcode(self.at as usize)].operands;
        operands.iter().enumerate().any(|(operand, info)| {
            let is_written = info.kind == OperandKind::RegsMut;
            is_written && run_of(self.operand(operand as u8)).contains(&(register as usize))
        })
    }

    /// After a template that handed out addresses of slots, the registers have what is there.
    pub(super) fn reload_observed(&mut self, opcode: usize) {
        if self.observed {
            self.reload_all();
            return;
        }
        if !self.has_window {
            return;
        }
        for (operand, info) in self.source.opcodes[opcode].operands.iter().enumerate() {
            if info.kind == OperandKind::RegsMut {
                for register in run_of(self.operand(operand as u8)) {
                    self.reload(register as u32);
                }
            }
        }
    }
}
