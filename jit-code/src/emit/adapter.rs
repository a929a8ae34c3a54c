//! Adapters as machine code: entry thunks for code that needs its arguments in a frame.
//!
//! In: the function's code, and the calls that the adapter takes. Out: code that makes the frame on the machine's stack, puts
//! the arguments in, and calls or enters the function's code. [`crate::call`] describes how calls are made.

use super::admit::admit_to_adapter;
use super::assembler::{Results, Target, Test};
use super::leave::{enter_next, hand_on, succeed};
use super::{Backend, Frame, Options, by_hand, make_frame};
use crate::call::{AdapterAdmission, Entries, KeptValues, MissingArguments, TargetCode};
use crate::unwind::StackFrame;
use azulejo_core::ir::status::Left;
use azulejo_core::target::RegSet;
use azulejo_core::vocab::Type;

/// An adapter for this code, and its entries. It clears the `cleared` slots, none of which is an argument.
pub(crate) fn adapter<M: Backend>(
    code: &TargetCode<M::Frame>,
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (M, Entries) {
    match *code {
        TargetCode::RunsInFrame { frame, places, kept, start } => {
            into((frame, places, kept, start), admission, cleared, options)
        }
        TargetCode::TakesFrame { entry, third, stack_bytes, is_turned } => {
            around((entry, third, stack_bytes, is_turned), admission, cleared, options)
        }
    }
}

/// An adapter for baseline code: it makes the frame, and the code drops it and returns to the adapter's caller.
fn into<M: Backend>(
    (frame, [cell, context, slots], kept, start): (M::Frame, [u32; 3], KeptValues, *const ()),
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (M, Entries) {
    let stack_pointer = M::MACHINE.unwinding.stack_pointer;
    let [kept_context, kept_slots, kept_unit] = M::REGISTERS.kept;
    let mut cx: M = by_hand(options, frame);
    let entries = admit_to_adapter(&mut cx, admission, frame.size() as usize);
    make_frame(&mut cx);
    cx.store_word(stack_pointer, cell as i64, Some(M::REGISTERS.cell));
    cx.store_word(stack_pointer, context as i64, Some(M::REGISTERS.context));
    store_missing(&mut cx, slots, admission);
    match cx.fill_slots(slots, admission.placed, cleared) {
        true => cx.load_word(kept_context, stack_pointer, context as i64),
        false => cx.copy_register(kept_context, M::REGISTERS.context),
    }
    cx.address(kept_slots, stack_pointer, slots as i64);
    kept.each(kept_unit, M::REGISTERS.pinned).for_each(|(reg, bits)| cx.set_register(reg, bits));
    cx.jump_at(Target::Address(start.addr() as u64));
    (cx, entries)
}

/// Stores the value for missing arguments in all slots of those that a call may lack. The arguments that are there come later.
fn store_missing<M: Backend>(cx: &mut M, first: u32, admission: &AdapterAdmission<'_>) {
    let MissingArguments { slots, bits } = admission.missing;
    if slots.is_empty() {
        return;
    }
    cx.set_register(M::REGISTERS.temp, bits);
    for at in slots {
        let offset = first as i64 + *at as i64 * 8;
        cx.store_word(M::MACHINE.unwinding.stack_pointer, offset, Some(M::REGISTERS.temp));
    }
}

/// An adapter that calls code which takes a frame as an engine passes it, and that checks the returned status.
fn around<M: Backend>(
    (entry, third, stack_bytes, is_turned): (*const u8, *const (), usize, bool),
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (M, Entries) {
    let stack_pointer = M::MACHINE.unwinding.stack_pointer;
    let [first, second] = M::REGISTERS.results;
    let [entered_context, entered_frame, entered_third] = M::REGISTERS.entered_with;
    // The slots, and the context behind them.
    let frame = M::Frame::new(RegSet::EMPTY, (admission.slots + 1) * 8, true, options);
    let context = admission.slots as i64 * 8;
    let mut cx: M = by_hand(options, frame);
    let entries = admit_to_adapter(&mut cx, admission, frame.size() as usize + stack_bytes);
    make_frame(&mut cx);
    cx.store_word(stack_pointer, context, Some(M::REGISTERS.context));
    store_missing(&mut cx, 0, admission);
    if cx.fill_slots(0, admission.placed, cleared) {
        cx.load_word(entered_context, stack_pointer, context);
    }
    cx.copy_register(entered_frame, stack_pointer);
    cx.set_register(entered_third, third.addr() as u64);
    cx.call_at(Target::Address(entry.addr() as u64));
    if is_turned {
        cx.change_results(Results::Turned);
    }
    let is_left = cx.skip_if(Test::IsNotZero(Type::I64, first));
    cx.copy_register(first, second);
    succeed(&mut cx);
    cx.land_skip(is_left);
    let has_no_successor = cx.skip_if(Test::HasOtherStatus(Left::Tailed.word(0)));
    enter_next(&mut cx);
    cx.land_skip(has_no_successor);
    let [of_cell, of_context, of_frame, of_status, of_value] = M::REGISTERS.resume;
    cx.copy_register(of_value, second);
    cx.copy_register(of_status, first);
    cx.copy_register(of_frame, stack_pointer);
    cx.load_word(of_context, stack_pointer, context);
    cx.set_register(of_cell, core::ptr::from_ref(admission.cell).addr() as u64);
    cx.call_at(Target::Address(admission.cell.resume()));
    hand_on(&mut cx);
    (cx, entries)
}
