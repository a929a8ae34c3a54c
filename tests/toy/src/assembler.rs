//! The instructions that no tile emits: the crate `azulejo-code` writes calls, adapters and ways out of functions with them.
//!
//! | register | holds in a call between functions of bytecode |
//! | --- | --- |
//! | `x1` | the callee's cell |
//! | `x0` | the context |
//! | `x2` | the number of arguments |
//! | `x3` `x4` | the first two arguments; the others are on the stack |
//!
//! A call returns the bits of the result in `x0` and zero in `x1`, or a trap's code in `x1`. A call whose arguments are in
//! memory passes their address in `x3` and their number in `x4`.

use crate::emit::Emitter;
use crate::instruction::{Code, Distance, IMMEDIATES, Word};
use crate::regs::*;
use crate::stubs::Stub;
use azulejo_code::Field;
use azulejo_code::call::{Accepts, Host};
use azulejo_code::emit::assembler::{Assembler, CallRegisters, Target, Test};
use azulejo_code::emit::{DistanceForm, Goal};
use azulejo_code::exit::Records;
use azulejo_core::ir::index::Block;
use azulejo_core::target::Reg;
use azulejo_core::vocab::{Op, Sig, Type};

impl Assembler for Emitter {
    const REGISTERS: CallRegisters = CallRegisters {
        results: [X0, X1],
        cell: X1,
        context: X0,
        count: X2,
        count_in_memory: X4,
        entered_with: [X0, X1, X2],
        resume: [X0, X1, X2, X3, X4],
        noted: X2,
        left: X2,
        host: FLAG,
        temp: TEMP,
        kept: KEPT,
        pinned: &PINNED,
        interpreted: INTERPRETED,
    };

    fn copy_register(&mut self, to: Reg, from: Reg) {
        self.transfer(to.class(), to.number(), from.number());
    }

    fn set_register(&mut self, to: Reg, bits: u64) {
        self.constant(to.number(), bits);
    }

    fn clear_register(&mut self, to: Reg) {
        self.set_register(to, 0);
    }

    fn set_later(&mut self, to: Reg) -> Vec<(usize, Field)> {
        let start = self.here();
        self.set_register(to, u64::MAX >> 1);
        let [parts @ .., _, top] = IMMEDIATES;
        parts.into_iter().chain([top]).enumerate().map(|(at, field)| (start + at * 4, field)).collect()
    }

    fn load_word(&mut self, to: Reg, base: Reg, offset: i64) {
        self.load(Type::I64, to.number(), base.number(), offset);
    }

    fn store_word(&mut self, base: Reg, offset: i64, from: Option<Reg>) {
        let from = from.unwrap_or_else(|| {
            self.set_register(FLAG, 0);
            FLAG
        });
        self.store(Type::I64, base.number(), offset, from.number());
    }

    fn address(&mut self, to: Reg, base: Reg, offset: i64) {
        self.add(to.number(), base.number(), offset);
    }

    fn jump_at(&mut self, target: Target) {
        match self.register(target) {
            Some(reg) => self.registers(Code::JumpTo, [reg.number(), 0, 0]),
            None => self.registers(Code::Return, [0; 3]),
        }
    }

    fn call_at(&mut self, target: Target) {
        let reg = self.register(target).expect("a call returns to its caller");
        self.registers(Code::Call, [reg.number(), 0, 0]);
    }

    fn jump_to(&mut self, goal: Goal) {
        match goal {
            Goal::Block(block) => self.fixup_block(block, Distance::Far),
            _ => self.fixup(goal, Distance::Far),
        }
        self.registers(Code::Jump, [0; 3]);
    }

    fn branch_to(&mut self, test: Test, to: Block) {
        let (code, register) = self.test(test);
        self.jump_on(code, register, to);
    }

    fn skip_if(&mut self, test: Test) -> usize {
        let (code, register) = self.test(test);
        let start = self.here();
        self.registers(code, [register.number(), 0, 0]);
        start
    }

    fn back_if(&mut self, test: Test, to: usize) {
        let start = self.skip_if(test);
        Distance::Near.field().write(&mut self.bytes[start..], to as i64 - start as i64);
    }

    fn land_skip(&mut self, from: usize) {
        let here = self.here();
        Distance::Near.field().write(&mut self.bytes[from..here], (here - from) as i64);
    }

    fn leave_noting(&mut self, record: u32, to: Block) {
        self.set_register(FLAG, record as u64);
        self.jump_to(Goal::Block(to));
    }

    fn store_state(&mut self, records: *const Records) {
        self.set_register(TEMP, records.addr() as u64);
        self.word(Word::of(Code::Stub, [0; 3]).with(Stub::StoreState as i64));
    }
}

