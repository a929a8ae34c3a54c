//! The few pieces of code by which calls are made. A real machine has them in assembly; here each is one instruction, which the
//! simulator executes.

use crate::instruction::{Code, Word};
use crate::regs::ARGUMENTS;
use crate::simulator;
use azulejo_code::call::{MAX_REGISTER_ARGUMENTS, Stubs};

/// The action of the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Stub {
    /// Stop, and return to the caller of the simulator.
    Halt,
    /// Take a call of a function without code.
    Resolve,
    /// Take a call whose arguments are in memory.
    Unpack,
    /// Enter the pending tail call's function; the flag register holds the host.
    EnterNext,
    /// Enter the pending tail call's function; `x1` holds a cell of the host.
    EnterNextOfCell,
    /// Tell the host that a function fails: its cell is in `x2`, the failing bytecode in `x0`.
    Note,
    /// Ask the host to refuse a call for which there is no room: the callee's cell is in `x1`, the context in `x0`.
    Refuse,
    /// Store the values of an exit, whose record is in the flag register; the address of the records is in `temp`. Go on behind
    /// the instruction, with the status and the record's first value in the result registers.
    StoreState,
    /// Drop the arguments that a stub has put on the stack, and return to the stub's caller.
    Drop,
}

impl Stub {
    const ALL: [Stub; 9] = [
        Stub::Halt,
        Stub::Resolve,
        Stub::Unpack,
        Stub::EnterNext,
        Stub::EnterNextOfCell,
        Stub::Note,
        Stub::Refuse,
        Stub::StoreState,
        Stub::Drop,
    ];

    pub(crate) fn of(word: Word) -> Stub {
        Stub::ALL[word.immediate() as usize]
    }

    /// The address of the stub.
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

/// The stubs as call cells and hosts refer to them.
pub static STUBS: Stubs = Stubs {
    register_arguments: ARGUMENTS.len(),
    resolve: Stub::Resolve.address(),
    // Engines pack in `resolve`, too.
    pack: Stub::Resolve.address(),
    unpack: Stub::Unpack.address(),
    enter_next: Stub::EnterNext.address(),
    enter_next_of_cell: Stub::EnterNextOfCell.address(),
    note: Stub::Note.address(),
    refuse: Stub::Refuse.address(),
    call: |cell, context, args, count| {
        // SAFETY: the caller guarantees what the code relies on.
        unsafe { simulator::call(cell, context, args, count) }
    },
    set_tail_call: set_tail_call as *const u8,
    begin_tail_call: begin_tail_call as *const u8,
    caught: caught as *const u8,
    // Calls of interpreted functions go to the engine.
    interpreted: None,
};

const _: () = assert!(ARGUMENTS.len() <= MAX_REGISTER_ARGUMENTS);

azulejo_code::engine_functions!("C-unwind");
