//! The outcomes of calls, and calls of functions without code.

use super::{CallCell, MAX_REGISTER_ARGUMENTS};
use core::mem::offset_of;

/// Set in an outcome's `trap` when the function ended in a tail call, so that there is no result yet.
pub const TAIL_CALL: u64 = 1 << 32;

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The bits of the result.
    pub value: u64,
    /// A trap's code, or zero if there is a result; or [`TAIL_CALL`].
    pub trap: u64,
}

/// A call of a function that has no code to take it.
#[repr(C)]
#[derive(Debug)]
pub struct UnresolvedCall {
    /// The context.
    pub context: *mut (),
    cell: *const CallCell,
    count: u64,
    registers: [u64; MAX_REGISTER_ARGUMENTS],
    on_stack: *const u64,
    /// The code to enter; if it is null, the call has ended.
    pub entry: *const u8,
    outcome: Outcome,
}

impl UnresolvedCall {
    /// Offset of the context, for the stub that fills it in.
    pub const CONTEXT: usize = offset_of!(UnresolvedCall, context);
    /// Offset of the callee's cell.
    pub const CELL: usize = offset_of!(UnresolvedCall, cell);
    /// Offset of the number of arguments.
    pub const COUNT: usize = offset_of!(UnresolvedCall, count);
    /// Offset of the arguments in registers.
    pub const REGISTERS: usize = offset_of!(UnresolvedCall, registers);
    /// Offset of the address of the arguments on the stack.
    pub const ON_STACK: usize = offset_of!(UnresolvedCall, on_stack);
    /// Offset of the code to enter.
    pub const ENTRY: usize = offset_of!(UnresolvedCall, entry);
    /// Offset of the outcome's first word, if the call has ended.
    pub const VALUE: usize = offset_of!(UnresolvedCall, outcome.value);
    /// Offset of the outcome's second word.
    pub const TRAP: usize = offset_of!(UnresolvedCall, outcome.trap);

    /// The call cell of the function that was called.
    pub fn cell(&self) -> &CallCell {
        // SAFETY: a call is made through a call cell, which outlives the call.
        unsafe { &*self.cell }
    }

    /// How many arguments the call has.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Whether the call can go on with this many arguments: none of them is put on the stack.
    pub fn can_redirect(&self, count: usize) -> bool {
        count <= self.cell().host().stubs().register_arguments
    }

    /// Lets the call go on through the cell's [inner](CallCell::inner) cell, with this many of its arguments.
    pub fn redirect(&mut self, count: usize) {
        assert!(self.can_redirect(count), "{count} arguments");
        let inner = self.cell().inner();
        (self.cell, self.entry, self.count) = (inner, inner.entry(), count as u64);
    }

    /// The arguments that are passed in registers, which the call may have or not.
    pub fn registers(&mut self) -> &mut [u64] {
        let count = self.cell().host().stubs().register_arguments;
        &mut self.registers[..count]
    }

    /// Ends the call with this outcome.
    pub fn end(&mut self, outcome: Outcome) {
        self.entry = core::ptr::null();
        self.outcome = outcome;
    }

    /// Continues the call in the pending tail call's function.
    pub fn enter_next(&mut self) {
        self.entry = self.cell().host().stubs().enter_next_of_cell;
    }

    /// An argument's bits.
    pub fn argument(&self, at: usize) -> u64 {
        assert!(at < self.count(), "there are {} arguments", self.count);
        match at.checked_sub(self.cell().host().stubs().register_arguments) {
            None => self.registers[at],
            // SAFETY: the caller stored all other arguments there.
            Some(at) => unsafe { *self.on_stack.add(at) },
        }
    }
}
