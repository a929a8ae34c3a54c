//! What machine code needs on any machine: memory to run in, unwind tables, faults that become traps, debuggers and profilers.
//!
//! In: finished code, and a [`Machine`], the data in which machines differ. Out: code that runs, that panics pass through, and that
//! GDB and perf know by name. Nothing in this crate knows an instruction.

pub mod baseline;
pub mod emit;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "where there is no signal handler, nobody asks what a fault is")
)]
pub mod faults;
pub mod field;
pub mod machine;
pub mod memory;
pub mod status;
mod stencil;
pub mod unwind;
pub mod watch;

pub use field::Field;
pub use machine::Machine;
pub use memory::{CodeMemory, Installed};
pub use watch::Watchers;
