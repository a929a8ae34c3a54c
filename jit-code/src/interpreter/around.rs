//! The code by which an interpreter is entered and left.
//!
//! In: how code is emitted. Out: [`Code`] that makes the frame, loads what interpreted code keeps in registers, and enters the first
//! opcode's code; the place at which opcodes leave, with the two result registers set; and one that leaves at the current bytecode.

use super::{EntryWords, PLACES, ROOM, WORDS};
use crate::emit::assembler::{Target, Test};
use crate::emit::leave::{leave, leave_at};
use crate::emit::{Backend, Code, Frame, Options, by_hand, link_by_hand, make_frame};
use crate::unwind::{StackFrame, Step};
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Type;
use core::mem::offset_of;

/// The code, and its places.
#[derive(Debug)]
pub(super) struct EntryCode<M: Backend> {
    pub(super) code: Code<M>,
    /// Where opcodes leave.
    pub(super) out: usize,
    /// Where opcodes without code lead.
    pub(super) unmade: usize,
}

/// The frame in which all opcodes run. An opcode may use any register.
pub(super) fn frame<M: Backend>(options: &Options) -> M::Frame {
    let [kept_context, kept_slots, _] = M::REGISTERS.kept;
    let kept = RegSet::of(&[kept_context, kept_slots]).union(RegSet::of(&M::REGISTERS.interpreted));
    M::Frame::new(M::MACHINE.registers.all.callee_saved.union(kept), ROOM + WORDS, true, options)
}

pub(super) fn around<M: Backend>(options: &Options) -> EntryCode<M> {
    let [pc, record, kept] = M::REGISTERS.interpreted;
    let [kept_context, kept_slots, _] = M::REGISTERS.kept;
    let [context, slots, entry] = M::REGISTERS.entered_with;
    let mut cx: M = by_hand(options, frame::<M>(options));
    make_frame(&mut cx);
    cx.store_word(M::MACHINE.unwinding.stack_pointer, (ROOM + WORDS) as i64 - 8, None);
    cx.copy_register(kept_context, context);
    cx.copy_register(kept_slots, slots);
    cx.load_word(pc, entry, offset_of!(EntryWords, pc) as i64);
    cx.load_word(record, entry, offset_of!(EntryWords, record) as i64);
    cx.load_word(kept, entry, offset_of!(EntryWords, kept) as i64);
    cx.jump_at(Target::Word(entry, offset_of!(EntryWords, code) as i64));
    let unmade = cx.here();
    cx.copy_register(M::REGISTERS.results[1], pc);
    leave_at(&mut cx);
    let out = cx.here();
    if let Some(stubs) = &M::STUBS.interpreted {
        let temp = M::REGISTERS.temp;
        cx.load_word(temp, M::MACHINE.unwinding.frame_pointer, PLACES[0]);
        let is_engines = cx.skip_if(Test::IsZero(Type::I64, temp));
        // A function that was called gives its result back the other way round. What else it may leave with, the stub knows.
        let [status, value] = M::REGISTERS.results;
        let has_result = cx.skip_if(Test::IsZero(Type::I64, status));
        cx.jump_at(Target::Address(stubs.leave.addr() as u64));
        cx.land_skip(has_result);
        cx.copy_register(status, value);
        cx.clear_register(value);
        // Its slots are on the stack, too: what this code saved is where the frame pointer says.
        let unwinding = &M::MACHINE.unwinding;
        let below_saved = PLACES[0] + 8 - (ROOM + WORDS) as i64;
        cx.address(unwinding.stack_pointer, unwinding.frame_pointer, below_saved);
        leave(&mut cx);
        cx.land_skip(is_engines);
    }
    leave(&mut cx);
    let mut code = Code::default();
    link_by_hand::<M>(cx, &mut code, false);
    EntryCode { code, out, unmade }
}

/// The frame of an interpreter, as the code of an opcode has it, which neither makes nor drops it.
#[derive(Debug)]
pub(super) struct Made<'a>(pub(super) &'a dyn StackFrame);

impl StackFrame for Made<'_> {
    fn saved(&self) -> RegSet {
        self.0.saved()
    }

    fn size(&self) -> u32 {
        self.0.size()
    }

    fn prologue(&self, tell: &mut dyn FnMut(Step<'_>)) {
        self.0.prologue(&mut |step| tell(Step { len: 0, ..step }));
    }

    fn is_by_pointer(&self) -> bool {
        true
    }

    fn epilogue(&self, _: &mut dyn FnMut(Step<'_>)) {}
}
