//! The stack frame of a compiled function, which its prologue makes and each epilogue drops.
//!
//! In: the callee-saved registers that a function uses, and the room it needs. Out: a [`Frame`], and its prologue and
//! epilogues. From `rsp` up: outgoing arguments, spill slots, saved registers, return address. Saved registers are pushed in
//! [`SAVE_ORDER`], so that `rbp` stands right below the return address, and profilers can follow its chain through functions
//! that keep one ([`Frame::keeps_pointer`]).

use crate::emit::Emitter;
use crate::encode::{Alu, Immediate, Mem};
use crate::regs::*;
use azulejo_code::emit::{self, Options};
use azulejo_code::unwind::{Change, StackFrame, Step};
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::Type;
use dynasmrt::{DynasmApi, dynasm};

/// The callee-saved registers, in the order in which they are pushed.
pub(crate) const SAVE_ORDER: [Reg; 6] = [RBP, RBX, R12, R13, R14, R15];

/// A function's frame on the stack.
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
    /// How many bytes are below them.
    room: u32,
    keeps_pointer: bool,
    /// Whether the instructions that make the frame have a field for any size.
    is_resizable: bool,
}

impl Frame {
    /// The frame of a function that needs `room` bytes and clobbers the `used` registers.
    pub fn new(used: RegSet, room: u32, has_calls: bool, keeps_pointer: bool) -> Frame {
        let mut saved = used.intersection(CALLEE_SAVED);
        if keeps_pointer {
            saved.insert(RBP);
        }
        let mut frame = Frame { saved, room, keeps_pointer, is_resizable: false };
        // A call requires `rsp` to be a multiple of 16.
        if has_calls && !frame.size().is_multiple_of(16) {
            frame.room += 8;
        }
        frame
    }

    /// The registers that are pushed, in order.
    fn pushed(&self) -> impl DoubleEndedIterator<Item = Reg> + '_ {
        SAVE_ORDER.into_iter().filter(|reg| self.saved.contains(*reg))
    }

    /// The length of the instruction that makes or drops the room.
    fn room_len(&self) -> u32 {
        match self.room {
            0 => 0,
            1..=127 if !self.is_resizable => 4,
            _ => 7,
        }
    }

    /// How many bytes `rsp` is below its value before the call, in the body of the function.
    pub fn size(&self) -> u32 {
        8 + 8 * self.pushed().count() as u32 + self.room
    }
}

impl emit::Frame for Frame {
    fn new(used: RegSet, room: u32, has_calls: bool, options: &Options) -> Frame {
        Frame::new(used, room, has_calls, options.frame_pointers)
    }

    fn enlarged(self, bytes: u32) -> Frame {
        Frame { room: self.room + bytes.next_multiple_of(16), ..self }
    }

    fn resizable(self) -> Frame {
        Frame { is_resizable: true, ..self }
    }

    fn has_short_epilogue(&self) -> bool {
        self.room_len() + self.pushed().map(push_len).sum::<u32>() + RETURN_LEN <= JUMP_LEN
    }

    fn write_room(&self, code: &mut [u8]) {
        code[ROOM_AT..][..4].copy_from_slice(&self.room.to_le_bytes());
    }
}

impl StackFrame for Frame {
    fn saved(&self) -> RegSet {
        self.saved
    }

    fn size(&self) -> u32 {
        Frame::size(self)
    }

