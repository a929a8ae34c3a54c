//! The slots of an adapter's frame: the arguments are copied into some, and others are cleared.
//!
//! In: where the slots are, the numbers of arguments that the adapter takes, and the slots that the function may read before it
//! writes them. Out: code that fills them, in a loop where they are many. In `rax` is the number of arguments, which are in
//! registers and on the stack, or [`IN_MEMORY`](azulejo_code::emit::admit::IN_MEMORY); then their address is in `rdx`.

use crate::abi::{BYTECODE, REGISTER_ARGUMENTS};
use crate::emit::{Cond, Emitter};
use crate::encode::{Alu, Immediate, Mem};
use crate::regs::*;
use azulejo_code::call::Accepts;
use azulejo_core::target::Reg;
use azulejo_core::vocab::Type;
use core::ops::Range;
use dynasmrt::dynasm;

/// Up to this many slots are cleared by one store each, more by a `rep stosq`.
const FEW: usize = 12;
/// As [`FEW`], for an adapter that takes any number of arguments.
const FEW_BESIDE_ARGUMENTS: usize = 24;
/// Up to this many arguments are copied one by one, so that a short jump reaches across the copies.
const FEW_ARGUMENTS: usize = 8;

/// The slots of VM registers in a frame.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    /// The offset of the first one from `rsp`.
    pub(crate) first: u32,
}

impl Slots {
    fn at(self, slot: u32) -> Mem {
        Mem::at(RSP.number(), self.first as i64 + slot as i64 * 8)
    }

    /// Copies the arguments, from registers, stack or memory, into the slots, and clears others; returns whether `rdi` was
    /// changed.
    pub(crate) fn fill(self, cx: &mut Emitter, accepts: Accepts, zeros: &[u32]) -> bool {
        match accepts {
            Accepts::Exactly(arguments) => {
                self.take_arguments(cx, arguments);
                self.clear(cx, zeros);
                arguments as usize > FEW_ARGUMENTS || zeros.len() > FEW
            }
            Accepts::UpTo(most) => {
                self.clear_beside_arguments(cx, zeros);
                self.take_any_number(cx, most);
                true
            }
        }
    }

    /// Clears slots while the argument registers are live. Moves the number of arguments to `rsi`.
    fn clear_beside_arguments(self, cx: &mut Emitter, slots: &[u32]) {
        let [rax, rcx, rsi, rdi, r11] = [RAX, RCX, RSI, RDI, R11].map(Reg::number);
        cx.mov(rsi, rax);
        let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return };
        if slots.len() <= FEW_BESIDE_ARGUMENTS {
            cx.mov_imm(r11, 0);
            return slots.iter().for_each(|at| cx.store(Type::I64, self.at(*at), r11));
        }
        cx.mov(r11, rcx);
        cx.mov_imm(rax, 0);
        cx.mov_imm(rcx, (last - first) as u64 + 1);
        cx.lea(true, rdi, self.at(*first));
        dynasm!(cx; .arch x64; rep stosq);
        cx.mov(rcx, r11);
    }

    /// Copies as many arguments as `rsi` says. Clobbers all argument registers.
    fn take_any_number(self, cx: &mut Emitter, most: u32) {
        let [rax, rcx, rsi, rsp] = [RAX, RCX, RSI, RSP].map(Reg::number);
        let mut are_all_taken = Vec::new();
        for (at, reg) in (0..most).zip(&BYTECODE.int_args[1..]) {
            cx.alu(Alu::Cmp, Type::I32, rsi, Immediate(at as i64));
            are_all_taken.push(cx.skip(Cond::E));
            cx.store(Type::I64, self.at(at), reg.number());
        }
        if most as usize > REGISTER_ARGUMENTS {
            cx.mov(rcx, rsi);
            cx.alu(Alu::Sub, Type::I64, rcx, Immediate(REGISTER_ARGUMENTS as i64));
            are_all_taken.push(cx.skip(Cond::E));
            let again = cx.here();
            let word = |place: Mem| Mem { index: Some((rcx, 3)), disp: place.disp - 8, ..place };
            cx.load(Type::I64, rax, word(Mem::at(rsp, cx.frame.size() as i64)));
            cx.store(Type::I64, word(self.at(REGISTER_ARGUMENTS as u32)), rax);
            cx.alu(Alu::Sub, Type::I64, rcx, Immediate(1));
            cx.skip_back(Cond::Ne, again);
        }
        are_all_taken.into_iter().for_each(|from| cx.land(from));
    }

    fn take_arguments(self, cx: &mut Emitter, arguments: u32) {
        if arguments == 0 {
            return;
        }
        let [rax, rdx, rsi, rsp] = [RAX, RDX, RSI, RSP].map(Reg::number);
        cx.alu(Alu::Test, Type::I32, rax, rax);
        let is_in_registers = cx.skip(Cond::Ne);
        match arguments as usize {
            0..=FEW_ARGUMENTS => self.copy(cx, Mem::at(rdx, 0), 0..arguments),
            _ => {
                cx.mov(rsi, rdx);
                self.copy_many(cx, 0..arguments);
            }
        }
        let are_taken = cx.skip(None);
        cx.land(is_in_registers);
        for (at, reg) in (0..arguments).zip(&BYTECODE.int_args[1..]) {
            cx.store(Type::I64, self.at(at), reg.number());
        }
        let passed = cx.frame.size() as i64 - REGISTER_ARGUMENTS as i64 * 8;
        match arguments as usize {
            0..=REGISTER_ARGUMENTS => {}
            _ if arguments as usize <= FEW_ARGUMENTS => {
                self.copy(cx, Mem::at(rsp, passed), REGISTER_ARGUMENTS as u32..arguments)
            }
            _ => {
                cx.lea(true, rsi, Mem::at(rsp, passed + REGISTER_ARGUMENTS as i64 * 8));
                self.copy_many(cx, REGISTER_ARGUMENTS as u32..arguments);
            }
        }
        cx.land(are_taken);
    }

    /// Copies words to slots; `start` is the place of slot 0 in the source.
    fn copy(self, cx: &mut Emitter, start: Mem, slots: Range<u32>) {
        for at in slots {
            cx.load(Type::I64, RAX.number(), Mem { disp: start.disp + at as i32 * 8, ..start });
            cx.store(Type::I64, self.at(at), RAX.number());
        }
    }

    /// Copies words from the address in `rsi` to slots. Clobbers `rcx` and `rdi`.
    fn copy_many(self, cx: &mut Emitter, slots: Range<u32>) {
        cx.mov_imm(RCX.number(), slots.len() as u64);
        cx.lea(true, RDI.number(), self.at(slots.start));
        dynasm!(cx; .arch x64; rep movsq);
    }

    /// Clears slots, and possibly others between them. Clobbers `rcx` and `rdi` if there are many.
    fn clear(self, cx: &mut Emitter, slots: &[u32]) {
        let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return };
        cx.mov_imm(RAX.number(), 0);
        if slots.len() <= FEW {
            return slots.iter().for_each(|at| cx.store(Type::I64, self.at(*at), RAX.number()));
        }
        cx.mov_imm(RCX.number(), (last - first) as u64 + 1);
        cx.lea(true, RDI.number(), self.at(*first));
        dynasm!(cx; .arch x64; rep stosq);
    }
}
