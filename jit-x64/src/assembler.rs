//! The instructions that no tile emits, for what `azulejo-code` writes once for all machines: ways in and out of functions.

use crate::abi::BYTECODE;
use crate::emit::{Cond, Emitter, distance, jcc};
use crate::encode::{Alu, Immediate, Mem, Shift, field};
use crate::glue::{PUSHED, store_state};
use crate::jump::Jump;
use crate::opcode::opcode;
use crate::regs::*;
use azulejo_code::Field;
use azulejo_code::call::Host;
use azulejo_code::emit::Goal;
use azulejo_code::emit::assembler::{Assembler, CallRegisters, Target, Test};
use azulejo_code::exit::Records;
use azulejo_core::ir::index::Block;
use azulejo_core::target::Reg;
use azulejo_core::vocab::Type;
use dynasmrt::{DynasmApi, dynasm};

impl Assembler for Emitter {
    const REGISTERS: CallRegisters = CallRegisters {
        results: [RAX, RDX],
        cell: RSI,
        context: BYTECODE.int_args[0],
        count: RAX,
        count_in_memory: RCX,
        entered_with: [RDI, RSI, RDX],
        resume: [RDI, RSI, RDX, RCX, R8],
        noted: RSI,
        left: RDI,
        host: R11,
        temp: R11,
        kept: [R12, RBX, KEPT_CU],
        pinned: &PINNED,
        interpreted: INTERPRETED,
    };

    fn copy_register(&mut self, to: Reg, from: Reg) {
        self.mov(to.number(), from.number());
    }

    fn set_register(&mut self, to: Reg, bits: u64) {
        self.mov_imm(to.number(), bits);
    }

    fn clear_register(&mut self, to: Reg) {
        self.alu(Alu::Xor, Type::I32, to.number(), to.number());
    }

    fn set_later(&mut self, to: Reg) -> Vec<(usize, Field)> {
        self.mov_imm(to.number(), u64::MAX >> 1);
        vec![(self.here() - 8, Field::LONG)]
    }

    fn load_word(&mut self, to: Reg, base: Reg, offset: i64) {
        self.load(Type::I64, to.number(), Mem::at(base.number(), offset));
    }

    fn store_word(&mut self, base: Reg, offset: i64, from: Option<Reg>) {
        let place = Mem::at(base.number(), offset);
        match from {
            Some(from) => self.store(Type::I64, place, from.number()),
            None => self.store(Type::I64, place, Immediate(0)),
        }
    }

    fn address(&mut self, to: Reg, base: Reg, offset: i64) {
        self.lea(true, to.number(), Mem::at(base.number(), offset));
    }

    fn jump_at(&mut self, target: Target) {
        match target {
            Target::Caller => dynasm!(self; .arch x64; ret),
            Target::Address(address) if self.reaches(address) => {
                opcode!(jmp DWORD 0).write_plain(self);
                field(self, Goal::Address(address));
            }
            Target::Address(address) => {
                self.set_register(R11, address);
                self.jmp_to(R11.number());
            }
            Target::Register(reg) => self.jmp_to(reg.number()),
            Target::Word(base, offset) => self.jmp_to(Mem::at(base.number(), offset)),
        }
    }

    fn call_at(&mut self, target: Target) {
        match target {
            Target::Address(address) => self.call_address(address, RAX.number()),
            Target::Register(reg) => self.call(reg.number()),
            Target::Word(base, offset) => self.call(Mem::at(base.number(), offset)),
            Target::Caller => unreachable!("a call does not return"),
        }
    }

    fn jump_to(&mut self, goal: Goal) {
        opcode!(jmp DWORD 0).write_plain(self);
        match goal {
            Goal::Block(block) => distance(self, block, Jump::Jump),
            _ => field(self, goal),
        }
    }

    fn branch_to(&mut self, test: Test, to: Block) {
        match self.test(test) {
            Some(condition) => jcc(self, condition, to),
            None => self.jump_to(Goal::Block(to)),
        }
    }

    fn skip_if(&mut self, test: Test) -> usize {
        let condition = self.test(test);
        self.skip(condition)
    }

    fn back_if(&mut self, test: Test, to: usize) {
        let condition = self.test(test);
        self.skip_back(condition, to);
    }

    fn land_skip(&mut self, from: usize) {
        self.land(from);
    }

    fn leave_noting(&mut self, record: u32, to: Block) {
        dynasm!(self; .arch x64; push DWORD record as i32);
        self.jump_to(Goal::Block(to));
    }

    #[allow(clippy::useless_conversion, reason = "dynasm converts the numbers of registers")]
    fn store_state(&mut self, records: *const Records) {
        let rax = RAX.number();
        // Between the pushes and the end of the call, the stack pointer is lower than the frame says. Only the stub runs then, and its
        // unwind information makes up for it.
        dynasm!(self; .arch x64; push Rq(rax));
        self.set_register(RAX, records.addr() as u64);
        dynasm!(self; .arch x64; push Rq(rax));
        self.call_address(store_state as *const u8 as u64, rax);
        self.address(RSP, RSP, PUSHED as i64);
    }
}

impl Emitter {
    /// Sets the flags for a test; returns the condition that then says whether it holds. Some tests overwrite `rcx` or `r11`.
    #[allow(clippy::useless_conversion, reason = "dynasm converts the numbers of registers")]
    fn test(&mut self, test: Test) -> Option<Cond> {
        let [rax, rcx, rsp, r11] = [RAX, RCX, RSP, R11].map(Reg::number);
        let condition = match test {
            Test::Always => return None,
            Test::IsZero(ty, reg) => {
                self.alu(Alu::Test, ty, reg.number(), reg.number());
                Cond::E
            }
            Test::IsNotZero(ty, reg) => {
                self.alu(Alu::Test, ty, reg.number(), reg.number());
                Cond::Ne
            }
            Test::Differs(reg, number) => {
                self.alu(Alu::Cmp, Type::I32, reg.number(), Immediate(number as i64));
                Cond::Ne
            }
            Test::Exceeds(reg, number) => {
                self.alu(Alu::Cmp, Type::I32, reg.number(), Immediate(number as i64));
                Cond::A
            }
            Test::HasOtherStatus(status) => {
                self.mov_imm(rcx, status);
                self.alu(Alu::Cmp, Type::I64, rax, rcx);
                Cond::Ne
            }
            Test::HasReason(reason) => {
                self.mov(rcx, rax);
                self.shift(Shift::Shr, Type::I64, rcx, Immediate(32));
                self.alu(Alu::Cmp, Type::I32, rcx, Immediate(reason as i64));
                Cond::E
            }
            Test::LacksBit(reg, bit) => {
                dynasm!(self; .arch x64; bt Rq(reg.number()), BYTE bit.trailing_zeros() as i8);
                Cond::Ae
            }
            Test::IsUsedUp(budget) => {
                self.mov_imm(r11, budget.addr() as u64);
                self.alu(Alu::Sub, Type::I32, Mem::at(r11, 0), Immediate(1));
                Cond::S
            }
            Test::IsDeep { host, room } => {
                self.mov_imm(r11, host);
                let lowest = Mem::at(r11, Host::LOWEST as i64);
                match room {
                    0 => self.alu(Alu::Cmp, Type::I64, rsp, lowest),
                    _ => {
                        self.load(Type::I64, r11, lowest);
                        self.alu(Alu::Add, Type::I64, r11, Immediate(room as i64));
                        self.alu(Alu::Cmp, Type::I64, rsp, r11);
                    }
                }
                Cond::B
            }
        };
        Some(condition)
    }
}