    fn prologue(&self, tell: &mut dyn FnMut(Step<'_>)) {
        let mut depth = 8;
        for reg in self.pushed() {
            depth += 8;
            tell(Step { len: push_len(reg), changes: &[Change::Depth(depth), Change::Saved(reg, depth)] });
            if self.keeps_pointer && reg == RBP {
                tell(Step { len: MOVE_LEN, changes: &[Change::ByPointer] });
            }
        }
        if self.room > 0 {
            let len = touches_len(self.room) + self.room_len();
            tell(Step { len, changes: &[Change::Depth(Frame::size(self))] });
        }
    }

    fn epilogue(&self, tell: &mut dyn FnMut(Step<'_>)) {
        let mut depth = Frame::size(self) - self.room;
        tell(Step { len: self.room_len(), changes: &[Change::Depth(depth)] });
        for reg in self.pushed().rev() {
            depth -= 8;
            let changes = [Change::ByStack, Change::Depth(depth), Change::Restored(reg)];
            let was_by_pointer = self.keeps_pointer && reg == RBP;
            tell(Step { len: push_len(reg), changes: &changes[!was_by_pointer as usize..] });
        }
        tell(Step { len: RETURN_LEN, changes: &[] });
    }
}

/// The length of a push or a pop.
fn push_len(reg: Reg) -> u32 {
    1 + (reg.number() >= 8) as u32
}

/// A page of the machine's stack. Systems that grow stacks on demand require each page to be touched before the next; where a
/// stack ends in a guard page, no frame reaches beyond it.
const PAGE: u32 = 4096;

/// The length of the code in the prologue that touches a frame's pages.
fn touches_len(room: u32) -> u32 {
    room / PAGE * TOUCH_LEN
}

const TOUCH_LEN: u32 = 7;

/// The offset of a resizable frame's room in the instruction that changes `rsp`.
const ROOM_AT: usize = 3;

/// The length of `ret`.
const RETURN_LEN: u32 = 1;

/// The length of a jump with a distance of 32 bits.
const JUMP_LEN: u32 = 5;

/// The length of `mov rbp, rsp`.
const MOVE_LEN: u32 = 3;

/// Makes the frame; returns the offset of the instruction that makes its room.
pub(crate) fn make_frame(cx: &mut Emitter) -> usize {
    let frame = cx.frame;
    for reg in frame.pushed() {
        cx.push64(reg.number());
        if reg == RBP && frame.keeps_pointer {
            cx.mov(RBP.number(), RSP.number());
        }
    }
    for page in 1..=frame.room / PAGE {
        cx.alu(Alu::Test, Type::I32, Mem::at(RSP.number(), -((page * PAGE) as i64)), RAX.number());
    }
    let start = cx.here();
    change_room(cx, Alu::Sub);
    start
}

/// Drops the frame.
pub(crate) fn drop_frame(cx: &mut Emitter) {
    let frame = cx.frame;
    change_room(cx, Alu::Add);
    for reg in frame.pushed().rev() {
        cx.pop64(reg.number());
    }
}

fn change_room(cx: &mut Emitter, alu: Alu) {
    let Frame { room, is_resizable, .. } = cx.frame;
    match room {
        0 => {}
        _ if is_resizable && alu == Alu::Sub => dynasm!(cx; .arch x64; sub rsp, DWORD room as i32),
        _ if is_resizable => dynasm!(cx; .arch x64; add rsp, DWORD room as i32),
        _ => cx.alu(alu, Type::I64, RSP.number(), Immediate(room as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::Code;
    use crate::machine::{MACHINE, dwarf};
    use azulejo_code::emit::enter_framed;
    use azulejo_code::emit::leave::leave;
    use azulejo_code::unwind::FrameChange;
    use azulejo_code::unwind::of_function;
    use azulejo_code::unwind::rows::{Row, rows};
    use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

    /// For every kind of frame, the rules after each instruction match its effect on the stack.
    #[test]
    fn rules_follow_the_stack_through_every_instruction() {
        let masks = 0..1u64 << SAVE_ORDER.len();
        for (mask, room, keeps_pointer) in masks.flat_map(|mask| {
            let rooms = [0, 8, 120, 128, 60_000].into_iter();
            rooms.flat_map(move |room| [false, true].map(|keeps_pointer| (mask, room, keeps_pointer)))
        }) {
            let chosen = SAVE_ORDER.iter().enumerate().filter(|(at, _)| mask >> at & 1 != 0);
            let used = RegSet::of(&chosen.map(|(_, reg)| *reg).collect::<Vec<Reg>>());
            let mut emitter = Emitter::bare();
            emitter.frame = Frame::new(used, room, true, keeps_pointer);
            assert!(emitter.frame.size().is_multiple_of(16));
            // Like a function that may end before it makes the frame, has a body and two epilogues with code behind each, and makes the
            // frame in another place, too.
            let nops = |emitter: &mut Emitter, count: usize| (0..count).for_each(|_| emitter.byte(0x90));
            nops(&mut emitter, 2);
            emit::make_frame(&mut emitter);
            nops(&mut emitter, 3);
            leave(&mut emitter);
            nops(&mut emitter, 300);
            leave(&mut emitter);
            nops(&mut emitter, 1);
            enter_framed(&mut emitter, false);
            nops(&mut emitter, 70);
            leave(&mut emitter);
            enter_framed(&mut emitter, true);
            nops(&mut emitter, 1);
            enter_framed(&mut emitter, false);
            emit::make_frame(&mut emitter);
            nops(&mut emitter, 1);
            leave(&mut emitter);
            let (frame, leaves) = (emitter.frame, core::mem::take(&mut emitter.leaves));
            let frames = core::mem::take(&mut emitter.frames);
            let bytes = emitter.take();
            let code = Code { end: bytes.len() as u32, bytes, frame, frames, leaves, ..Code::default() };
            let rows = rows(&of_function(&code.described(), 0x1000), code.bytes.len());
            follow(&code, &rows);
        }
    }

    fn follow(code: &Code, rows: &[Row]) {
        // How far `rsp` and, once it is set, `rbp` are below the caller's frame; and where registers were pushed.
        let (mut depth, mut pointer, mut pushed) = (8u64, None, [None; 32]);
        pushed[MACHINE.unwinding.return_address as usize] = Some(8);
        let mut body = None;
        let register = |register: Register| dwarf(Reg::int(register.number() as u8));
        let mut last = Instruction::default();
        let nothing = (depth, pointer, pushed);
        for instruction in &mut Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE) {
            let mut changes = code.frames.iter().filter(|(at, _)| *at as u64 == instruction.ip());
            if let Some((_, change)) = changes.next_back() {
                let is_there = *change == FrameChange::IsThere;
                (depth, pointer, pushed) = if is_there { body.expect("as below") } else { nothing };
            } else if last.flow_control() == FlowControl::Return {
                (depth, pointer, pushed) = body.expect("there was a body before");
            }
            let row = rows[instruction.ip() as usize];
            let base = if row.base == dwarf(RSP) { depth } else { pointer.expect("rbp is set") };
            assert_eq!(row.distance, base, "{instruction:?} at {:x}: {row:?}", instruction.ip());
            assert_eq!(row.saved, pushed, "{instruction:?} at {:x}", instruction.ip());
            match instruction.mnemonic() {
                Mnemonic::Push => {
                    depth += 8;
                    pushed[register(instruction.op0_register()) as usize] = Some(depth);
                }
                Mnemonic::Pop => {
                    depth -= 8;
                    pushed[register(instruction.op0_register()) as usize] = None;
                    if instruction.op0_register() == Register::RBP {
                        pointer = None;
                    }
                }
                Mnemonic::Mov => pointer = Some(depth),
                Mnemonic::Sub => depth += instruction.immediate(1),
                Mnemonic::Add => depth -= instruction.immediate(1),
                Mnemonic::Test => assert!(instruction.memory_displacement64() as i64 >= -60_000),
                Mnemonic::Nop if (depth, pointer, pushed) == nothing => {}
                Mnemonic::Nop => body = Some((depth, pointer, pushed)),
                Mnemonic::Ret => assert_eq!((depth, pointer), (8, None)),
                other => unreachable!("{other:?} is in no frame"),
            }
            last = instruction;
        }
        assert!(CALLEE_SAVED.iter().all(|reg| SAVE_ORDER.contains(&reg)));
    }
}
