//! The ways out of functions, and the calls of others.
//!
//! In: an emitter, at a place where control leaves the function. Out: code that sets the result registers, drops the frame and
//! returns, or that jumps to existing code which ends alike. Only cold code shares its endings: in hot code a jump would cost
//! time, and in a stencil leaving is a jump already.

use super::assembler::{Results, Target, Test};
use super::{Backend, Frame, Goal, LEFT, NEXT, OUT};
use crate::call::{CallCell, Host, TAIL_CALL};
use azulejo_core::ir::index::Block;
use azulejo_core::ir::inlining::Inlining;
use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Type;

/// How a function is entered, and the code that it leaves by.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// Whether other functions of bytecode call the function, by their own convention.
    pub(super) is_call_entry: bool,
    /// The address of the function's host, if other functions call it.
    pub(super) host: u64,
    /// The address of its call cell, and that of the host's function that continues after an exit, if other functions call it.
    pub(super) cell: u64,
    pub(super) resume: u64,
    /// The code that exits with a state share.
    pub(super) with_state: Option<Block>,
    /// Whether other functions call it and its failures are noted.
    pub(super) is_noted: bool,
    /// The inlined calls, and whether their failures are noted.
    pub(super) inlining: Inlining,
    pub(super) notes_inlined: bool,
    /// Failure exits, which are emitted behind all blocks.
    failures: Vec<Failure>,
    /// The shared endings that cold code jumps to.
    endings: Vec<(Ending, Block)>,
}

impl Leaving {
    pub(super) fn clear(&mut self) {
        (self.is_call_entry, self.host, self.is_noted) = (false, 0, false);
        (self.cell, self.resume, self.with_state) = (0, 0, None);
        self.inlining.clear();
        self.notes_inlined = false;
        self.failures.clear();
        self.endings.clear();
    }
}

/// A failure exit.
#[derive(Clone, Copy, Debug)]
struct Failure {
    block: Block,
    origin: u32,
}

/// The endings that several cold blocks may share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// With the result registers as they are.
    AsItIs,
    /// With this status; the second result register stays as it is.
    WithStatus(u64),
    /// With this trap's code.
    Failed(u64),
    /// With a failure that is noted.
    Noted,
}

/// The limit on the number of different endings.
const MAX_ENDINGS: usize = 32;

/// In cold code, jumps to code with this ending, if there is any. If not, the code that follows is recorded as such.
fn ends_as_before<M: Backend>(cx: &mut M, ending: Ending) -> bool {
    let is_short = ending == Ending::AsItIs && cx.frame.has_short_epilogue();
    if !cx.is_cold || cx.is_stencil() || is_short {
        return false;
    }
    if let Some(&(_, block)) = cx.leaving.endings.iter().find(|(other, _)| *other == ending) {
        cx.jump_to(Goal::Block(block));
        return true;
    }
    if cx.leaving.endings.len() < MAX_ENDINGS {
        let block = cx.add_block();
        cx.start(block);
        cx.leaving.endings.push((ending, block));
    }
    false
}

/// Drops the frame, if it was made; the instruction that leaves the function follows.
fn drop_frame<M: Backend>(cx: &mut M) {
    if !cx.is_framed {
        return;
    }
    let here = cx.here() as u32;
    cx.leaves.push(here);
    cx.epilogue();
}

/// Leaves the function, with the result registers as they are.
pub fn leave<M: Backend>(cx: &mut M) {
    if cx.is_stencil() {
        return cx.jump_to(Goal::Exit(OUT));
    }
    if ends_as_before(cx, Ending::AsItIs) {
        return;
    }
    if !cx.leaving.is_noted && cx.is_framed {
        cx.land_faults();
    }
    drop_frame(cx);
    cx.jump_at(Target::Caller);
}

/// Leaves the function before its end.
pub fn leave_unfinished<M: Backend>(cx: &mut M) {
    match cx.is_stencil() {
        true => cx.jump_to(Goal::Exit(LEFT)),
        false => leave(cx),
    }
}

