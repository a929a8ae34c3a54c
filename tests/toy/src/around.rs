//! The code before and behind stencils.

use crate::emit::Emitter;
use crate::frame::Frame;
use crate::instruction::{Code, IMMEDIATES};
use crate::regs::*;
use azulejo_code::call::{CallCell, Host};
use azulejo_code::emit::{Backend, BaselineFrame, Buffer, CONTEXT, Frame as _, Options, SLOTS, by_hand};
use azulejo_core::ir::status::Left;
use azulejo_core::target::RegSet;
use azulejo_core::vocab::{Op, Sig, Type};

/// The code around stencils that use these registers and `room` bytes of the stack.
pub(crate) fn baseline_frame(
    saved: RegSet,
    room: u32,
    keeps_unit: bool,
    options: &Options,
) -> BaselineFrame<Emitter> {
    let used = saved.union(RegSet::of(&KEPT[..if keeps_unit { 3 } else { 2 }]));
    let frame = Frame::new(used, room + SLOTS, true, options);
    let mut cx: Emitter = by_hand(options, frame);
    let [context, slots, unit] = KEPT;
    let make_at = cx.make_frame();
    cx.set(TEMP.number(), 0);
    cx.store_word(SP, room as i64, TEMP);
    cx.mov(context, X0);
    cx.mov(slots, X1);
    let mut unit_at = Vec::new();
    if keeps_unit {
        let start = cx.here();
        cx.set(unit.number(), u64::MAX >> 1);
        let [parts @ .., _, top] = IMMEDIATES;
        unit_at.extend(parts.into_iter().chain([top]).enumerate().map(|(at, field)| (start + at * 4, field)));
    }
    cx.registers(Code::JumpTo, [X2.number(), 0, 0]);
    let prologue = core::mem::take(&mut cx.bytes);
    cx.turn();
    if options.backtraces {
        cx.note(room as i64);
    }
    cx.leave();
    let left = cx.here();
    cx.resume(room as i64);
    debug_assert!(cx.fixups.is_empty(), "it is put anywhere as it is");
    let leaves = cx.leaves[..].try_into().expect("that often the frame is taken back");
    let Buffer { frame, bytes: epilogue, .. } = cx.into_buffer();
    BaselineFrame { frame, room, saved, prologue, make_at, unit_at, epilogue, left, leaves }
}

impl Emitter {
    /// Notes a failure of baseline code that runs in its own frame; `cell` is the offset of the function's call cell.
    fn note(&mut self, cell: i64) {
        self.test_trap();
        let has_not_failed = self.skip(Code::JumpUnless, FLAG);
        self.load_word(X2, SP, cell);
        let is_not_own = self.skip(Code::JumpUnless, X2);
        self.load_word(TEMP, X2, CallCell::HOST as i64);
        self.load_word(TEMP, TEMP, Host::NOTE_STUB as i64);
        self.registers(Code::Call, [TEMP.number(), 0, 0]);
        self.land(has_not_failed);
        self.land(is_not_own);
    }

    /// Emits the exit before the function's end; `cell` is the offset of the function's call cell. If the code runs in its own
    /// frame, the host resumes it, or the pending tail call's function is entered; otherwise the status is returned to the
    /// caller.
    fn resume(&mut self, cell: i64) {
        self.load_word(X2, SP, cell);
        let is_own = self.skip(Code::JumpIf, X2);
        self.turn();
        self.leave();
        self.land(is_own);
        // The reason is in the upper half of the status.
        self.set(TEMP.number(), Left::Tailed.word(0));
        let sig = Sig { from: Type::I64, ty: Type::Flag };
        self.operate(Op::EQ, sig, FLAG.number(), [X0.number(), TEMP.number()]);
        let is_followed = self.skip(Code::JumpIf, FLAG);
        self.mov(X3, X0);
        self.mov(X4, X1);
        self.mov(X0, X2);
        self.load_word(X1, SP, cell + CONTEXT as i64);
        self.add(X2.number(), SP.number(), cell + SLOTS as i64);
        self.load_word(TEMP, X0, CallCell::HOST as i64);
        self.load_word(TEMP, TEMP, Host::RESUME as i64);
        self.registers(Code::Call, [TEMP.number(), 0, 0]);
        let has_ended = self.skip_unless_tail_call();
        self.land(is_followed);
        self.load_word(X2, SP, cell);
        self.load_word(FLAG, X2, CallCell::HOST as i64);
        self.enter_next_of_host();
        self.land(has_ended);
        self.leave();
    }
}
