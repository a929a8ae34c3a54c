//! The few pieces of code by which calls are made. A real machine has them in assembly; here each is one instruction that has the
//! simulator do it.

use crate::instruction::{Code, Word};
use crate::regs::ARGUMENTS;
use crate::simulator;
use azulejo_code::call::{CallCell, MAX_REGISTER_ARGUMENTS, Stubs};

/// What the simulator is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Stub {
    /// Return to who entered the code.
    Halt,
    /// Take a call for which there is no code.
    Resolve,
    /// Take a call whose arguments are in memory.
    Unpack,
    /// Enter the pending tail call's function; the flag register has the host.
    EnterNext,
    /// The same; `x1` has a cell of the host's.
    EnterNextOfCell,
    /// Tell the host that a function fails: its cell is in `x2`, the bytecode in `x0`.
    Note,
    /// Take arguments from the stack that a stub has put there, and return to who called the stub.
    Drop,
}

impl Stub {
    const ALL: [Stub; 7] = [
        Stub::Halt,
        Stub::Resolve,
        Stub::Unpack,
        Stub::EnterNext,
        Stub::EnterNextOfCell,
        Stub::Note,
        Stub::Drop,
    ];

    pub(crate) fn of(word: Word) -> Stub {
        Stub::ALL[word.immediate() as usize]
    }

    /// Where it is.
    pub(crate) const fn address(self) -> *const u8 {
        (&raw const WORDS).cast::<u32>().wrapping_add(self as usize).cast()
    }
}

static WORDS: [u32; Stub::ALL.len()] = {
    let mut words = [0; Stub::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = Word::of(Code::Stub, [0; 3]).with(Stub::ALL[at] as i64).0;
        at += 1;
    }
    words
};

/// These stubs.
pub static STUBS: Stubs = Stubs {
    register_arguments: ARGUMENTS.len(),
    resolve: Stub::Resolve.address(),
    unpack: Stub::Unpack.address(),
    enter_next: Stub::EnterNext.address(),
    enter_next_of_cell: Stub::EnterNextOfCell.address(),
    note: Stub::Note.address(),
    call: |cell, context, args, count| {
        // SAFETY: the caller promises what the code relies on.
        unsafe { simulator::call(cell, context, args, count) }
    },
    set_tail_call: set_tail_call as *const u8,
    begin_tail_call: begin_tail_call as *const u8,
};

const _: () = assert!(ARGUMENTS.len() <= MAX_REGISTER_ARGUMENTS);

pub(crate) unsafe extern "C-unwind" fn set_tail_call(
    cell: &CallCell,
    context: *mut (),
    args: *const u64,
    count: usize,
) {
    let room = cell.host().begin_tail_call(cell, context, count);
    // SAFETY: compiled code says where its arguments are, and they are not in the host's memory.
    unsafe { room.copy_from_nonoverlapping(args, count) };
}

pub(crate) unsafe extern "C-unwind" fn begin_tail_call(
    cell: &CallCell,
    context: *mut (),
    count: usize,
) -> *mut u64 {
    cell.host().begin_tail_call(cell, context, count)
}
