//! The stack frame of a compiled function: what its prologue makes and each epilogue takes back.
//!
//! In: the registers that a function uses and must give back, and the room it wants. Out: a [`Frame`], and its
//! prologue and epilogues. From `rsp` up: outgoing arguments, spill slots, saved registers, return address.
//! Saved registers are pushed in [`SAVE_ORDER`], so that `rbp` stands right below the return address and its chain
//! can be followed where functions keep it ([`Frame::keeps_pointer`]).

use crate::emit::{Emitter, LEFT, OUT};
use crate::encode::{Alu, Mem};
use crate::ending::Ending;
use crate::record::{Host, Record};
use crate::regs::*;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::Type;

/// How much of the stack a function may take for itself, besides a few saved registers. Nobody looks for a stack's end in
/// compiled code: who enters it, as the engine does, leaves this much free, and what callees need.
pub const MAX_FRAME_BYTES: usize = 64 << 10;

/// The registers that a function must give back, as they are pushed.
pub(crate) const SAVE_ORDER: [Reg; 6] = [RBP, RBX, R12, R13, R14, R15];

/// What a function has on the stack.
///
/// ```
/// use azulejo_core::target::RegSet;
/// use azulejo_x64::{Frame, regs};
/// // Two registers to give back and three slots, between the return address and what it calls.
/// let frame = Frame::new(RegSet::of(&[regs::RAX, regs::RBX, regs::R12]), 24, true, false);
/// assert_eq!(frame.size(), 8 + 2 * 8 + 24);
/// // A call wants a multiple of 16.
/// let frame = Frame::new(RegSet::of(&[regs::RBX]), 24, true, false);
/// assert_eq!(frame.size(), 8 + 8 + 24 + 8);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The registers that are pushed.
    saved: RegSet,
    /// The bytes below them.
    room: u32,
    keeps_pointer: bool,
    /// The instructions that make it have room for any size.
    is_open: bool,
    /// How many bytes of code stand before it is made.
    lead: u32,
}

impl Frame {
    /// A frame with room for so many bytes, for a function that changes these registers.
    pub fn new(used: RegSet, room: u32, has_calls: bool, keeps_pointer: bool) -> Frame {
        let mut saved = used.intersection(CALLEE_SAVED);
        if keeps_pointer {
            saved.insert(RBP);
        }
        let mut frame = Frame { saved, room, keeps_pointer, is_open: false, lead: 0 };
        // A call wants rsp to be a multiple of 16.
        if has_calls && !frame.size().is_multiple_of(16) {
            frame.room += 8;
        }
        frame
    }

    /// The registers that are pushed, in order.
    pub(crate) fn saved(&self) -> impl DoubleEndedIterator<Item = Reg> + '_ {
        SAVE_ORDER.into_iter().filter(|reg| self.saved.contains(*reg))
    }

    /// The bytes below the saved registers.
    pub(crate) fn room(&self) -> u32 {
        self.room
    }

    /// One whose room is written into its code afterwards.
    pub(crate) fn open(self) -> Frame {
        Frame { is_open: true, ..self }
    }

    /// The same with so much more room.
    pub(crate) fn with_more(self, bytes: u32) -> Frame {
        Frame { room: self.room + bytes.next_multiple_of(16), ..self }
    }

    /// Writes the room of an open frame into an instruction that makes it or takes it back.
    pub(crate) fn write_room(&self, code: &mut [u8], at: usize) {
        code[at + ROOM_AT..][..4].copy_from_slice(&self.room.to_le_bytes());
    }

    /// How many bytes the change of `rsp` has that makes or takes back the room.
    pub(crate) fn room_len(&self) -> u32 {
        match self.room {
            0 => 0,
            1..=127 if !self.is_open => 4,
            _ => 7,
        }
    }

    /// How many bytes there are that take it back and return.
    pub(crate) fn leave_len(&self) -> u32 {
        self.room_len() + self.saved().map(push_len).sum::<u32>() + 1
    }

    /// Says where in the code it is made.
    pub(crate) fn start_at(&mut self, lead: u32) {
        self.lead = lead;
    }

    /// How many bytes of code stand before it is made.
    pub(crate) fn lead(&self) -> u32 {
        self.lead
    }

    /// Whether `rbp` points to where the caller's is saved.
    pub(crate) fn keeps_pointer(&self) -> bool {
        self.keeps_pointer
    }

    /// How far `rsp` is below what it was before the call, in the body of the function.
    pub fn size(&self) -> u32 {
        8 + 8 * self.saved().count() as u32 + self.room
    }
}

