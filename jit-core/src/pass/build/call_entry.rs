//! The call entry: how a function starts and ends that compiled callers enter by the bytecode convention.
//!
//! In: a function whose arguments are in machine registers and on the stack. Out: a graph in which VM registers have those values,
//! or are zero, from the start. Such code has no frame of slots, except for what must be in memory: register windows, and what the
//! interpreter needs at an exit. An exit calls the host to run the function to its end, and returns what that returns.

use super::alive::has;
use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::graph::{CallData, Effect, Target};
use crate::ir::index::Node;
use crate::ir::status::Left;
use crate::ir::template::{Convention, Signature};
use crate::vocab::{Op, Type};

/// What makes an exit's word that of [`Left::MovedOn`].
pub(super) const MOVED_ON: u64 = Left::MovedOn.word(0) & !Left::Exited.word(0);

const _: () = assert!(MOVED_ON | Left::Exited.word(0) == Left::MovedOn.word(0), "it only sets bits");

/// How compiled callers enter a function.
#[derive(Clone, Copy, Debug)]
pub struct CallEntry {
    /// The number of arguments.
    pub arguments: u32,
    /// How many of them the machine's convention passes in registers; at most as many as [`Op::ARGUMENTS`].
    pub in_registers: u32,
    /// What `(cu)` is.
    pub unit: u64,
    /// The address of the function's call cell.
    pub cell: u64,
    /// The address of the host's function that runs this one to its end after an exit. It takes the call cell, the context, the
    /// frame, and a status and a value as compiled code returns them.
    pub resume: u64,
}

impl Builder<'_> {
    /// Gives the registers that are needed at the start the arguments, and zero behind those.
    pub(super) fn take_arguments(&mut self, call_entry: CallEntry) {
        let at = self.source.entry as usize;
        debug_assert_eq!(at, 0, "a call starts at the start");
        for register in 0..self.source.slots {
            if !has(self.scratch.alive.needed(at), register) {
                continue;
            }
            let home = self.scratch.registers.home(register);
            let value = match register < call_entry.arguments {
                true => {
                    let argument = self.argument(register, call_entry.in_registers);
                    self.bits_as(argument, home)
                }
                false => self.graph.constant(home, 0, self.at),
            };
            self.scratch.registers.write(register, value);
        }
    }

    fn argument(&mut self, number: u32, in_registers: u32) -> Node {
        let (op, offset) = match number.checked_sub(in_registers) {
            None => (Op::ARGUMENTS[number as usize], 0),
            Some(on_stack) => (Op::ARGUMENT_ON_STACK, on_stack as u64 * SLOT_BYTES),
        };
        self.graph.add(op, WORD, &[], offset, self.at)
    }

    /// Ends the function with a result, or zero.
    pub(super) fn give_back(&mut self, value: Option<Node>) {
        match (value, self.source.call_entry) {
            (None, None) => self.leave(Op::RET, Type::Void, &[], 0),
            (Some(value), None) => {
                let ty = self.graph.node(value).ty();
                self.leave(Op::RETURN, ty, &[value], 0);
            }
            (value, Some(_)) => {
                let bits = match value {
                    Some(value) => self.widen(value),
                    None => self.graph.constant(Type::I64, 0, self.at),
                };
                self.leave(Op::GIVE, Type::I64, &[bits], 0);
            }
        }
    }

    /// Leaves compiled code for the interpreter, which finds all registers in their slots.
    pub(super) fn exit(&mut self, to: u64) {
        let Some(call_entry) = self.source.call_entry else {
            return self.leave(Op::EXIT_AT, Type::Void, &[], to);
        };
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        let frame = self.local();
        let mut number = |bits| self.graph.constant(Type::I64, bits, self.at);
        let inputs = [number(call_entry.cell), context, frame, number(Left::Exited.word(0) | to), number(0)];
        static TYPES: [Type; 5] = [Type::I64; 5];
        let signature = Signature { convention: Convention::SysV64, args: &TYPES, ret: Type::Void };
        let target = Target::Direct(call_entry.resume);
        self.graph.calls.push(CallData { target, signature, effect: Effect::Memory });
        let call = self.graph.calls.len() as u64 - 1;
        self.leave(Op::HAND_OVER, Type::Void, &inputs, call);
    }
}
