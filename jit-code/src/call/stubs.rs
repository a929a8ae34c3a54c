//! The few pieces of machine code by which calls are made. They do not depend on the callee.

use super::{CallCell, Outcome};

/// A machine's code for calls. Registers are those of the machine's convention.
#[derive(Debug)]
pub struct Stubs {
    /// How many arguments are passed in registers, without the context; at most
    /// [`MAX_REGISTER_ARGUMENTS`](super::MAX_REGISTER_ARGUMENTS).
    pub register_arguments: usize,
    /// Takes calls for which there is no code: asks the host's `resolve`.
    pub resolve: *const u8,
    /// Takes calls whose surplus of arguments becomes one value: asks the host's `pack`. It may be the same as `resolve`, if a host's `resolve`
    /// does that as well.
    pub pack: *const u8,
    /// Takes calls whose arguments are in memory, loads them, and enters the cell's `entry`.
    pub unpack: *const u8,
    /// Enters the pending tail call's function. The host is in a register, and the stack is as it was at the entry of the
    /// function that has ended.
    pub enter_next: *const u8,
    /// Enters the pending tail call's function; the register holds a cell instead of its host.
    pub enter_next_of_cell: *const u8,
    /// Calls the host's `note`, and preserves the trap that the function returns.
    pub note: *const u8,
    /// Takes calls for which there is no room on the stack, before they have a frame: asks the host's `refuse`, and fails.
    pub refuse: *const u8,
    /// Makes a call with arguments from memory, which must hold at least as many words as there are argument registers.
    pub call: unsafe fn(&CallCell, *mut (), *const u64, usize) -> Outcome,
    /// The function by which templates announce a tail call: it takes the cell, the context, the arguments' address and their
    /// number.
    pub set_tail_call: *const u8,
    /// The function by which code announces a tail call whose arguments it writes itself, to the address that this returns.
    pub begin_tail_call: *const u8,
    /// The function that code calls when a failure goes no further: it takes the cell of the function that failed and the trap's
    /// code, and returns the code of the trap that the caller sees.
    pub caught: *const u8,
    /// How functions are called that machine code interprets, if the machine has these stubs.
    pub interpreted: Option<InterpretedStubs>,
}

/// A machine's code for calls of functions that machine code interprets. A call makes a frame with the function's slots on the
/// machine's stack, and enters the first bytecode's code.
#[derive(Debug)]
pub struct InterpretedStubs {
    /// Takes calls whose arguments are in registers and on the stack.
    pub call: *const u8,
    /// Takes calls whose arguments are in memory.
    pub call_from_memory: *const u8,
    /// Leaves a function that was called so and has no result, with the two result registers as opcodes leave them.
    pub leave: *const u8,
}

// SAFETY: the addresses are of code, which never changes.
unsafe impl Send for Stubs {}
// SAFETY: as above.
unsafe impl Sync for Stubs {}