/// Leaves a function that fails. If failures are noted, the failing bytecode is in the first result register.
fn leave_failed<M: Backend>(cx: &mut M) {
    if !cx.leaving.is_noted {
        return leave(cx);
    }
    if ends_as_before(cx, Ending::Noted) {
        return;
    }
    cx.land_faults();
    drop_frame(cx);
    let cell = cx.leaving.cell;
    cx.set_register(M::REGISTERS.noted, cell);
    cx.load_word(M::REGISTERS.temp, M::REGISTERS.noted, CallCell::HOST as i64);
    cx.jump_at(Target::Word(M::REGISTERS.temp, Host::NOTE_STUB as i64));
}

/// Where an instruction of an inlined function fails: tells the host of that and of the callers around, if failures are noted. Returns the
/// bytecode at which the function itself fails. The trap's code may be in the second result register, and stays there.
fn leave_inlined<M: Backend>(cx: &mut M, origin: u32) -> u32 {
    let (frame, mut at) = cx.leaving.inlining.place(origin);
    let frames: Vec<(u64, u32)> =
        cx.leaving.inlining.around(frame).map(|frame| (frame.cell, frame.call)).collect();
    for (cell, call) in frames {
        if cx.leaving.notes_inlined {
            cx.set_register(M::REGISTERS.results[0], at as u64);
            cx.set_register(M::REGISTERS.noted, cell);
            cx.load_word(M::REGISTERS.temp, M::REGISTERS.noted, CallCell::HOST as i64);
            cx.call_at(Target::Word(M::REGISTERS.temp, Host::NOTE_STUB as i64));
        }
        at = call;
    }
    at
}

/// Leaves the function with a status; the value is in the second result register.
pub fn leave_with<M: Backend>(cx: &mut M, status: u64) {
    let [first, _] = M::REGISTERS.results;
    match status {
        0 => cx.clear_register(first),
        _ => cx.set_register(first, status),
    }
    leave(cx);
}

/// Leaves the function by a trap at a bytecode.
pub fn trap<M: Backend>(cx: &mut M, code: i64, at: u32) {
    let at = leave_inlined(cx, at);
    let status = Left::Trapped.word(code as u32);
    give_origin(cx, at);
    if !ends_as_before(cx, Ending::WithStatus(status)) {
        leave_with(cx, status);
    }
}

/// Sets the second result to the bytecode that fails; interpreted code gives its address.
fn give_origin<M: Backend>(cx: &mut M, origin: u32) {
    let second = M::REGISTERS.results[1];
    match cx.is_interpreted() {
        true => cx.copy_register(second, M::REGISTERS.interpreted[0]),
        false => cx.set_register(second, origin as u64),
    }
}

/// In interpreted code: leaves the function for the interpreter to resume at the bytecode whose address is in the second result
/// register.
pub fn leave_at<M: Backend>(cx: &mut M) {
    leave_with(cx, Left::Exited.word(0));
}

/// Leaves a function that other functions of bytecode call, by a trap.
pub fn fail_with<M: Backend>(cx: &mut M, code: i64, at: u32) {
    let [first, second] = M::REGISTERS.results;
    let at = leave_inlined(cx, at);
    if cx.leaving.is_noted {
        cx.set_register(first, at as u64);
    }
    if !ends_as_before(cx, Ending::Failed(code as u64)) {
        cx.set_register(second, code as u64);
        leave_failed(cx);
    }
}

/// Returns a result, which is in the first result register, to a function of bytecode.
pub fn succeed<M: Backend>(cx: &mut M) {
    cx.clear_register(M::REGISTERS.results[1]);
    leave(cx);
}

/// In a stencil: ends the block with an exit to another bytecode.
pub fn continue_at<M: Backend>(cx: &mut M, exit: i64) {
    if exit as u32 != NEXT || !cx.falls_through {
        cx.jump_to(Goal::Exit(exit as u32));
    }
}

/// Calls the function whose call cell is in its register, with this many arguments, and exits if it failed.
pub fn invoke<M: Backend>(cx: &mut M, arguments: usize, origin: u32) {
    try_invoke(cx, arguments);
    expect_result(cx, origin);
}

/// Calls the function whose call cell is in its register, with arguments that stay in memory, and exits if it failed.
pub fn invoke_from_memory<M: Backend>(cx: &mut M, origin: u32) {
    try_invoke_from_memory(cx);
    expect_result(cx, origin);
}

