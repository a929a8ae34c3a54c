//! A tiny assembler: registers by the names of Rust's variables, labels by strings.
//!
//! In: a Rust function that writes one instruction after the other. Out: the code. The function runs twice: the second time all
//! labels are known.

use super::machine::Op;
use azulejo::{Code, Regs};
use std::collections::HashMap;

/// What a function of the machine is written with. The opcodes' methods are beside the opcodes.
#[derive(Default)]
pub(crate) struct Writer {
    ops: Vec<Op>,
    labels: HashMap<&'static str, u32>,
    registers: u32,
}

/// A function of the machine.
pub(crate) struct Written {
    pub(crate) code: Code<Op>,
    pub(crate) registers: u32,
}

/// Writes a function that takes so many arguments. Its registers are the closure, the arguments, and the rest.
pub(crate) fn function(arguments: u32, write: impl Fn(&mut Writer)) -> Written {
    let mut writer = Writer::default();
    write(&mut writer);
    let labels = writer.labels;
    let mut writer = Writer { labels, ..Writer::default() };
    write(&mut writer);
    let code = Code::from(writer.ops).with_arguments(1 + arguments);
    Written { code, registers: writer.registers }
}

impl Writer {
    pub(crate) fn write(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// The next registers.
    pub(crate) fn registers<const N: usize>(&mut self) -> [u32; N] {
        let first = self.registers;
        self.registers += N as u32;
        std::array::from_fn(|at| first + at as u32)
    }

    /// The next instruction has this label.
    pub(crate) fn label(&mut self, name: &'static str) {
        self.labels.insert(name, self.ops.len() as u32);
    }

    /// Where a label is. The first time through it may not be known yet.
    pub(crate) fn to(&self, name: &str) -> u32 {
        self.labels.get(name).copied().unwrap_or(0)
    }

    /// A run of registers, from one on.
    pub(crate) fn run(&self, first: u32, count: u32) -> Regs {
        Regs { first, count }
    }
}
