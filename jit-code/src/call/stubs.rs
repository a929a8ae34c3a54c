//! The few pieces of machine code by which calls are made, whichever function is called.

use super::{CallCell, Outcome};

/// A machine's code for calls. Registers are those of the machine's convention.
#[derive(Debug)]
pub struct Stubs {
    /// How many arguments are passed in registers, the context not counted; at most [`MAX_REGISTER_ARGUMENTS`](super::MAX_REGISTER_ARGUMENTS).
    pub register_arguments: usize,
    /// Takes calls for which there is no code: asks the host's `resolve`.
    pub resolve: *const u8,
    /// Takes calls whose arguments are in memory, loads them, and enters the cell's `entry`.
    pub unpack: *const u8,
    /// Enters the pending tail call's function. The host is in a register, and the stack is as it was when the function that
    /// has ended was entered.
    pub enter_next: *const u8,
    /// The same where the register holds a cell instead of its host.
    pub enter_next_of_cell: *const u8,
    /// Calls the host's `note`; keeps the trap that is given back.
    pub note: *const u8,
    /// Makes a call with arguments from memory, where there are at least as many as are passed in registers.
    pub call: unsafe fn(&CallCell, *mut (), *const u64, usize) -> Outcome,
    /// What templates call to announce a tail call: with the cell, the context, the arguments' address and their number.
    pub set_tail_call: *const u8,
    /// The same for who writes the arguments himself, where this says.
    pub begin_tail_call: *const u8,
}

// SAFETY: what the addresses are of is code, which nobody changes.
unsafe impl Send for Stubs {}
// SAFETY: as above.
unsafe impl Sync for Stubs {}