/// How many bytes a push or a pop has.
pub(crate) fn push_len(reg: Reg) -> u32 {
    1 + (reg.number() >= 8) as u32
}

/// A page of the machine's stack. Systems that make stacks larger as they are used want each touched before the next; where
/// stacks end in a page that may not be touched, no frame reaches beyond it.
const PAGE: u32 = 4096;

/// How many bytes there are in the prologue that touch a frame's pages.
pub(crate) fn touches_len(room: u32) -> u32 {
    room / PAGE * TOUCH_LEN
}

const TOUCH_LEN: u32 = 7;

/// Where in the instruction that changes `rsp` the room of an open frame is.
pub(crate) const ROOM_AT: usize = 3;

/// How many bytes `mov rbp, rsp` has.
pub(crate) const MOVE_LEN: u32 = 3;

impl Emitter {
    pub(crate) fn prologue(&mut self) {
        let frame = self.frame;
        for reg in frame.saved() {
            self.push64(reg.number());
            if reg == RBP && frame.keeps_pointer {
                self.mov(RBP.number(), RSP.number());
            }
        }
        for page in 1..=frame.room / PAGE {
            self.test(Type::I32, Mem::at(RSP.number(), -((page * PAGE) as i64)), RAX.number());
        }
        self.make_room(Alu::Sub);
    }

    fn make_room(&mut self, alu: Alu) {
        let Frame { room, is_open, .. } = self.frame;
        match room {
            0 => {}
            _ if is_open => {
                self.bytes(&[0x48, 0x81, 0xc4 | (alu as u8) << 3]);
                self.bytes(&room.to_le_bytes());
            }
            _ => self.alu_imm(alu, Type::I64, RSP.number(), room as i64),
        }
    }

    /// Leaves the function: `rax` and `rdx` are what they must be.
    pub fn leave(&mut self) {
        if self.is_stencil() {
            return self.jump_out(OUT);
        }
        if self.ends_as_before(Ending::AsItIs) {
            return;
        }
        if self.noted.is_none() {
            self.lands.get_or_insert(self.leaves.len() as u32);
        }
        self.drop_frame();
        self.byte(0xc3);
    }

    /// Leaves a function that fails. If that is noted, the bytecode that fails is in `rax`.
    pub(crate) fn leave_failed(&mut self) {
        let Some(record) = self.noted else { return self.leave() };
        if self.ends_as_before(Ending::Noted) {
            return;
        }
        self.lands.get_or_insert(self.leaves.len() as u32);
        self.drop_frame();
        self.mov_imm(RSI.number(), record);
        self.load(Type::I64, R11.number(), Mem::at(RSI.number(), Record::HOST as i64));
        self.jmp_to(Mem::at(R11.number(), Host::NOTING as i64));
    }

    /// Leaves the function before its end.
    pub(crate) fn leave_unfinished(&mut self) {
        match self.is_stencil() {
            true => self.jump_out(LEFT),
            false => self.leave(),
        }
    }

    /// Makes the stack what it was when the function was entered; what ends it follows.
    pub(crate) fn drop_frame(&mut self) {
        let frame = self.frame;
        self.leaves.push(self.here() as u32);
        self.make_room(Alu::Add);
        for reg in frame.saved().rev() {
            self.pop64(reg.number());
        }
    }
}
