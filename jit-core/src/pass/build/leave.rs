//! Exits at bytecodes where no template asks for one, if chaos says so.
//!
//! In: a builder between two bytecodes. Out: the same, or behind a branch to a block that leaves for the interpreter. Every
//! boundary between bytecodes is a place where the frame may be seen, so leaving there is always right; whether a function does
//! depends on a register, so that it leaves in the middle of loops and of runs of bytecode that work on the operand stack.

use super::{Builder, Needs, Scratch, WORD};
use crate::ir::graph::Heat;
use crate::ir::index::Block;
use crate::vocab::{Op, Sig, Type};

/// One boundary in so many has an exit.
const RARITY: usize = 24;

impl Builder<'_> {
    /// Perhaps leaves before the bytecode that is linked next.
    pub(super) fn leave_by_chance(&mut self) {
        if !self.scratch.chaos.one_in(RARITY) {
            return;
        }
        let register = self.scratch.chaos.below(self.source.slots as usize) as u32;
        if !self.scratch.registers.is_used(register) {
            return;
        }
        let value = self.scratch.registers.read(register);
        let ty = self.graph.node(value).ty();
        let (tested, op) = match ty {
            Type::I64 => {
                let bit = self.graph.constant(ty, 1 << self.scratch.chaos.below(64), self.at);
                (self.graph.add(Op::AND, WORD, &[value, bit], 0, self.at), Op::EQ)
            }
            _ => (value, Op::LT),
        };
        let zero = self.graph.constant(ty, 0, self.at);
        let flag = self.graph.add(op, Sig { from: ty, ty: Type::Flag }, &[tested, zero], 0, self.at);
        let (out, on) = (self.graph.add_block(), self.graph.add_block());
        self.graph.end(self.current, Op::BR, Type::Void, &[flag], 0, &[out, on], self.at);
        self.graph.blocks[out.at()].heat = Heat::Cold;
        self.arrive(out, Needs::All);
        self.arrive(on, Needs::All);
        self.enter_split(out);
        self.flush_all();
        self.exit(self.at as u64);
        self.enter_split(on);
    }

    fn enter_split(&mut self, block: Block) {
        let Scratch { alive, registers, .. } = &mut *self.scratch;
        registers.start(self.graph, block, alive.used(), self.at);
        self.current = block;
    }
}
