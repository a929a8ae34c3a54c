//! How calls end, and calls that no code takes.

use super::{CallCell, MAX_REGISTER_ARGUMENTS};
use core::mem::offset_of;

/// Set in an outcome's `trap` when the function ended in a tail call, so that there is no result yet.
pub const TAIL_CALL: u64 = 1 << 32;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The bits of the result.
    pub value: u64,
    /// A trap's code, or zero if there is a result; or [`TAIL_CALL`].
    pub trap: u64,
}

/// A call of a function that has no code for it.
#[repr(C)]
#[derive(Debug)]
pub struct UnresolvedCall {
    /// The context.
    pub context: *mut (),
    cell: *const CallCell,
    count: u64,
    registers: [u64; MAX_REGISTER_ARGUMENTS],
    on_stack: *const u64,
    /// Where the call goes on; if it is null, it has ended.
    pub entry: *const u8,
    outcome: Outcome,
}

impl UnresolvedCall {
    /// Where in it these are, for the stub that writes it down.
    pub const CONTEXT: usize = offset_of!(UnresolvedCall, context);
    /// The callee's cell.
    pub const CELL: usize = offset_of!(UnresolvedCall, cell);
    /// The number of arguments.
    pub const COUNT: usize = offset_of!(UnresolvedCall, count);
    /// The arguments in registers.
    pub const REGISTERS: usize = offset_of!(UnresolvedCall, registers);
    /// The address of those on the stack.
    pub const ON_STACK: usize = offset_of!(UnresolvedCall, on_stack);
    /// Where the call goes on.
    pub const ENTRY: usize = offset_of!(UnresolvedCall, entry);
    /// What is given back if it has ended.
    pub const VALUE: usize = offset_of!(UnresolvedCall, outcome.value);
    /// The same.
    pub const TRAP: usize = offset_of!(UnresolvedCall, outcome.trap);

    /// The call cell of the function that was called.
    pub fn cell(&self) -> &CallCell {
        // SAFETY: a call is made with a call cell, which stays.
        unsafe { &*self.cell }
    }

    /// How many arguments it was given.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The call has ended so.
    pub fn end(&mut self, outcome: Outcome) {
        self.entry = core::ptr::null();
        self.outcome = outcome;
    }

    /// The call goes on in the function that runs next.
    pub fn enter_next(&mut self) {
        self.entry = self.cell().host().stubs().enter_next_of_cell;
    }

    /// An argument's bits.
    pub fn argument(&self, at: usize) -> u64 {
        assert!(at < self.count(), "there are {} arguments", self.count);
        match at.checked_sub(self.cell().host().stubs().register_arguments) {
            None => self.registers[at],
            // SAFETY: the caller stored all others there.
            Some(at) => unsafe { *self.on_stack.add(at) },
        }
    }
}