impl Emitter {
    /// The register that holds a target's address, unless the target is the caller.
    fn register(&mut self, target: Target) -> Option<Reg> {
        match target {
            Target::Register(reg) => return Some(reg),
            Target::Word(base, offset) => self.load_word(TEMP, base, offset),
            Target::Address(address) => self.set_register(TEMP, address),
            Target::Caller => return None,
        }
        Some(TEMP)
    }

    fn compare(&mut self, op: Op, ty: Type, first: Reg, second: Reg) {
        let sig = Sig { from: ty, ty: Type::Flag };
        self.operate(op, sig, FLAG.number(), [first.number(), second.number()]);
    }

    /// Tests a condition; returns the jump to be taken if it holds, and the register that the jump looks at.
    fn test(&mut self, test: Test) -> (Code, Reg) {
        match test {
            Test::Always => self.set_register(FLAG, 1),
            Test::IsZero(ty, reg) => self.compare(Op::ZR, ty, reg, X0),
            Test::IsNotZero(ty, reg) => self.compare(Op::NZ, ty, reg, X0),
            Test::Differs(reg, number) => {
                self.set_register(TEMP, number as u64);
                self.compare(Op::NE, Type::I32, reg, TEMP);
            }
            Test::Exceeds(reg, number) => {
                self.set_register(TEMP, number as u64);
                self.compare(Op::UGT, Type::I32, reg, TEMP);
            }
            Test::HasOtherStatus(status) => {
                self.set_register(TEMP, status);
                self.compare(Op::NE, Type::I64, X0, TEMP);
            }
            Test::HasReason(reason) => {
                self.set_register(TEMP, 32);
                self.operate_wide(Op::SHR, TEMP, X0, TEMP);
                self.set_register(FLAG, reason as u64);
                self.compare(Op::EQ, Type::I64, TEMP, FLAG);
            }
            Test::LacksBit(reg, bit) => {
                self.set_register(TEMP, bit);
                self.operate_wide(Op::AND, TEMP, reg, TEMP);
                return (Code::JumpUnless, TEMP);
            }
            Test::IsUsedUp(budget) => {
                let (flag, temp) = (FLAG.number(), TEMP.number());
                self.set_register(FLAG, budget.addr() as u64);
                self.load(Type::I32, temp, flag, 0);
                self.add(temp, temp, -1);
                self.store(Type::I32, flag, 0, temp);
                self.set_register(FLAG, 0);
                self.compare(Op::LT, Type::I32, TEMP, FLAG);
            }
            Test::IsDeep { host, room } => {
                self.set_register(TEMP, host);
                self.load_word(TEMP, TEMP, Host::LOWEST as i64);
                self.set_register(FLAG, room as u64);
                self.operate_wide(Op::ADD, TEMP, TEMP, FLAG);
                self.compare(Op::ULT, Type::I64, SP, TEMP);
            }
        }
        (Code::JumpIf, FLAG)
    }

    /// Copies the arguments, from registers, stack or memory, into the slots that start at this offset, and clears the others.
    pub(crate) fn fill(&mut self, start: u32, accepts: Accepts, cleared: &[u32]) {
        let slot = |at: u32| start as i64 + at as i64 * 8;
        self.set_register(FLAG, 0);
        for at in cleared {
            self.store_word(SP, slot(*at), Some(FLAG));
        }
        let take = |cx: &mut Emitter, at: u32| match ARGUMENTS.get(at as usize) {
            Some(reg) => cx.store_word(SP, slot(at), Some(*reg)),
            None => {
                let passed = cx.argument_at((at as i64 - ARGUMENTS.len() as i64) * 8);
                cx.load_word(FLAG, SP, passed);
                cx.store_word(SP, slot(at), Some(FLAG));
            }
        };
        match accepts {
            Accepts::Exactly(0) => {}
            Accepts::Exactly(arguments) => {
                let is_in_registers = self.skip_if(Test::IsNotZero(Type::I32, X2));
                for at in 0..arguments {
                    self.load_word(FLAG, X3, at as i64 * 8);
                    self.store_word(SP, slot(at), Some(FLAG));
                }
                let are_taken = self.skip_if(Test::Always);
                self.land_skip(is_in_registers);
                (0..arguments).for_each(|at| take(self, at));
                self.land_skip(are_taken);
            }
            Accepts::UpTo(most) => {
                let mut are_missing = Vec::new();
                for at in 0..most {
                    self.set_register(TEMP, at as u64);
                    self.compare(Op::EQ, Type::I64, X2, TEMP);
                    are_missing.push(self.here());
                    self.registers(Code::JumpIf, [FLAG.number(), 0, 0]);
                    take(self, at);
                }
                are_missing.into_iter().for_each(|from| self.land_skip(from));
            }
        }
    }
}
