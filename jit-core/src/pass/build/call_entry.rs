//! The call entry: compiled callers enter a function by the bytecode convention.
//!
//! In: a function whose arguments are in machine registers and on the stack. Out: a graph in which VM registers have those
//! values from the start, or are zero. Such code has no frame of slots, except for values that must be in memory: register
//! windows, and all that calls may see which observe. An exit puts the values of registers into such a frame, and calls the host, which runs the function to its end and
//! returns its result.

use super::cursor::Cursor;
use super::values::ValueOperands;
use super::{FunctionSource, SLOT_BYTES, WORD};
use crate::ir::graph::Graph;
use crate::ir::index::Node;
use crate::ir::status::Left;
use crate::vocab::Op;
use core::ops::Range;

/// The bits that turn the word of an exit into that of [`Left::MovedOn`].
pub(super) const MOVED_ON: u64 = Left::MovedOn.word(0) & !Left::Exited.word(0);

/// The bits that turn the word of an exit into that of [`Left::Missed`].
pub(super) const MISSED: u64 = Left::Missed.word(0) & !Left::Exited.word(0);

const _: () = {
    assert!(MOVED_ON | Left::Exited.word(0) == Left::MovedOn.word(0), "it only sets bits");
    assert!(MISSED | Left::Exited.word(0) == Left::Missed.word(0), "it only sets bits");
};

/// The call entry of a function.
#[derive(Clone, Copy, Debug)]
pub struct CallEntry {
    /// The address of the function's call cell.
    pub cell: u64,
    /// The number of arguments.
    pub arguments: u32,
    /// How many of them the machine's convention passes in registers; at most as many as [`Op::ARGUMENTS`].
    pub in_registers: u32,
    /// The value of `(cu)`.
    pub unit: u64,
}

impl ValueOperands<'_> {
    /// Sets the registers that are live at the start to the arguments of the call.
    pub(super) fn take_arguments(&mut self, cursor: &mut Cursor<'_>, call_entry: CallEntry) {
        debug_assert_eq!(self.source.entry, 0, "a call starts at the start");
        // Some are stored.
        let block = core::mem::replace(&mut cursor.block, Graph::ENTRY);
        self.set_registers(cursor, (0..self.source.slots, 0), self.source, |cursor, number| {
            (number < call_entry.arguments).then(|| argument(cursor, number, call_entry.in_registers))
        });
        cursor.block = block;
    }

    /// Ends the block with a jump to the function's start, as a call of itself in its own place with these arguments.
    pub(super) fn start_again(&mut self, cursor: &mut Cursor<'_>, args: &[Node]) {
        self.set_registers(cursor, (0..self.source.slots, 0), self.source, |_, number| {
            args.get(number as usize).copied()
        });
        self.jump_into(cursor, cursor.at as usize + 1, 0);
    }

    /// Sets those of a function's registers that are live at its start, which has this place, to the bits of its arguments. Those whose
    /// argument is missing get the value for that, and all others zero.
    pub(super) fn set_registers(
        &mut self,
        cursor: &mut Cursor<'_>,
        (registers, start): (Range<u32>, usize),
        function: &FunctionSource<'_>,
        mut argument: impl FnMut(&mut Cursor<'_>, u32) -> Option<Node>,
    ) {
        let most = function.most_arguments();
        for register in registers.clone() {
            let is_captured = self.scratch.registers.is_captured(register);
            if !is_captured && !self.scratch.liveness.is_needed(register, start) {
                continue;
            }
            let home = self.scratch.registers.home(register);
            let number = register - registers.start;
            let value = match (number < most).then(|| argument(cursor, number)) {
                Some(Some(bits)) => cursor.bits_as(bits, home),
                Some(None) => cursor.constant(home, home.truncate(function.missing)),
                None => cursor.constant(home, 0),
            };
            self.set_register(cursor, register, value);
        }
    }
}

fn argument(cursor: &mut Cursor<'_>, number: u32, in_registers: u32) -> Node {
    let (op, offset) = match number.checked_sub(in_registers) {
        None => (Op::ARGUMENTS[number as usize], 0),
        Some(on_stack) => (Op::ARGUMENT_ON_STACK, on_stack as u64 * SLOT_BYTES),
    };
    cursor.add(op, WORD, &[], offset)
}
