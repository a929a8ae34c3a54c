//! The machine-independent part of code generation: how machine code is put together, and what it needs to run.
//!
//! In: tile lists and bytecode; a [`Backend`](emit::Backend), which emits a machine's instructions, and a [`Machine`], the data
//! in which machines differ. Out: installed code that panics can unwind through, and that GDB and perf know by name. Nothing in
//! this crate knows an instruction.
//!
//! - [`compile`] drives it all: from bytecode or a graph to installed code.
//! - [`emit`] writes a function's blocks, tiles and moves one after the other, and links them.
//! - [`baseline`] makes stencils from templates, copies them, and fills their holes.
//! - [`interpreter`] makes the code that interprets each opcode.
//! - [`saved`] has the stencils that an earlier process has made.
//! - [`memory`] makes the code executable; [`unwind`], [`faults`] and [`watch`] describe it to the unwinder, the signal handler
//!   and debuggers.

pub mod baseline;
pub mod call;
pub mod compile;
pub mod emit;
pub mod exit;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "where there is no signal handler, nobody asks what a fault is")
)]
pub mod faults;
pub mod field;
pub mod interpreter;
pub mod machine;
pub mod memory;
pub mod saved;
pub mod status;
mod stencil;
pub mod unwind;
pub mod watch;

pub use compile::{Compiled, Compiler};
pub use field::Field;
pub use interpreter::Interpreter;
pub use machine::Machine;
pub use memory::{CodeMemory, Installed};
pub use watch::Watchers;
