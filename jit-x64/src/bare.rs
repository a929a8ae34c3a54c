//! Code that comes from no tile list.
//!
//! In: a frame, and what is emitted by hand. Out: linked code. This is what stands around stencils, and adapters; everything
//! else is made of tiles.

use crate::emit::{Cond, Emitter, Options};
use crate::encode::{Alu, Imm, Mem, Shift};
use crate::frame::Frame;
use crate::regs;
use azulejo_code::Field;
use azulejo_code::call::{CallCell, Host};
use azulejo_code::emit::{Backend, BaselineFrame, Buffer, CONTEXT, SLOTS, by_hand};
use azulejo_core::ir::status::Left;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::Type;

/// The code around stencils that use these registers and so much of the stack.
pub(crate) fn baseline_frame(
    saved: RegSet,
    room: u32,
    keeps_unit: bool,
    options: &Options,
) -> BaselineFrame<Emitter> {
    let unit = if keeps_unit { RegSet::of(&[regs::KEPT_CU]) } else { RegSet::EMPTY };
    let used = saved.union(RegSet::of(&[regs::R12, regs::RBX])).union(unit);
    let frame = Frame::new(used, room + SLOTS, true, options.frame_pointers).open();
    let mut emitter: Emitter = by_hand(options, frame);
    emitter.make_frame();
    let make_at = emitter.here() - emitter.frame.room_len() as usize;
    let cell = Mem::at(regs::RSP.number(), room as i64);
    let [context, slots, to] = [regs::RDI, regs::RSI, regs::RDX].map(Reg::number);
    emitter.store(Type::I64, cell, Imm(0));
    emitter.mov(regs::R12.number(), context);
    emitter.mov(regs::RBX.number(), slots);
    let mut unit_at = Vec::new();
    if keeps_unit {
        emitter.mov_imm(regs::KEPT_CU.number(), u64::MAX >> 1);
        unit_at.push((emitter.here() - 8, Field::LONG));
    }
    emitter.jmp_to(to);
    let prologue = core::mem::take(&mut emitter.bytes);
    emitter.turn();
    if options.backtraces {
        emitter.note(cell);
    }
    emitter.leave();
    let left = emitter.here();
    emitter.resume(room as i64);
    debug_assert!(emitter.fixups.is_empty(), "it is put anywhere as it is");
    let leaves = emitter.leaves[..].try_into().expect("that often the frame is taken back");
    let Buffer { frame, bytes: epilogue, .. } = emitter.into_buffer();
    BaselineFrame { frame, room, saved, prologue, make_at, unit_at, epilogue, left, leaves }
}

impl Emitter {
    /// Puts a status and a value the way round that calls between functions of bytecode have them.
    pub(crate) fn turn(&mut self) {
        self.bytes(&[0x48, 0x92]); // xchg rax, rdx
    }

    /// Has it noted if baseline code fails that runs in its own frame, that of the function with the call cell there. Otherwise
    /// who entered it is told.
    fn note(&mut self, cell: Mem) {
        let [rdx, rsi, r11] = [regs::RDX, regs::RSI, regs::R11].map(Reg::number);
        self.alu(Alu::Test, Type::I32, rdx, rdx);
        let has_not_failed = self.skip(Cond::E);
        self.load(Type::I64, rsi, cell);
        self.alu(Alu::Test, Type::I64, rsi, rsi);
        let is_not_own = self.skip(Cond::E);
        self.load(Type::I64, r11, Mem::at(rsi, CallCell::HOST as i64));
        self.call(Mem::at(r11, Host::NOTE_STUB as i64));
        self.land(has_not_failed);
        self.land(is_not_own);
    }

    /// Baseline code is left before its end, by an exit or by a function that takes its place. If it runs in its own frame,
    /// that of the function with the call cell there, someone goes on in its place; otherwise who entered it does.
    fn resume(&mut self, cell: i64) {
        let [rax, rcx, rdx, rsp] = [regs::RAX, regs::RCX, regs::RDX, regs::RSP].map(Reg::number);
        let [rsi, rdi, r8, r11] = [regs::RSI, regs::RDI, regs::R8, regs::R11].map(Reg::number);
        let place = |at: u32| Mem::at(rsp, cell + at as i64);
        self.load(Type::I64, rdi, place(0));
        self.alu(Alu::Test, Type::I64, rdi, rdi);
        let is_own = self.skip(Cond::Ne);
        self.turn();
        self.leave();
        self.land(is_own);
        self.mov(rcx, rax);
        self.shift(Shift::Shr, Type::I64, rcx, Imm(32));
        self.alu(Alu::Cmp, Type::I32, rcx, Imm(Left::Tailed as i64));
        let is_followed = self.skip(Cond::E);
        self.mov(r8, rdx);
        self.mov(rcx, rax);
        self.lea(true, rdx, place(SLOTS));
        self.load(Type::I64, rsi, place(CONTEXT));
        self.load(Type::I64, r11, Mem::at(rdi, CallCell::HOST as i64));
        self.call(Mem::at(r11, Host::RESUME as i64));
        self.load(Type::I64, rdi, place(0));
        let has_ended = self.skip_unless_tail_call();
        self.land(is_followed);
        self.load(Type::I64, r11, Mem::at(rdi, CallCell::HOST as i64));
        self.enter_next_of_host();
        self.land(has_ended);
        self.leave();
    }
}
