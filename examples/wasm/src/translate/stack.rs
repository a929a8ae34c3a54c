//! The operand stack, which is materialized lazily.
//!
//! A value is in the register for its height, or it is a local or a constant, which is read in place. **Invariant:** a local
//! on the stack is copied before it is written, and where control flow merges all values are in
//! their registers. The register for a height is read once.

use super::Translator;
use crate::bytecode::{Kind, Op};
use azulejo::prelude::*;
use wasmparser::ValType;

/// The location of a value on the stack.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ValuePlace {
    /// In the register for its height. The number is that of the bytecode that wrote the value.
    Here(u32),
    Local(u32),
    Constant(u64),
}

#[derive(Clone, Copy)]
pub(super) struct StackValue {
    pub(super) kind: Kind,
    pub(super) place: ValuePlace,
}

/// The writer of a value where control flow merges: no single bytecode.
const NONE: u32 = u32::MAX;

/// The maximum number of values outside of their registers, which bounds the work of writing a local. Beyond it all are stored.
const MOST_UNSETTLED: usize = 32;

/// The variant of an opcode for a kind of value.
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
    /// The register for a stack height.
    pub(super) fn register(&self, height: usize) -> u32 {
        (self.locals.len() + height) as u32
    }

    pub(super) fn push(&mut self, kind: Kind, place: ValuePlace) {
        self.bound();
        self.add(kind, place);
    }

    /// Pushes the result of the next bytecode. Returns its register.
    pub(super) fn result(&mut self, kind: Kind) -> u32 {
        self.bound();
        self.add(kind, ValuePlace::Here(self.here()));
        self.register(self.stack.len() - 1)
    }

    /// Bounds the number of unsettled values.
    fn bound(&mut self) {
        if self.stack.len() - self.settled >= MOST_UNSETTLED {
            self.settle();
        }
    }

    fn add(&mut self, kind: Kind, place: ValuePlace) {
        self.stack.push(StackValue { kind, place });
        self.highest = self.highest.max(self.stack.len());
    }

    /// Writes the top of the stack to a local.
    pub(super) fn set_local(&mut self, local: u32) {
        let height = self.stack.len() - 1;
        let value = self.stack[height];
        match value.place {
            ValuePlace::Local(from) if from == local => {}
            ValuePlace::Here(by) if by.wrapping_add(1) == self.here() => {
                // The bytecode that computed the value writes the local instead. It moves behind the copies that preserve the
                // local's old value. These copy values below it on the stack: they neither read its result nor write its
                // operands.
                let mut op = self.ops.pop().expect("it wrote the value");
                self.keep(local);
                op.redirect(local);
                self.emit(op);
                self.stack[height].place = ValuePlace::Local(local);
            }
            place => {
                self.pop_value();
                self.keep(local);
                self.put(value, height, local);
                // From here on the value is read from where it is now.
                let place =
                    if matches!(place, ValuePlace::Here(_)) { ValuePlace::Local(local) } else { place };
                self.push(value.kind, place);
            }
        }
    }

    pub(super) fn pop_value(&mut self) -> StackValue {
        let value = self.stack.pop().expect("the body is valid");
        self.settled = self.settled.min(self.stack.len());
        value
    }

    /// Pops the top of the stack. Returns the register that holds it.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> u32 {
        let StackValue { kind, place } = self.pop_value();
        let register = self.register(self.stack.len());
        match place {
            ValuePlace::Local(local) => return local,
            ValuePlace::Constant(bits) => self.emit_constant(kind, register, bits),
            ValuePlace::Here(_) => {}
        }
        register
    }

    /// Constants rarely need to be in registers.
    #[cold]
    #[inline(never)]
    fn emit_constant(&mut self, kind: Kind, register: u32, bits: u64) {
        self.emit(constant(kind, register, bits));
    }

    /// Pops the top of the stack, if it is a constant.
    pub(super) fn pop_constant(&mut self) -> Option<u64> {
        match self.stack.last()?.place {
            ValuePlace::Constant(bits) => {
                self.pop_value();
                Some(bits)
            }
            _ => None,
        }
    }

    /// Copies a value at this height of the stack to a register.
    pub(super) fn put(&mut self, StackValue { kind, place }: StackValue, height: usize, register: u32) {
        let from = self.register(height);
        match place {
            ValuePlace::Constant(bits) => self.emit(constant(kind, register, bits)),
            ValuePlace::Local(local) if local != register => self.emit(copy(kind, register, local)),
            ValuePlace::Here(_) if from != register => self.emit(copy(kind, register, from)),
            _ => {}
        }
    }

    /// Moves a value of the stack to the register for its height.
    pub(super) fn place(&mut self, height: usize) {
        self.put(self.stack[height], height, self.register(height));
        self.stack[height].place = ValuePlace::Here(NONE);
    }

    /// Copies a local that is about to be written, if it is on the stack.
    fn keep(&mut self, local: u32) {
        for height in self.settled..self.stack.len() {
            if self.stack[height].place == ValuePlace::Local(local) {
                self.place(height);
            }
        }
    }

    /// Moves every value to its register, as is required where control flow merges.
    pub(super) fn settle(&mut self) {
        (self.settled..self.stack.len()).for_each(|height| self.place(height));
        self.settled = self.stack.len();
    }

    /// Moves the topmost values to consecutive registers, and pops them.
    pub(super) fn arguments(&mut self, count: usize) -> Regs {
        let height = self.stack.len() - count;
        (height..self.stack.len()).for_each(|height| self.place(height));
        self.truncate(height);
        Regs { first: self.register(height), count: count as u32 }
    }

    /// The register that holds a value of the stack, which is not popped.
    pub(super) fn readable(&mut self, height: usize) -> u32 {
        let register = self.register(height);
        match self.stack[height].place {
            ValuePlace::Local(local) => return local,
            _ => self.put(self.stack[height], height, register),
        }
        register
    }

    pub(super) fn truncate(&mut self, height: usize) {
        self.stack.truncate(height);
        self.settled = self.settled.min(height);
    }

    /// Pushes values that are in their registers, whichever path control took.
    pub(super) fn push_all(&mut self, types: &[ValType]) {
        types.iter().for_each(|&ty| self.add(ty.into(), ValuePlace::Here(NONE)));
        self.settled = self.stack.len();
    }
}
