//! Calls between functions of bytecode.
//!
//! For the caller: a call whose operands are in place becomes a call instruction. Behind the function's blocks stands an exit
//! for a callee that fails: the caller fails, too.
//!
//! For the callee: an [`Adapter`](azulejo_code::call::Adapter) (an entry thunk) takes calls for code that needs its arguments
//! in a frame, and makes the frame on the machine's stack. [`azulejo_code::call`] describes how calls are made.

use crate::abi::REGISTER_ARGUMENTS;
use crate::bare::turn;
use crate::emit::{Cond, Emitter, Options, Tile, jcc, stack_mem};
use crate::encode::{Alu, Immediate, Mem, jump_address};
use crate::frame::{Frame, drop_frame, leave, leave_failed, leave_unfinished, make_frame};
use crate::glue::STUBS;
use crate::machine::FILLER;
use crate::regs::*;
use azulejo_code::call::{
    Accepts, AdapterAdmission, Admission, CallCell, Entries, Host, SLACK, TAIL_CALL, TargetCode,
};
use azulejo_code::emit::by_hand;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::status::Left;
use azulejo_core::target::{Reg, RegSet};
use azulejo_core::vocab::{Trap, Type};
use core::ops::Range;
use dynasmrt::{DynasmApi, dynasm};

/// A failure exit, which is emitted behind all blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    block: Block,
    origin: u32,
}

/// Calls the function whose call cell is in `rsi`, and exits if it failed. `others` of the tile's operands are not arguments.
pub(crate) fn invoke(cx: &mut Emitter, tile: &Tile<'_>, others: usize) {
    cx.mov_imm(RAX.number(), (tile.operands() - others) as u64);
    cx.call(Mem::at(RSI.number(), 0));
    expect_result(cx, tile);
}

/// Calls the function whose call cell is in `rsi` with arguments that stay in memory, and exits if it failed.
pub(crate) fn invoke_from_memory(cx: &mut Emitter, tile: &Tile<'_>) {
    cx.call(Mem::at(RSI.number(), CallCell::UNPACK as i64));
    expect_result(cx, tile);
}

/// Emits the check after a call that may fail, of bytecode or of a native function. It exits if the call failed.
pub(crate) fn expect_result(cx: &mut Emitter, tile: &Tile<'_>) {
    cx.alu(Alu::Test, Type::I32, RDX.number(), RDX.number());
    let ends_alike = cx.is_call_entry && cx.noted.is_none();
    let shared = cx.failures.first().filter(|_| ends_alike).map(|failure| failure.block);
    let block = shared.unwrap_or_else(|| {
        let block = cx.add_block();
        cx.failures.push(Failure { block, origin: tile.origin });
        block
    });
    jcc(cx, Cond::Ne, block);
}

/// Leaves the function for the host's pending tail call.
pub(crate) fn tail(cx: &mut Emitter) {
    if !cx.is_call_entry {
        cx.mov_imm(RAX.number(), Left::Tailed.word(0));
        return leave_unfinished(cx);
    }
    enter_next(cx);
}

fn enter_next(cx: &mut Emitter) {
    cx.mov_imm(R11.number(), cx.host);
    enter_next_of_host(cx);
}

/// Drops the frame and enters the pending tail call's function; the host is in `r11`.
pub(crate) fn enter_next_of_host(cx: &mut Emitter) {
    drop_frame(cx);
    cx.jmp_to(Mem::at(R11.number(), Host::ENTER_NEXT as i64));
}

/// Leaves a function that its host has run to its end or to a tail call.
pub(crate) fn hand_on(cx: &mut Emitter) {
    let has_ended = skip_unless_tail_call(cx);
    enter_next(cx);
    cx.land(has_ended);
    leave(cx);
}

/// Skips the code that follows, unless the outcome of a function that the host ran is a tail call.
pub(crate) fn skip_unless_tail_call(cx: &mut Emitter) -> usize {
    dynasm!(cx; .arch x64; bt rdx, BYTE TAIL_CALL.trailing_zeros() as i8);
    cx.skip(Cond::Ae)
}

/// Sets `rdx` to zero: there is a result.
pub(crate) fn succeed(cx: &mut Emitter) {
    cx.alu(Alu::Xor, Type::I32, RDX.number(), RDX.number());
}

