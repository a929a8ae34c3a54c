//! How a function starts and ends that others of bytecode call by their own convention.
//!
//! In: a function whose arguments are in machine registers and on the stack. Out: a graph in which VM registers have those
//! values, or are zero, from the start. There is no frame to begin with. One is there for what must be in memory: register
//! windows, and what the interpreter needs where compiled code is left. It is then called, and what it returns is returned.

use super::alive::has;
use super::{Builder, SLOT_BYTES, WORD};
use crate::ir::graph::{CallData, Effect, Target};
use crate::ir::index::Node;
use crate::ir::template::{Convention, Signature};
use crate::vocab::{Op, Type};

/// The first word that compiled code returns is this, and the bytecode to go on at, where it is left before its end.
pub const EXITED: u64 = 1 << 32;
/// Set in that word, too, where the code was left because it is for an inner loop, and control comes to the head of one
/// around it.
pub const MOVED_ON: u64 = 4 << 32;
/// It is this, and the trap's code, where it trapped. The second word is the bytecode that did.
pub const TRAPPED: u64 = 2 << 32;

/// It is this where another function takes this one's place.
pub const TAILED: u64 = 3 << 32;

/// How a function is called.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// With how many arguments.
    pub arguments: u32,
    /// What `(cu)` is.
    pub unit: u64,
    /// The address of the function's call cell.
    pub cell: u64,
    /// The address of a function that runs this one to its end where its code is left. It takes the call cell, the
    /// context, the frame, and a status and a value as compiled code returns them.
    pub resume: u64,
}

impl Builder<'_> {
    /// Gives the registers that are needed at the start the arguments, and zero behind those.
    pub(super) fn take_arguments(&mut self, called: Called) {
        let at = self.source.entry as usize;
        debug_assert_eq!(at, 0, "a call starts at the start");
        for register in 0..self.source.slots {
            if !has(self.scratch.alive.needed(at), register) {
                continue;
            }
            let home = self.scratch.registers.home(register);
            let value = match register < called.arguments {
                true => {
                    let argument = self.argument(register);
                    self.bits_as(argument, home)
                }
                false => self.graph.constant(home, 0, self.at),
            };
            self.scratch.registers.write(register, value);
        }
    }

    fn argument(&mut self, number: u32) -> Node {
        match Op::ARGUMENTS.get(number as usize) {
            Some(op) => self.graph.add(*op, WORD, &[], 0, self.at),
            None => {
                let number = number as u64 - Op::ARGUMENTS.len() as u64;
                self.graph.add(Op::ARGUMENT_ON_STACK, WORD, &[], number * SLOT_BYTES, self.at)
            }
        }
    }

    /// Ends the function with a result, or zero.
    pub(super) fn give_back(&mut self, value: Option<Node>) {
        match (value, self.source.called) {
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
        let Some(called) = self.source.called else {
            return self.leave(Op::EXIT_AT, Type::Void, &[], to);
        };
        let context = self.graph.add(Op::TC, WORD, &[], 0, self.at);
        let frame = self.local();
        let mut number = |bits| self.graph.constant(Type::I64, bits, self.at);
        let inputs = [number(called.cell), context, frame, number(EXITED | to), number(0)];
        static TYPES: [Type; 5] = [Type::I64; 5];
        let signature = Signature { convention: Convention::SysV64, args: &TYPES, ret: Type::Void };
        let target = Target::Direct(called.resume);
        self.graph.calls.push(CallData { target, signature, effect: Effect::Memory });
        let call = self.graph.calls.len() as u64 - 1;
        self.leave(Op::HAND_OVER, Type::Void, &inputs, call);
    }
}
