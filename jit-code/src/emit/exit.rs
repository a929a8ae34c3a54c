//! Exits with a frame state.
//!
//! In: an instruction that leaves the function with a state. Out: its record, code that notes the record and jumps, and, behind all
//! blocks, the code that all these exits share.

use super::assembler::Target;
use super::leave::{hand_on, leave};
use super::{Backend, Tile, slot_offset};
use crate::exit::{FrameAt, Held, Records};
use azulejo_core::ir::assignment::Loc;
use azulejo_core::ir::inlining::{InlinedFrame, LeftFrame};
use azulejo_core::ir::state::{SavedValue, StateRegister, TileState};
use azulejo_core::ir::status::Left;

/// Leaves the function with a frame state. The frame of a function that others of bytecode call is its own.
pub fn leave_with_state<M: Backend>(cx: &mut M, t: &Tile<'_, M>) {
    let TileState { to, saved, frame: inlined } = t.list.states[t.imm(0) as usize];
    let mut operands = t.list.operands[t.operands.range()].iter().zip(t.locs).map(|(operand, loc)| {
        let ty = t.list.vregs[operand.vreg.at()].ty;
        match *loc {
            Loc::Reg(reg) => Held::Register(reg.number(), ty),
            Loc::Slot(slot) => Held::Stack(slot_offset(t.list.out_args, slot), ty),
            Loc::OutArg(_) => unreachable!("a value is in no call's arguments where control leaves"),
        }
    });
    let mut next = || operands.next().expect("a state has an operand for each value");
    let first = next();
    let values = t.list.saved[saved.range()].iter().map(|saved| {
        let held = match saved.value {
            SavedValue::Operand => next(),
            SavedValue::Constant(bits) => Held::Constant(bits),
        };
        (saved.to, held)
    });
    let mut frames: Vec<&InlinedFrame> = t.list.inlining.around(inlined).collect();
    frames.reverse();
    let frame = if cx.leaving.is_call_entry { FrameAt::Stack(cx.room) } else { FrameAt::First };
    let records = cx.records.get_or_insert_with(|| Box::new(Records::new(t.list.boxes)));
    let record = match frames[..] {
        [] => records.add(Left::Exited.word(0) | to, frame, first, values),
        [outermost, ..] => {
            let values: Vec<(StateRegister, Held)> = values.collect();
            let n_own = values.partition_point(|(to, _)| to.register < outermost.first_register);
            let status = Left::Inlined.word(outermost.call + 1);
            let record = records.add(status, frame, first, values[..n_own].iter().copied());
            add_inlined(records, to, &frames, &values[n_own..]);
            record
        }
    };
    let common = match cx.leaving.with_state {
        Some(block) => block,
        None => {
            let block = cx.add_block();
            *cx.leaving.with_state.insert(block)
        }
    };
    cx.leave_noting(record, common);
}

/// Adds the inlined calls that an exit leaves to its record; control goes on in the innermost, which comes last.
fn add_inlined(
    records: &mut Records,
    to: u64,
    frames: &[&InlinedFrame],
    mut values: &[(StateRegister, Held)],
) {
    let first_of = |number: usize| frames.get(number).map_or(u32::MAX, |frame| frame.first_register);
    let is_miss = Left::of_exit(to) == Some(Left::Missed);
    let inlined = frames.iter().enumerate().map(|(number, frame)| {
        let InlinedFrame { function, first_register, call, shown, result, .. } = **frame;
        let around = number.checked_sub(1).map_or(0, |around| frames[around].first_register);
        let at = frames.get(number + 1).map_or(to as u32, |inner| inner.call + 1);
        let result = result.map(|(register, ty)| (register - around, ty));
        let left = LeftFrame { function, call, shown, result, at, registers: Vec::new() };
        let end = values.partition_point(|(to, _)| to.register < first_of(number + 1));
        let (own, others) = values.split_at(end);
        values = others;
        let of_frame = move |(to, held): &(StateRegister, Held)| {
            (StateRegister { register: to.register - first_register, ..*to }, *held)
        };
        (left, own.iter().map(of_frame))
    });
    records.add_inlined(is_miss, inlined);
}

/// Emits the code that the exits share, if there are any.
pub(super) fn finish<M: Backend>(cx: &mut M) {
    let Some(common) = cx.leaving.with_state.take() else { return };
    cx.start(common);
    let records: *const _ = &**cx.records.as_ref().expect("each exit has a record");
    cx.store_state(records);
    if !cx.leaving.is_call_entry {
        return leave(cx);
    }
    let [status, context] = M::REGISTERS.results;
    let [of_cell, of_context, of_frame, of_status, of_value] = M::REGISTERS.resume;
    cx.copy_register(of_context, context);
    cx.copy_register(of_status, status);
    let room = cx.room;
    cx.address(of_frame, M::MACHINE.unwinding.stack_pointer, room as i64);
    cx.clear_register(of_value);
    let (cell, resume) = (cx.leaving.cell, cx.leaving.resume);
    cx.set_register(of_cell, cell);
    cx.call_at(Target::Address(resume));
    hand_on(cx);
}