/// Emits the failure exits behind all blocks. The trap's code is in `edx`.
pub(crate) fn leave_behind_blocks(cx: &mut Emitter) {
    let failures = core::mem::take(&mut cx.failures);
    for Failure { block, origin } in &failures {
        cx.start(*block);
        match (cx.is_call_entry, cx.noted) {
            // All failures end in the same way, with the epilogue that follows.
            (true, None) => {}
            (true, Some(_)) => {
                cx.mov_imm(RAX.number(), *origin as u64);
                leave_failed(cx);
            }
            (false, _) => {
                cx.mov_imm(RAX.number(), Left::Trapped.word(0));
                cx.alu(Alu::Or, Type::I64, RAX.number(), RDX.number());
                cx.mov_imm(RDX.number(), *origin as u64);
                leave(cx);
            }
        }
    }
    if cx.is_call_entry && cx.noted.is_none() && !failures.is_empty() {
        leave(cx);
    }
}

/// Up to this many slots are cleared by one store each, more by a `rep stosq`.
const FEW: usize = 12;
/// As [`FEW`], for an adapter that takes any number of arguments.
const FEW_BESIDE_ARGUMENTS: usize = 24;
/// Up to this many arguments are copied one by one, so that a short jump reaches across the copies.
const FEW_ARGUMENTS: usize = 8;

