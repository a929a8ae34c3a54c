//! The code before and behind the stencils of a function, and the frame that it makes.
//!
//! In: the registers and the room that all stencils of a bytecode need. Out: code that makes such a frame and drops it, with
//! places for the sizes that differ between functions. From the stack pointer up a frame has the stencils' room, the function's
//! call cell, its context, and its slots.

use super::assembler::{Results, Target, Test};
use super::leave::{enter_next_of_host, leave, skip_unless_tail_call};
use super::{Backend, Buffer, Frame, Options, by_hand, make_frame};
use crate::call::{CallCell, Host, KeptValues};
use crate::field::Field;
use crate::unwind::StackFrame;
use azulejo_core::ir::status::Left;
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Type;

/// How many times the epilogue of baseline code drops the frame.
pub const LEAVES: usize = 4;

/// The context's offset from the call cell.
const CONTEXT: u32 = 8;
/// The slots' offset from the call cell.
const SLOTS: u32 = 16;
/// A frame with slots is smaller than this, so it does not reach beyond a page.
const MAX_OWN: u32 = 4096;

/// The code around the stencils of a function, for any size of its frame.
#[derive(Debug)]
pub struct BaselineFrame<M: Backend> {
    /// The frame without slots.
    pub frame: M::Frame,
    /// How many bytes of the frame the stencils need.
    pub room: u32,
    /// The callee-saved registers that the stencils use.
    pub saved: RegSet,
    /// Keeps the machine's own pointers in the registers that stencils expect, and jumps to its target.
    pub prologue: Vec<u8>,
    /// Where in the prologue the frame is made, as [`Frame::write_room`] expects it.
    pub make_at: usize,
    /// The constants that it keeps in registers.
    pub pinned: &'static [u64],
    /// Where in the prologue `(cu)` is loaded into its register, if it is kept in one.
    pub unit_at: Vec<(usize, Field)>,
    /// Returns from the function.
    pub epilogue: Vec<u8>,
    /// Where exits before the function's end enter the epilogue.
    pub left: usize,
    /// Where in the epilogue the frame is dropped.
    pub leaves: [u32; LEAVES],
}

/// The frame of one function.
#[derive(Debug)]
pub struct OwnFrame<M: Backend> {
    /// The function's frame on the stack.
    pub frame: M::Frame,
    /// The offset of the word that holds the function's call cell; the word is zero if the function runs in slots of its
    /// caller.
    cell: u32,
    has_slots: bool,
}

impl<M: Backend> OwnFrame<M> {
    /// The offsets of the call cell, the context and the slots, if the frame has slots.
    pub fn places(&self) -> Option<[u32; 3]> {
        self.has_slots.then(|| [0, CONTEXT, SLOTS].map(|place| self.cell + place))
    }
}

impl<M: Backend> BaselineFrame<M> {
    /// The code around stencils that use these registers and `room` bytes of the stack. Each function has a unit of its own.
    pub(crate) fn new(saved: RegSet, room: u32, kept: KeptValues, options: &Options) -> BaselineFrame<M> {
        let stack_pointer = M::MACHINE.unwinding.stack_pointer;
        let [kept_context, kept_slots, kept_unit] = M::REGISTERS.kept;
        let [context, slots, start] = M::REGISTERS.entered_with;
        let used = saved
            .union(RegSet::of(&M::REGISTERS.kept[..2]))
            .union(kept.registers(kept_unit, M::REGISTERS.pinned));
        let frame = M::Frame::new(used, room + SLOTS, true, options).resizable();
        let mut cx: M = by_hand(options, frame);
        let make_at = make_frame(&mut cx);
        cx.store_word(stack_pointer, room as i64, None);
        cx.copy_register(kept_context, context);
        cx.copy_register(kept_slots, slots);
        let unit_at = kept.unit.map_or(Vec::new(), |_| cx.set_later(kept_unit));
        let constants = KeptValues { unit: None, ..kept };
        constants.each(kept_unit, M::REGISTERS.pinned).for_each(|(reg, bits)| cx.set_register(reg, bits));
        cx.jump_at(Target::Register(start));
        let prologue = core::mem::take(&mut cx.bytes);
        cx.change_results(Results::Turned);
        if options.backtraces {
            note_failure(&mut cx, room);
        }
        leave(&mut cx);
        let left = cx.here();
        resume(&mut cx, room);
        debug_assert!(cx.fixups.is_empty(), "it is put anywhere as it is");
        let leaves = cx.leaves[..].try_into().expect("that often the frame is taken back");
        let Buffer { frame, bytes: epilogue, .. } = cx.into_buffer();
        BaselineFrame {
            frame,
            room,
            saved,
            pinned: kept.pinned,
            prologue,
            make_at,
            unit_at,
            epilogue,
            left,
            leaves,
        }
    }

