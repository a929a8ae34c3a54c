//! Exits that are not part of a template: at the heads of loops if the program can be stopped, at [guards](super::guard), and
//! anywhere with chaos.
//!
//! In: a cursor between two bytecodes. Out: the unchanged cursor, or one after a branch to a block that exits to the
//! interpreter. Between bytecodes all registers have values, so an exit there is always right. Chaos makes it depend on a
//! register's value, so that functions exit in the middle of loops, and while values are on the operand stack.

use super::cursor::Cursor;
use super::values::{Needs, ValueOperands};
use super::{FunctionScratch, Linkage, WORD};
use crate::ir::graph::Heat;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// One in this many boundaries between bytecodes has an exit.
const RARITY: usize = 24;

impl ValueOperands<'_> {
    /// Exits before the next bytecode if the program is to stop, or its fuel is used up.
    pub(super) fn poll(&mut self, cursor: &mut Cursor<'_>) {
        let Linkage { fuel, stop, .. } = self.source.functions;
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        if let Some(fuel) = fuel {
            let left = cursor.push(Op::SPEND, WORD, &[], fuel);
            let zero = cursor.constant(Type::I64, 0);
            let flag = cursor.add(Op::LT, sig, &[left, zero], 0);
            self.leave_if(cursor, flag, Needs::At(cursor.at as usize));
        }
        if let Some(stop) = stop {
            let word = cursor.push(Op::POLL, WORD, &[], stop);
            let flag = cursor.add(Op::NZ, sig, &[word], 0);
            self.leave_if(cursor, flag, Needs::At(cursor.at as usize));
        }
    }

    /// With chaos, may add an exit before the next bytecode.
    #[inline]
    pub(super) fn leave_by_chance(&mut self, cursor: &mut Cursor<'_>) {
        if !self.chaos.one_in(RARITY) {
            return;
        }
        let register = self.chaos.below(self.scratch.code.plan.slots() as usize) as u32;
        if !self.scratch.liveness.visible(&self.scratch.code, cursor.at as usize).contains(register as usize)
        {
            return;
        }
        let value = self.scratch.registers.read(register);
        let ty = cursor.ty(value);
        let (tested, op) = match ty {
            Type::I64 => {
                let bit = cursor.constant(ty, 1 << self.chaos.below(64));
                (cursor.add(Op::AND, WORD, &[value, bit], 0), Op::EQ)
            }
            _ => (value, Op::LT),
        };
        let zero = cursor.constant(ty, 0);
        let flag = cursor.add(op, Sig { from: ty, ty: Type::Flag }, &[tested, zero], 0);
        self.leave_if(cursor, flag, Needs::All);
    }

    /// Exits if a flag holds. The interpreter resumes at the current bytecode, and finds the registers that it needs in
    /// their slots.
    fn leave_if(&mut self, cursor: &mut Cursor<'_>, flag: Node, needs: Needs) {
        let (exit, rest) = (cursor.graph.add_block(), cursor.graph.add_block());
        cursor.branch(flag, exit, rest);
        self.split(cursor, exit, rest, needs, |operands, cursor| {
            operands.leave_at(cursor, cursor.at as u64, needs);
        });
    }

    /// Leaves unless a flag holds, by a cold block that `leave` fills and ends.
    pub(super) fn leave_unless(
        &mut self,
        cursor: &mut Cursor<'_>,
        flag: Node,
        needs: Needs,
        leave: impl FnOnce(&mut Self, &mut Cursor<'_>),
    ) {
        let (exit, rest) = (cursor.graph.add_block(), cursor.graph.add_block());
        cursor.branch(flag, rest, exit);
        self.split(cursor, exit, rest, needs, leave);
    }

    /// Continues behind a branch that leads to two new blocks: fills the cold one, and starts the other.
    fn split(
        &mut self,
        cursor: &mut Cursor<'_>,
        exit: Block,
        rest: Block,
        needs: Needs,
        leave: impl FnOnce(&mut Self, &mut Cursor<'_>),
    ) {
        cursor.graph.blocks[exit.at()].heat = Heat::Cold;
        self.carry(cursor, exit, needs);
        self.carry(cursor, rest, needs);
        self.start_split(cursor, exit, needs);
        leave(self, cursor);
        self.start_split(cursor, rest, needs);
    }

    pub(super) fn start_split(&mut self, cursor: &mut Cursor<'_>, block: Block, needs: Needs) {
        let FunctionScratch { code, liveness, registers, known_kinds, .. } = &mut *self.scratch;
        known_kinds.start(cursor.graph, block, false);
        let needed = match needs {
            Needs::At(at) => liveness.needed(at),
            Needs::Within => liveness.within(),
            Needs::All => liveness.visible(code, cursor.at as usize),
        };
        registers.start_block(cursor.graph, block, needed, cursor.at);
        cursor.block = block;
    }
}
