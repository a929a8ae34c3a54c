//! Exits at bytecodes where no template asks for one: at the heads of loops if the program may be stopped, and anywhere if
//! chaos says so.
//!
//! In: a builder between two bytecodes. Out: the same, or behind a branch to a block that leaves for the interpreter. Every
//! boundary between bytecodes is a place where the frame may be seen, so leaving there is always right. Chaos has it
//! depend on a register, so that a function leaves in the middle of loops and of runs of bytecode that work on the operand stack.

use super::{Builder, Functions, Needs, Scratch, WORD};
use crate::ir::graph::Heat;
use crate::ir::index::{Block, Node};
use crate::vocab::{Op, Sig, Type};

/// One boundary in so many has an exit.
const RARITY: usize = 24;

impl Builder<'_> {
    /// Leaves before the bytecode that is linked next if the program is to stop, or its fuel is used up.
    pub(super) fn poll(&mut self) {
        let Functions { fuel, stop, .. } = self.source.functions;
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        if let Some(fuel) = fuel {
            let left = self.graph.push(self.current, Op::SPEND, WORD, &[], fuel, self.at);
            let zero = self.graph.constant(Type::I64, 0, self.at);
            let flag = self.graph.add(Op::LT, sig, &[left, zero], 0, self.at);
            self.leave_if(flag, Needs::At(self.at as usize));
        }
        if let Some(stop) = stop {
            let word = self.graph.push(self.current, Op::POLL, WORD, &[], stop, self.at);
            let flag = self.graph.add(Op::NZ, sig, &[word], 0, self.at);
            self.leave_if(flag, Needs::At(self.at as usize));
        }
    }

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
        self.leave_if(flag, Needs::All);
    }

    /// Leaves here if a flag holds. Who goes on here finds in its slots what is needed here.
    fn leave_if(&mut self, flag: Node, needs: Needs) {
        let (out, on) = (self.graph.add_block(), self.graph.add_block());
        self.graph.end(self.current, Op::BR, Type::Void, &[flag], 0, &[out, on], self.at);
        self.graph.blocks[out.at()].heat = Heat::Cold;
        self.arrive(out, needs);
        self.arrive(on, needs);
        self.enter_split(out, needs);
        match needs {
            Needs::At(at) => self.flush_needed(at),
            _ => self.flush_all(),
        }
        self.exit(self.at as u64);
        self.enter_split(on, needs);
    }

    fn enter_split(&mut self, block: Block, needs: Needs) {
        let Scratch { alive, registers, .. } = &mut *self.scratch;
        let needed = match needs {
            Needs::At(at) => alive.needed(at),
            _ => alive.used(),
        };
        registers.start(self.graph, block, needed, self.at);
        self.current = block;
    }
}
