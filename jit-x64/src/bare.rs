//! Code that comes from no tile list.
//!
//! In: a frame, and code that is emitted by hand. Out: linked code, namely the code around stencils, and adapters. All other
//! code is made of tiles.

use crate::emit::{Cond, Emitter, Options};
use crate::encode::{Alu, Immediate, Mem, Shift};
use crate::frame::{Frame, leave, make_frame};
use crate::invoke::{enter_next_of_host, skip_unless_tail_call};
use crate::regs;
use azulejo_code::Field;
use azulejo_code::call::{CallCell, Host};
use azulejo_code::emit::{Backend, BaselineFrame, Buffer, CONTEXT, SLOTS, by_hand};
use azulejo_core::ir::status::Left;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::Type;
use dynasmrt::dynasm;

/// The code around stencils that use these registers and `room` bytes of the stack.
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
    make_frame(&mut emitter);
    let make_at = emitter.here() - emitter.frame.room_len() as usize;
    let cell = Mem::at(regs::RSP.number(), room as i64);
    let [context, slots, to] = [regs::RDI, regs::RSI, regs::RDX].map(Reg::number);
    emitter.store(Type::I64, cell, Immediate(0));
    emitter.mov(regs::R12.number(), context);
    emitter.mov(regs::RBX.number(), slots);
    let mut unit_at = Vec::new();
    if keeps_unit {
        emitter.mov_imm(regs::KEPT_CU.number(), u64::MAX >> 1);
        unit_at.push((emitter.here() - 8, Field::LONG));
    }
    emitter.jmp_to(to);
    let prologue = core::mem::take(&mut emitter.bytes);
    turn(&mut emitter);
    if options.backtraces {
        note_failure(&mut emitter, cell);
    }
    leave(&mut emitter);
    let left = emitter.here();
    resume(&mut emitter, room as i64);
    debug_assert!(emitter.fixups.is_empty(), "it is put anywhere as it is");
    let leaves = emitter.leaves[..].try_into().expect("that often the frame is taken back");
    let Buffer { frame, bytes: epilogue, .. } = emitter.into_buffer();
    BaselineFrame { frame, room, saved, prologue, make_at, unit_at, epilogue, left, leaves }
}

/// Swaps status and value, which calls between functions of bytecode have in the other order.
pub(crate) fn turn(cx: &mut Emitter) {
    dynasm!(cx; .arch x64; xchg rax, rdx);
}

/// Notes a failure of baseline code that runs in its own frame, which has the function's call cell at `cell`. Otherwise the
/// caller gets the status.
fn note_failure(cx: &mut Emitter, cell: Mem) {
    let [rdx, rsi, r11] = [regs::RDX, regs::RSI, regs::R11].map(Reg::number);
    cx.alu(Alu::Test, Type::I32, rdx, rdx);
    let has_not_failed = cx.skip(Cond::E);
    cx.load(Type::I64, rsi, cell);
    cx.alu(Alu::Test, Type::I64, rsi, rsi);
    let is_not_own = cx.skip(Cond::E);
    cx.load(Type::I64, r11, Mem::at(rsi, CallCell::HOST as i64));
    cx.call(Mem::at(r11, Host::NOTE_STUB as i64));
    cx.land(has_not_failed);
    cx.land(is_not_own);
}

/// Emits the exit before the function's end, for an exit or a tail call. If the code runs in its own frame, which has the
/// function's call cell at `cell`, the host resumes it, or the pending tail call's function is entered; otherwise the status is
/// returned to the caller.
fn resume(cx: &mut Emitter, cell: i64) {
    let [rax, rcx, rdx, rsp] = [regs::RAX, regs::RCX, regs::RDX, regs::RSP].map(Reg::number);
    let [rsi, rdi, r8, r11] = [regs::RSI, regs::RDI, regs::R8, regs::R11].map(Reg::number);
    let place = |at: u32| Mem::at(rsp, cell + at as i64);
    cx.load(Type::I64, rdi, place(0));
    cx.alu(Alu::Test, Type::I64, rdi, rdi);
    let is_own = cx.skip(Cond::Ne);
    turn(cx);
    leave(cx);
    cx.land(is_own);
    cx.mov(rcx, rax);
    cx.shift(Shift::Shr, Type::I64, rcx, Immediate(32));
    cx.alu(Alu::Cmp, Type::I32, rcx, Immediate(Left::Tailed as i64));
    let is_followed = cx.skip(Cond::E);
    cx.mov(r8, rdx);
    cx.mov(rcx, rax);
    cx.lea(true, rdx, place(SLOTS));
    cx.load(Type::I64, rsi, place(CONTEXT));
    cx.load(Type::I64, r11, Mem::at(rdi, CallCell::HOST as i64));
    cx.call(Mem::at(r11, Host::RESUME as i64));
    cx.load(Type::I64, rdi, place(0));
    let has_ended = skip_unless_tail_call(cx);
    cx.land(is_followed);
    cx.load(Type::I64, r11, Mem::at(rdi, CallCell::HOST as i64));
    enter_next_of_host(cx);
    cx.land(has_ended);
    leave(cx);
}