/// Calls the function whose call cell is in its register, with this many arguments. The code that follows looks whether it failed.
pub fn try_invoke<M: Backend>(cx: &mut M, arguments: usize) {
    cx.set_register(M::REGISTERS.count, arguments as u64);
    cx.call_at(Target::Word(M::REGISTERS.cell, CallCell::ENTRY as i64));
}

/// Likewise, with arguments that stay in memory.
pub fn try_invoke_from_memory<M: Backend>(cx: &mut M) {
    cx.call_at(Target::Word(M::REGISTERS.cell, CallCell::UNPACK as i64));
}

/// Emits the check after a call that may fail, of bytecode or of a native function. It exits if the call failed.
pub fn expect_result<M: Backend>(cx: &mut M, origin: u32) {
    let Leaving { is_call_entry, is_noted, ref failures, .. } = cx.leaving;
    let ends_alike = is_call_entry && !is_noted;
    let shared = failures.first().filter(|_| ends_alike).map(|failure| failure.block);
    let block = shared.unwrap_or_else(|| {
        let block = cx.add_block();
        cx.leaving.failures.push(Failure { block, origin });
        block
    });
    cx.branch_to(Test::IsNotZero(Type::I32, M::REGISTERS.results[1]), block);
}

/// Emits the code behind all blocks: the exits for callees that fail. The trap's code is in the second result register. A
/// function whose accesses may fault gets an epilogue, even if it never returns.
pub(super) fn finish<M: Backend>(cx: &mut M, may_fault: bool) {
    let first = M::REGISTERS.results[0];
    let failures = core::mem::take(&mut cx.leaving.failures);
    let (is_call_entry, is_noted) = (cx.leaving.is_call_entry, cx.leaving.is_noted);
    for Failure { block, origin } in &failures {
        cx.start(*block);
        let origin = &leave_inlined(cx, *origin);
        match (is_call_entry, is_noted) {
            // All failures end in the same way, with the epilogue that follows.
            (true, false) => {}
            (true, true) => {
                cx.set_register(first, *origin as u64);
                leave_failed(cx);
            }
            (false, _) => {
                cx.change_results(Results::Trapped);
                give_origin(cx, *origin);
                leave(cx);
            }
        }
    }
    if is_call_entry && !is_noted && !failures.is_empty() {
        leave(cx);
    }
    if may_fault && cx.is_interpreted() {
        // The handler gives the trap, and the registers tell the bytecode.
        cx.land_faults();
        let here = cx.here() as u32;
        cx.leaves.push(here);
        give_origin(cx, 0);
        leave(cx);
    } else if may_fault && cx.lands.is_none() && !cx.is_stencil() {
        leave_failed(cx);
    }
}

/// Leaves the function for the one whose call cell is in its register, with this many arguments, all in registers.
pub fn tail_invoke<M: Backend>(cx: &mut M, arguments: usize) {
    cx.set_register(M::REGISTERS.count, arguments as u64);
    drop_frame(cx);
    cx.jump_at(Target::Word(M::REGISTERS.cell, CallCell::ENTRY as i64));
}

/// Leaves the function for the host's pending tail call.
pub fn tail<M: Backend>(cx: &mut M) {
    if !cx.leaving.is_call_entry {
        cx.set_register(M::REGISTERS.results[0], Left::Tailed.word(0));
        return leave_unfinished(cx);
    }
    enter_next(cx);
}

pub(super) fn enter_next<M: Backend>(cx: &mut M) {
    let host = cx.leaving.host;
    cx.set_register(M::REGISTERS.host, host);
    enter_next_of_host(cx);
}

/// Drops the frame and enters the pending tail call's function; the host is in its register.
pub(super) fn enter_next_of_host<M: Backend>(cx: &mut M) {
    drop_frame(cx);
    cx.jump_at(Target::Word(M::REGISTERS.host, Host::ENTER_NEXT as i64));
}

/// Leaves a function that its host has run to its end or to a tail call.
pub fn hand_on<M: Backend>(cx: &mut M) {
    let has_ended = skip_unless_tail_call(cx);
    enter_next(cx);
    cx.land_skip(has_ended);
    leave(cx);
}

/// Skips the code that follows, unless the outcome of a function that the host ran is a tail call.
pub(super) fn skip_unless_tail_call<M: Backend>(cx: &mut M) -> usize {
    cx.skip_if(Test::LacksBit(M::REGISTERS.results[1], TAIL_CALL))
}