/// An adapter for this code. It clears the `cleared` slots.
pub(crate) fn adapter(
    code: &TargetCode<Frame>,
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (Emitter, Entries) {
    match *code {
        TargetCode::RunsInFrame { frame, places, unit, start } => {
            into((frame, places, unit, start), admission, cleared, options)
        }
        TargetCode::TakesFrame { entry, third, stack_bytes, is_turned } => {
            around((entry, third, stack_bytes, is_turned), admission, cleared, options)
        }
    }
}

/// An adapter for baseline code: it makes the frame, and the code drops it and returns to the adapter's caller.
fn into(
    (frame, [cell, context, slots], unit, start): (Frame, [u32; 3], Option<u64>, *const ()),
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (Emitter, Entries) {
    let mut cx: Emitter = by_hand(options, frame);
    let entries = admit_to_adapter(&mut cx, admission, frame.size() as usize);
    let at = |place: u32| Mem::at(RSP.number(), place as i64);
    let slots = Slots { first: slots };
    make_frame(&mut cx);
    cx.store(Type::I64, at(cell), RSI.number());
    cx.store(Type::I64, at(context), RDI.number());
    if slots.fill(&mut cx, admission.accepts, cleared) {
        cx.load(Type::I64, R12.number(), at(context));
    } else {
        cx.mov(R12.number(), RDI.number());
    }
    cx.lea(true, RBX.number(), slots.at(0));
    if let Some(unit) = unit {
        cx.mov_imm(KEPT_CU.number(), unit);
    }
    jump_address(&mut cx, start.addr() as u64, R11.number());
    (cx, entries)
}

/// An adapter that calls code which takes a frame as an engine passes it, and that checks the returned status.
fn around(
    (entry, third, stack_bytes, is_turned): (*const u8, *const (), usize, bool),
    admission: &AdapterAdmission<'_>,
    cleared: &[u32],
    options: &Options,
) -> (Emitter, Entries) {
    // The slots, and the context behind them.
    let frame = Frame::new(RegSet::EMPTY, (admission.slots + 1) * 8, true, options.frame_pointers);
    let mut cx: Emitter = by_hand(options, frame);
    let entries = admit_to_adapter(&mut cx, admission, frame.size() as usize + stack_bytes);
    make_frame(&mut cx);
    let [rax, rcx, rdx, rsp] = [RAX, RCX, RDX, RSP].map(Reg::number);
    let [rsi, rdi, r8] = [RSI, RDI, R8].map(Reg::number);
    let slots = Slots { first: 0 };
    let context = slots.at(admission.slots);
    cx.store(Type::I64, context, rdi);
    if slots.fill(&mut cx, admission.accepts, cleared) {
        cx.load(Type::I64, rdi, context);
    }
    cx.mov(rsi, rsp);
    cx.mov_imm(rdx, third.addr() as u64);
    cx.call_address(entry.addr() as u64, rax);
    if is_turned {
        turn(&mut cx);
    }
    cx.alu(Alu::Test, Type::I64, rax, rax);
    let is_left = cx.skip(Cond::Ne);
    cx.mov(rax, rdx);
    succeed(&mut cx);
    leave(&mut cx);
    cx.land(is_left);
    cx.mov_imm(rcx, Left::Tailed.word(0));
    cx.alu(Alu::Cmp, Type::I64, rax, rcx);
    let has_no_successor = cx.skip(Cond::Ne);
    enter_next(&mut cx);
    cx.land(has_no_successor);
    cx.mov(r8, rdx);
    cx.mov(rcx, rax);
    cx.mov(rdx, rsp);
    cx.load(Type::I64, rsi, context);
    cx.mov_imm(rdi, core::ptr::from_ref(admission.cell).addr() as u64);
    cx.call_address(admission.cell.resume(), rax);
    hand_on(&mut cx);
    (cx, entries)
}

/// The slots of VM registers in a frame.
#[derive(Clone, Copy)]
struct Slots {
    first: u32,
}

impl Slots {
    fn at(self, slot: u32) -> Mem {
        Mem::at(RSP.number(), self.first as i64 + slot as i64 * 8)
    }

    /// Copies the arguments, from registers, stack or memory, into the slots, and clears others; returns whether `rdi` was
    /// changed.
    fn fill(self, cx: &mut Emitter, accepts: Accepts, zeros: &[u32]) -> bool {
        match accepts {
            Accepts::Exactly(arguments) => {
                self.take_arguments(cx, arguments);
                self.clear(cx, zeros);
                arguments as usize > FEW_ARGUMENTS || zeros.len() > FEW
            }
            Accepts::UpTo(most) => {
                self.clear_beside_arguments(cx, zeros);
                self.take_any_number(cx, most);
                true
            }
        }
    }

    /// Clears slots while the argument registers are live. Moves the number of arguments to `rsi`.
    fn clear_beside_arguments(self, cx: &mut Emitter, slots: &[u32]) {
        let [rax, rcx, rsi, rdi, r11] = [RAX, RCX, RSI, RDI, R11].map(Reg::number);
        cx.mov(rsi, rax);
        let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return };
        if slots.len() <= FEW_BESIDE_ARGUMENTS {
            cx.mov_imm(r11, 0);
            return slots.iter().for_each(|at| cx.store(Type::I64, self.at(*at), r11));
        }
        cx.mov(r11, rcx);
        cx.mov_imm(rax, 0);
        cx.mov_imm(rcx, (last - first) as u64 + 1);
        cx.lea(true, rdi, self.at(*first));
        dynasm!(cx; .arch x64; rep stosq);
        cx.mov(rcx, r11);
    }

    /// Copies as many arguments as `rsi` says. Clobbers all argument registers.
    fn take_any_number(self, cx: &mut Emitter, most: u32) {
        let [rax, rcx, rsi, rsp] = [RAX, RCX, RSI, RSP].map(Reg::number);
        let mut are_all_taken = Vec::new();
        for (at, reg) in (0..most).zip(&crate::abi::BYTECODE.int_args[1..]) {
            cx.alu(Alu::Cmp, Type::I32, rsi, Immediate(at as i64));
            are_all_taken.push(cx.skip(Cond::E));
            cx.store(Type::I64, self.at(at), reg.number());
        }
        if most as usize > REGISTER_ARGUMENTS {
            cx.mov(rcx, rsi);
            cx.alu(Alu::Sub, Type::I64, rcx, Immediate(REGISTER_ARGUMENTS as i64));
            are_all_taken.push(cx.skip(Cond::E));
            let again = cx.here();
            let word = |place: Mem| Mem { index: Some((rcx, 3)), disp: place.disp - 8, ..place };
            cx.load(Type::I64, rax, word(Mem::at(rsp, cx.frame.size() as i64)));
            cx.store(Type::I64, word(self.at(REGISTER_ARGUMENTS as u32)), rax);
            cx.alu(Alu::Sub, Type::I64, rcx, Immediate(1));
            cx.skip_back(Cond::Ne, again);
        }
        are_all_taken.into_iter().for_each(|from| cx.land(from));
    }

    fn take_arguments(self, cx: &mut Emitter, arguments: u32) {
        if arguments == 0 {
            return;
        }
        let [rax, rdx, rsi, rsp] = [RAX, RDX, RSI, RSP].map(Reg::number);
        cx.alu(Alu::Test, Type::I32, rax, rax);
        let is_in_registers = cx.skip(Cond::Ne);
        match arguments as usize {
            0..=FEW_ARGUMENTS => self.copy(cx, Mem::at(rdx, 0), 0..arguments),
            _ => {
                cx.mov(rsi, rdx);
                self.copy_many(cx, 0..arguments);
            }
        }
        let are_taken = cx.skip(None);
        cx.land(is_in_registers);
        for (at, reg) in (0..arguments).zip(&crate::abi::BYTECODE.int_args[1..]) {
            cx.store(Type::I64, self.at(at), reg.number());
        }
        let passed = cx.frame.size() as i64 - REGISTER_ARGUMENTS as i64 * 8;
        match arguments as usize {
            0..=REGISTER_ARGUMENTS => {}
            _ if arguments as usize <= FEW_ARGUMENTS => {
                self.copy(cx, Mem::at(rsp, passed), REGISTER_ARGUMENTS as u32..arguments)
            }
            _ => {
                cx.lea(true, rsi, Mem::at(rsp, passed + REGISTER_ARGUMENTS as i64 * 8));
                self.copy_many(cx, REGISTER_ARGUMENTS as u32..arguments);
            }
        }
        cx.land(are_taken);
    }

    /// Copies words to slots; `start` is the place of slot 0 in the source.
    fn copy(self, cx: &mut Emitter, start: Mem, slots: Range<u32>) {
        for at in slots {
            cx.load(Type::I64, RAX.number(), Mem { disp: start.disp + at as i32 * 8, ..start });
            cx.store(Type::I64, self.at(at), RAX.number());
        }
    }

    /// Copies words from the address in `rsi` to slots. Clobbers `rcx` and `rdi`.
    fn copy_many(self, cx: &mut Emitter, slots: Range<u32>) {
        cx.mov_imm(RCX.number(), slots.len() as u64);
        cx.lea(true, RDI.number(), self.at(slots.start));
        dynasm!(cx; .arch x64; rep movsq);
    }

    /// Clears slots, and possibly others between them. Clobbers `rcx` and `rdi` if there are many.
    fn clear(self, cx: &mut Emitter, slots: &[u32]) {
        let (Some(first), Some(last)) = (slots.first(), slots.last()) else { return };
        cx.mov_imm(RAX.number(), 0);
        if slots.len() <= FEW {
            return slots.iter().for_each(|at| cx.store(Type::I64, self.at(*at), RAX.number()));
        }
        cx.mov_imm(RCX.number(), (last - first) as u64 + 1);
        cx.lea(true, RDI.number(), self.at(*first));
        dynasm!(cx; .arch x64; rep stosq);
    }
}

/// In `rax`, behind both entries of an adapter whose function takes arguments: this if they are in memory, otherwise their
/// number.
const IN_MEMORY: u64 = 0;

/// Emits the code before an adapter's frame is made; returns its entries.
fn admit_to_adapter(cx: &mut Emitter, admission: &AdapterAdmission<'_>, stack_bytes: usize) -> Entries {
    let AdapterAdmission { accepts, budget, cell, .. } = *admission;
    let host = cell.host();
    let arguments = match accepts {
        Accepts::Exactly(arguments) => arguments,
        Accepts::UpTo(most) => return (admit_up_to(cx, most, budget, host, stack_bytes), None),
    };
    let [rax, r11] = [RAX, R11].map(Reg::number);
    cx.host = core::ptr::from_ref(host).addr() as u64;
    let is_deep = refuse(cx);
    let is_foreign_in_memory = cx.here();
    cx.mov_imm(r11, STUBS.unpack.addr() as u64);
    cx.jmp_to(r11);
    let is_used_up = cx.here();
    if arguments > 0 {
        cx.alu(Alu::Test, Type::I32, rax, rax);
        cx.skip_back(Cond::E, is_foreign_in_memory);
    }
    send_to_host(cx);
    let is_foreign = send_aside(cx);
    let entry = cx.here();
    expect_count(cx, RAX, arguments, is_foreign);
    let is_admitted = cx.skip(None);
    let from_memory = cx.here();
    expect_count(cx, RCX, arguments, is_foreign_in_memory);
    cx.mov_imm(rax, IN_MEMORY);
    cx.land(is_admitted);
    count_call(cx, budget, is_used_up);
    look_at_stack(cx, stack_bytes, is_deep);
    let here = cx.here() as u32;
    cx.frame.start_at(here);
    (entry as u32, Some(from_memory as u32))
}

/// Emits the code before the frame of an adapter that takes up to `most` arguments; returns its entry.
fn admit_up_to(
    cx: &mut Emitter,
    most: u32,
    budget: Option<*const i32>,
    host: &Host,
    stack_bytes: usize,
) -> u32 {
    cx.host = core::ptr::from_ref(host).addr() as u64;
    let is_deep = refuse(cx);
    let is_the_hosts = send_to_host(cx);
    align(cx);
    let entry = cx.here();
    cx.alu(Alu::Cmp, Type::I32, RAX.number(), Immediate(most as i64));
    cx.skip_back(Cond::A, is_the_hosts);
    count_call(cx, budget, is_the_hosts);
    look_at_stack(cx, stack_bytes, is_deep);
    let here = cx.here() as u32;
    cx.frame.start_at(here);
    entry as u32
}

/// Makes this a function that other functions of bytecode call; returns the offset of the entry that they use.
pub(crate) fn admit_calls(cx: &mut Emitter, admission: &Admission<'_>, backtraces: bool) -> u32 {
    cx.is_call_entry = true;
    cx.noted = backtraces.then(|| core::ptr::from_ref(admission.cell).addr() as u64);
    let stack_bytes = cx.frame.size() as usize;
    admit(cx, admission, stack_bytes)
}

/// Emits the code before the frame is made; returns the entry. Calls with another number of arguments take the cell's fallback,
/// and those without room left on the stack fail.
fn admit(cx: &mut Emitter, admission: &Admission<'_>, stack_bytes: usize) -> u32 {
    let Admission { arguments, cell } = *admission;
    cx.host = core::ptr::from_ref(cell.host()).addr() as u64;
    let is_deep = refuse(cx);
    let is_foreign = send_aside(cx);
    let entry = cx.here();
    expect_count(cx, RAX, arguments, is_foreign);
    look_at_stack(cx, stack_bytes, is_deep);
    let here = cx.here() as u32;
    cx.frame.start_at(here);
    entry as u32
}

/// Emits the target of calls that have no room left on the stack; returns its offset.
fn refuse(cx: &mut Emitter) -> usize {
    let is_deep = cx.here();
    cx.mov_imm(RDX.number(), Trap::StackOverflow.code() as u64);
    dynasm!(cx; .arch x64; ret);
    is_deep
}

/// Emits the target of calls that go to the host; returns its offset.
fn send_to_host(cx: &mut Emitter) -> usize {
    let is_the_hosts = cx.here();
    cx.mov_imm(R11.number(), STUBS.resolve.addr() as u64);
    cx.jmp_to(R11.number());
    is_the_hosts
}

/// Emits the target of calls with another number of arguments; returns its offset. An entry follows.
fn send_aside(cx: &mut Emitter) -> usize {
    let is_foreign = cx.here();
    cx.jmp_to(Mem::at(RSI.number(), CallCell::FALLBACK as i64));
    align(cx);
    is_foreign
}

/// Aligns the entry that follows.
fn align(cx: &mut Emitter) {
    while !cx.here().is_multiple_of(16) {
        cx.byte(FILLER);
    }
}

fn expect_count(cx: &mut Emitter, count: Reg, arguments: u32, is_foreign: usize) {
    cx.alu(Alu::Cmp, Type::I32, count.number(), Immediate(arguments as i64));
    cx.skip_back(Cond::Ne, is_foreign);
}

/// Counts a call down, if calls are counted.
fn count_call(cx: &mut Emitter, budget: Option<*const i32>, is_used_up: usize) {
    if let Some(budget) = budget {
        cx.mov_imm(R11.number(), budget.addr() as u64);
        cx.alu(Alu::Sub, Type::I32, Mem::at(R11.number(), 0), Immediate(1));
        cx.skip_back(Cond::S, is_used_up);
    }
}

fn look_at_stack(cx: &mut Emitter, stack_bytes: usize, is_deep: usize) {
    let [r11, rsp] = [R11, RSP].map(Reg::number);
    cx.mov_imm(r11, cx.host);
    let lowest = Mem::at(r11, Host::LOWEST as i64);
    match stack_bytes.checked_sub(SLACK) {
        None | Some(0) => cx.alu(Alu::Cmp, Type::I64, rsp, lowest),
        Some(more) => {
            cx.load(Type::I64, r11, lowest);
            cx.alu(Alu::Add, Type::I64, r11, Immediate(more as i64));
            cx.alu(Alu::Cmp, Type::I64, rsp, r11);
        }
    }
    cx.skip_back(Cond::B, is_deep);
}

/// The slots for VM registers, in a function that has its own.
pub(crate) fn vm_frame(cx: &Emitter) -> Mem {
    stack_mem(cx.room)
}

/// An argument that the caller put on the stack.
pub(crate) fn argument(cx: &Emitter, offset: i64) -> Mem {
    Mem::at(RSP.number(), cx.frame.size() as i64 + offset)
}
