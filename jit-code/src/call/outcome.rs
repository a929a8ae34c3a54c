//! The outcomes of calls, and calls of functions without code.

use super::CallCell;
use azulejo_core::vocab::Trap;
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

impl Outcome {
    /// The result, or why there is none, of a call that has not ended in a tail call.
    #[inline(always)]
    pub fn result(self) -> Result<u64, Trap> {
        Trap::from_code(self.trap as u32).map_or(Ok(self.value), Err)
    }
}

/// A call of a function that has no code to take it, or whose arguments the host has to change.
#[repr(C)]
#[derive(Debug)]
pub struct UnresolvedCall {
    /// The context.
    pub context: *mut (),
    cell: *const CallCell,
    count: u64,
    /// All arguments in a row: the stub puts those in registers in front of those on the stack. There are at least as many words as argument
    /// registers.
    arguments: *mut u64,
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
    /// Offset of the address of the arguments.
    pub const ARGUMENTS: usize = offset_of!(UnresolvedCall, arguments);
    /// Offset of the code to enter.
    pub const ENTRY: usize = offset_of!(UnresolvedCall, entry);
    /// Offset of the outcome's first word, if the call has ended.
    pub const VALUE: usize = offset_of!(UnresolvedCall, outcome.value);
    /// Offset of the outcome's second word.
    pub const TRAP: usize = offset_of!(UnresolvedCall, outcome.trap);

    /// The call cell of the function that was called.
    #[inline]
    pub fn cell(&self) -> &CallCell {
        // SAFETY: a call is made through a call cell, which outlives the call.
        unsafe { &*self.cell }
    }

    /// How many arguments the call has.
    #[inline]
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Whether the call can go on with this many arguments: none of them is put on the stack.
    #[inline]
    pub fn can_redirect(&self, count: usize) -> bool {
        count <= self.cell().host().stubs().register_arguments
    }

    /// Lets the call go on through the cell's [inner](CallCell::inner) cell, with this many of its arguments.
    #[inline]
    pub fn redirect(&mut self, count: usize) {
        debug_assert!(self.can_redirect(count), "{count} arguments");
        let inner = self.cell().inner();
        (self.cell, self.entry, self.count) = (inner, inner.entry(), count as u64);
    }

    /// The arguments that are passed in registers, which the call may have or not.
    #[inline]
    pub fn registers(&mut self) -> &mut [u64] {
        let count = self.cell().host().stubs().register_arguments;
        // SAFETY: the stub has made a copy of so many registers, which nobody else uses now.
        unsafe { core::slice::from_raw_parts_mut(self.arguments, count) }
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

    /// The bits of all arguments.
    #[inline]
    pub fn arguments(&self) -> &[u64] {
        // SAFETY: the caller has passed so many, and the stub has put them in a row. They stay until the call goes on.
        unsafe { core::slice::from_raw_parts(self.arguments, self.count()) }
    }
}
