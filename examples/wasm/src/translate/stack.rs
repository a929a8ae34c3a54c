//! The operand stack, whose values need not be in their registers.
//!
//! A value is in the register of its height, or it is a local or a constant that is read where it is. **Invariant:** no
//! local that is on the stack is written before its value was copied, and where control flow meets all values are in
//! their registers.

use super::{Next, Translator};
use crate::bytecode::{Kind, Op};
use azulejo::prelude::*;

/// Where a value on the stack is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// In the register of its height.
    Here,
    Local(u32),
    Constant(u64),
}

#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// More values than this are not kept in locals: so writing a local never has to look at many.
pub(super) const MOST_IN_LOCALS: usize = 32;

/// An opcode that there is for each kind of value.
macro_rules! for_kind {
    ($kind:expr, $($op:ident)* { $($field:ident),* }) => {
        for_kind!(@ $kind, [$($op)*] [I32 I64 F32 F64] ($($field),*))
    };
    (@ $kind:expr, [$($op:ident)*] [$($name:ident)*] $fields:tt) => {
        match $kind { $(Kind::$name => for_kind!(@@ $op $fields)),* }
    };
    (@@ $op:ident ($($field:ident),*)) => { Op::$op { $($field: $field.into()),* } };
}
pub(super) use for_kind;

pub(super) fn copy(kind: Kind, dst: u32, a: u32) -> Op {
    for_kind!(kind, CopyI32 CopyI64 CopyF32 CopyF64 { dst, a })
}

pub(super) fn constant(kind: Kind, dst: u32, bits: u64) -> Op {
    match kind {
        Kind::I32 => Op::ConstI32 { dst: dst.into(), value: Imm(bits as i32) },
        Kind::I64 => Op::ConstI64 { dst: dst.into(), value: Imm(bits as i64) },
        Kind::F32 => Op::ConstF32 { dst: dst.into(), value: Imm(bits as i32) },
        Kind::F64 => Op::ConstF64 { dst: dst.into(), value: Imm(bits as i64) },
    }
}

impl Translator<'_> {
    /// The register of a height of the stack.
    pub(super) fn register(&self, height: usize) -> u32 {
        (self.locals.len() + height) as u32
    }

    pub(super) fn push(&mut self, kind: Kind, place: Place) {
        if let Place::Local(_) = place {
            if self.in_locals.len() == MOST_IN_LOCALS {
                self.settle();
            }
            self.in_locals.push(self.stack.len());
        }
        self.stack.push(Value { kind, place });
        self.highest = self.highest.max(self.stack.len());
    }

    /// Where the result of the instruction goes that is emitted next.
    pub(super) fn result(&mut self, kind: Kind) -> u32 {
        match self.next {
            Next::Set(local) => {
                self.keep(local);
                self.next = Next::Done;
                local
            }
            Next::Tee(local) => {
                self.keep(local);
                self.push(kind, Place::Local(local));
                self.next = Next::Done;
                local
            }
            _ => {
                self.push(kind, Place::Here);
                self.register(self.stack.len() - 1)
            }
        }
    }

    pub(super) fn pop_value(&mut self) -> Value {
        let value = *self.stack.last().expect("the body is valid");
        self.truncate(self.stack.len() - 1);
        value
    }

    /// The register in which the top of the stack is.
    pub(super) fn pop(&mut self) -> u32 {
        let value = self.pop_value();
        let register = self.register(self.stack.len());
        match value.place {
            Place::Local(local) => return local,
            Place::Constant(bits) => self.emit(constant(value.kind, register, bits)),
            Place::Here => {}
        }
        register
    }

    /// The top of the stack, if it is a constant.
    pub(super) fn pop_constant(&mut self) -> Option<u64> {
        match self.stack.last()?.place {
            Place::Constant(bits) => {
                self.pop_value();
                Some(bits)
            }
            _ => None,
        }
    }

    /// Puts a value that is at this height of the stack into a register.
    pub(super) fn put(&mut self, Value { kind, place }: Value, height: usize, register: u32) {
        let from = self.register(height);
        match place {
            Place::Constant(bits) => self.emit(constant(kind, register, bits)),
            Place::Local(local) if local != register => self.emit(copy(kind, register, local)),
            Place::Here if from != register => self.emit(copy(kind, register, from)),
            _ => {}
        }
    }

    /// Has a value of the stack in the register of its height.
    pub(super) fn place(&mut self, height: usize) {
        self.put(self.stack[height], height, self.register(height));
        self.stack[height].place = Place::Here;
    }

    /// Copies what is on the stack of a local that is about to be written.
    pub(super) fn keep(&mut self, local: u32) {
        for at in (0..self.in_locals.len()).rev() {
            let height = self.in_locals[at];
            if self.stack[height].place == Place::Local(local) {
                self.place(height);
                self.in_locals.remove(at);
            }
        }
    }

    /// Has every value in its register, as wherever control flow meets.
    pub(super) fn settle(&mut self) {
        (self.settled..self.stack.len()).for_each(|height| self.place(height));
        self.in_locals.clear();
        self.settled = self.stack.len();
    }

    /// Has the topmost values in registers in a row, and takes them off the stack.
    pub(super) fn arguments(&mut self, count: usize) -> Regs {
        let height = self.stack.len() - count;
        (height..self.stack.len()).for_each(|height| self.place(height));
        self.truncate(height);
        Regs { first: self.register(height), count: count as u32 }
    }

    /// The register in which a value of the stack is, without taking it off.
    pub(super) fn readable(&mut self, height: usize) -> u32 {
        let register = self.register(height);
        match self.stack[height].place {
            Place::Local(local) => return local,
            _ => self.put(self.stack[height], height, register),
        }
        register
    }

    pub(super) fn truncate(&mut self, height: usize) {
        self.stack.truncate(height);
        self.settled = self.settled.min(height);
        while self.in_locals.last().is_some_and(|&last| last >= height) {
            self.in_locals.pop();
        }
    }
}