    /// The frame of a function with this many slots. The slots are in the frame unless they are too many.
    pub fn of(&self, slots: u32) -> OwnFrame<M> {
        let bytes = slots.saturating_mul(8);
        let has_slots = bytes < MAX_OWN && self.frame.size() + bytes.next_multiple_of(16) < MAX_OWN;
        let frame = if has_slots { self.frame.enlarged(bytes) } else { self.frame };
        OwnFrame { frame, cell: self.room, has_slots }
    }
}

/// Notes a failure of baseline code that runs in its own frame, which has the function's call cell at `cell`. Otherwise the
/// caller gets the status.
fn note_failure<M: Backend>(cx: &mut M, cell: u32) {
    let (noted, temp) = (M::REGISTERS.noted, M::REGISTERS.temp);
    let has_not_failed = cx.skip_if(Test::IsZero(Type::I32, M::REGISTERS.results[1]));
    cx.load_word(noted, M::MACHINE.unwinding.stack_pointer, cell as i64);
    let is_not_own = cx.skip_if(Test::IsZero(Type::I64, noted));
    cx.load_word(temp, noted, CallCell::HOST as i64);
    cx.call_at(Target::Word(temp, Host::NOTE_STUB as i64));
    cx.land_skip(has_not_failed);
    cx.land_skip(is_not_own);
}

/// Emits the exit before the function's end, for an exit or a tail call. If the code runs in its own frame, which has the
/// function's call cell at `cell`, the host resumes it, or the pending tail call's function is entered; otherwise the status is
/// returned to the caller.
fn resume<M: Backend>(cx: &mut M, cell: u32) {
    let stack_pointer = M::MACHINE.unwinding.stack_pointer;
    let [first, second] = M::REGISTERS.results;
    let [of_cell, of_context, of_frame, of_status, of_value] = M::REGISTERS.resume;
    let (own, temp, host) = (M::REGISTERS.left, M::REGISTERS.temp, M::REGISTERS.host);
    let place = |at: u32| (cell + at) as i64;
    cx.load_word(own, stack_pointer, place(0));
    let is_own = cx.skip_if(Test::IsNotZero(Type::I64, own));
    cx.change_results(Results::Turned);
    leave(cx);
    cx.land_skip(is_own);
    let is_followed = cx.skip_if(Test::HasReason(Left::Tailed as u32));
    cx.copy_register(of_value, second);
    cx.copy_register(of_status, first);
    cx.copy_register(of_cell, own);
    cx.address(of_frame, stack_pointer, place(SLOTS));
    cx.load_word(of_context, stack_pointer, place(CONTEXT));
    cx.load_word(temp, of_cell, CallCell::HOST as i64);
    cx.call_at(Target::Word(temp, Host::RESUME as i64));
    cx.load_word(own, stack_pointer, place(0));
    let has_ended = skip_unless_tail_call(cx);
    cx.land_skip(is_followed);
    cx.load_word(host, own, CallCell::HOST as i64);
    enter_next_of_host(cx);
    cx.land_skip(has_ended);
    leave(cx);
}
