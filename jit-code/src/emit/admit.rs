//! The code before the frame of a function that other functions of bytecode call: it decides which calls enter the function.
//!
//! In: the calls that a function or an adapter takes. Out: code that sends all other calls elsewhere, and the offsets of the
//! entries. The code that sends them stands in front of the entries, so that the common case has no jump that is taken.

use super::Backend;
use super::assembler::{Target, Test};
use crate::call::{Accepts, AdapterAdmission, Admission, CallCell, Entries, SLACK};
use crate::unwind::StackFrame;
use azulejo_core::target::Reg;
use azulejo_core::vocab::Type;

/// The alignment of entries.
const ALIGNMENT: usize = 16;

/// In the register for the number of arguments, behind both entries of an adapter whose function takes arguments: this if they
/// are in memory, otherwise their number.
pub const IN_MEMORY: u64 = 0;

/// Makes this a function that other functions of bytecode call; returns the offset of the entry that they use. Calls with
/// another number of arguments take the cell's fallback, and those without room left on the stack fail.
pub(crate) fn admit_calls<M: Backend>(cx: &mut M, admission: &Admission<'_>, backtraces: bool) -> u32 {
    let Admission { arguments, cell } = *admission;
    cx.leaving.is_call_entry = true;
    cx.leaving.is_noted = backtraces;
    let stack_bytes = cx.frame.size() as usize;
    cx.leaving.host = core::ptr::from_ref(cell.host()).addr() as u64;
    cx.leaving.cell = core::ptr::from_ref(cell).addr() as u64;
    cx.leaving.resume = cell.resume();
    let is_deep = refuse(cx);
    let is_foreign = send_aside(cx);
    let entry = cx.here() as u32;
    cx.back_if(Test::Differs(M::REGISTERS.count, arguments), is_foreign);
    start_frame(cx, stack_bytes, is_deep);
    entry
}

/// Emits the code before an adapter's frame is made; returns its entries.
pub(super) fn admit_to_adapter<M: Backend>(
    cx: &mut M,
    admission: &AdapterAdmission<'_>,
    stack_bytes: usize,
) -> Entries {
    let AdapterAdmission { accepts, budget, cell, drops_surplus, .. } = *admission;
    let (count, count_in_memory) = (M::REGISTERS.count, M::REGISTERS.count_in_memory);
    cx.leaving.host = core::ptr::from_ref(cell.host()).addr() as u64;
    let is_deep = refuse(cx);
    let (is_used_up, entries) = match accepts {
        Accepts::Exactly(arguments) => {
            let is_foreign_in_memory = cx.here();
            jump_to_stub(cx, M::STUBS.unpack);
            let is_used_up = cx.here();
            if arguments > 0 {
                cx.back_if(Test::IsZero(Type::I32, count), is_foreign_in_memory);
            }
            jump_to_stub(cx, M::STUBS.resolve);
            let is_foreign = send_aside(cx);
            let entry = cx.here() as u32;
            cx.back_if(Test::Differs(count, arguments), is_foreign);
            let is_admitted = cx.skip_if(Test::Always);
            let from_memory = cx.here() as u32;
            cx.back_if(Test::Differs(count_in_memory, arguments), is_foreign_in_memory);
            cx.set_register(count, IN_MEMORY);
            cx.land_skip(is_admitted);
            (is_used_up, (entry, Some(from_memory)))
        }
        Accepts::UpTo(most) => {
            let is_the_hosts = cx.here();
            jump_to_stub(cx, M::STUBS.resolve);
            let has_surplus = cx.here();
            let goes_on = drops_surplus.then(|| {
                cx.set_register(count, most as u64);
                cx.skip_if(Test::Always)
            });
            align(cx);
            let entry = cx.here() as u32;
            cx.back_if(Test::Exceeds(count, most), if drops_surplus { has_surplus } else { is_the_hosts });
            goes_on.into_iter().for_each(|from| cx.land_skip(from));
            (is_the_hosts, (entry, None))
        }
    };
    if let Some(budget) = budget {
        cx.back_if(Test::IsUsedUp(budget), is_used_up);
    }
    start_frame(cx, stack_bytes, is_deep);
    entries
}

/// Looks whether there is room on the stack. The frame is made by the code that follows.
fn start_frame<M: Backend>(cx: &mut M, stack_bytes: usize, is_deep: usize) {
    let room = stack_bytes.saturating_sub(SLACK) as u32;
    let host = cx.leaving.host;
    cx.back_if(Test::IsDeep { host, room }, is_deep);
}

/// Emits the target of calls that have no room left on the stack; returns its offset.
fn refuse<M: Backend>(cx: &mut M) -> usize {
    let is_deep = cx.here();
    jump_to_stub(cx, M::STUBS.refuse);
    is_deep
}

fn jump_to_stub<M: Backend>(cx: &mut M, stub: *const u8) {
    let temp: Reg = M::REGISTERS.temp;
    cx.set_register(temp, stub.addr() as u64);
    cx.jump_at(Target::Register(temp));
}

/// Emits the target of calls with another number of arguments; returns its offset. An entry follows.
fn send_aside<M: Backend>(cx: &mut M) -> usize {
    let is_foreign = cx.here();
    cx.jump_at(Target::Word(M::REGISTERS.cell, CallCell::FALLBACK as i64));
    align(cx);
    is_foreign
}

/// Aligns the entry that follows.
fn align<M: Backend>(cx: &mut M) {
    let (start, end) = (cx.here(), cx.here().next_multiple_of(ALIGNMENT));
    cx.bytes.resize(end, 0);
    M::MACHINE.fill_up(&mut cx.bytes[start..], start);
}
