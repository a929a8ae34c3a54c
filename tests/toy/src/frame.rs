//! The stack frame of a function, which its prologue makes and each epilogue drops.
//!
//! From the stack pointer up: outgoing arguments, spill slots, callee-saved registers, and the link register at the top. The
//! size of the saved registers is fixed in a function; the room below may be written into the code afterwards.

use crate::emit::Emitter;
use crate::instruction::{Code, IMMEDIATES, Word};
use crate::regs::*;
use azulejo_code::emit::{self, Options};
use azulejo_code::unwind::{Change, StackFrame, Step};
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::{Class, Op, Type};

/// The saved registers, in their order from the top of the frame down.
pub(crate) const SAVE_ORDER: [Reg; 9] = [LINK, X5, X6, X7, F6, F7, I0, I1, I2];

/// A function's frame on the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    saved: RegSet,
    room: u32,
}

/// How many bytes an instruction has.
const LEN: u32 = 4;
/// The length of the code that makes room in the frame.
const ROOM_LEN: u32 = 3 * LEN;

impl Frame {
    /// The saved registers, and their distances from the top.
    fn places(&self) -> impl Iterator<Item = (Reg, u32)> + '_ {
        let saved = SAVE_ORDER.into_iter().filter(|reg| self.saved.contains(*reg));
        saved.zip(1u32..).map(|(reg, at)| (reg, at * 8))
    }

    fn saved_bytes(&self) -> u32 {
        (self.saved.len() * 8).next_multiple_of(16)
    }
}

impl emit::Frame for Frame {
    fn new(used: RegSet, room: u32, _: bool, _: &Options) -> Frame {
        let mut saved = used.intersection(CALLEE_SAVED);
        saved.insert(LINK);
        Frame { saved, room: room.next_multiple_of(16) }
    }

    fn enlarged(self, bytes: u32) -> Frame {
        Frame { room: self.room + bytes.next_multiple_of(16), ..self }
    }

    fn resizable(self) -> Frame {
        self
    }

    fn has_short_epilogue(&self) -> bool {
        false
    }

    fn write_room(&self, code: &mut [u8]) {
        let [low, high, ..] = IMMEDIATES;
        low.put(code, self.room as u64);
        high.put(&mut code[LEN as usize..], self.room as u64);
    }
}

impl StackFrame for Frame {
    fn saved(&self) -> RegSet {
        self.saved
    }

    fn size(&self) -> u32 {
        self.saved_bytes() + self.room
    }

    fn prologue(&self, tell: &mut dyn FnMut(Step<'_>)) {
        tell(Step { len: LEN, changes: &[Change::Depth(self.saved_bytes())] });
        for (reg, at) in self.places() {
            tell(Step { len: LEN, changes: &[Change::Saved(reg, at)] });
        }
        tell(Step { len: ROOM_LEN, changes: &[Change::Depth(StackFrame::size(self))] });
    }

    fn epilogue(&self, tell: &mut dyn FnMut(Step<'_>)) {
        tell(Step { len: ROOM_LEN, changes: &[Change::Depth(self.saved_bytes())] });
        for (reg, _) in self.places() {
            tell(Step { len: LEN, changes: &[Change::Restored(reg)] });
        }
        tell(Step { len: LEN, changes: &[Change::Depth(0)] });
        tell(Step { len: LEN, changes: &[] });
    }
}

fn whole(reg: Reg) -> Type {
    if reg.class() == Class::Int { Type::I64 } else { Type::F64 }
}

impl Emitter {
    /// Makes the frame; returns the offset of the code that makes its room.
    pub(crate) fn make_frame(&mut self) -> usize {
        let frame = self.frame;
        let (sp, saved) = (SP.number(), frame.saved_bytes() as i64);
        self.add(sp, sp, -saved);
        for (reg, at) in frame.places() {
            self.store(whole(reg), sp, saved - at as i64, reg.number());
        }
        let start = self.here();
        self.make_room(Op::SUB);
        start
    }

    fn make_room(&mut self, op: Op) {
        let room = self.frame.room as i64;
        let temp = TEMP.number();
        self.word(Word::of(Code::Set, [temp, 0, 0]).with(room & 0xfff));
        self.word(Word::of(Code::Keep, [temp, 0, 0]).at(1).with(room >> 12));
        self.operate_wide(op, SP, SP, TEMP);
    }

    /// Drops the frame.
    pub(crate) fn drop_frame(&mut self) {
        let frame = self.frame;
        let (sp, saved) = (SP.number(), frame.saved_bytes() as i64);
        self.make_room(Op::ADD);
        for (reg, at) in frame.places() {
            self.load(whole(reg), reg.number(), sp, saved - at as i64);
        }
        self.add(sp, sp, saved);
    }
}
