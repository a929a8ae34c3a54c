//! A fictional machine: all that has to be written to add a second one.
//!
//! Its instructions have 32 bits each and three registers at most, with immediates of twelve bits in the middle of an
//! instruction. It has eight registers for integers and eight for floats, and no flags register. Only loads and stores have
//! operands in memory. A [simulator] runs its code on any host, in the memory where the code is installed.
//!
//! | file | what |
//! | --- | --- |
//! | `regs.rs` | registers, and conventions as data |
//! | `instruction.rs` | the encoding, and where it has constants and distances |
//! | `machine.rs` | the data that installing code takes |
//! | `frame.rs` | the stack frame |
//! | `emit.rs` | the emitter: moves and control flow |
//! | `assembler.rs` | the instructions of which the ways in and out of functions are made |
//! | `tiles.rs` | the tiles |
//! | `stubs.rs`, `simulator.rs`, `natives.rs` | in place of assembly and of a processor |

extern crate self as azulejo;

#[doc(hidden)]
pub mod __private {
    pub use crate as machine;
    pub use azulejo_core as core;
    pub use azulejo_macros::*;
}

mod assembler;
pub mod emit;
pub mod frame;
pub mod instruction;
pub mod machine;
pub mod natives;
pub mod regs;
pub mod simulator;
pub mod stubs;
pub mod tiles;

pub use emit::{Emitter, Tile};
pub use machine::MACHINE;
pub use tiles::TOY;

/// Emits one tile.
pub type EmitFn = azulejo_code::emit::EmitFn<Emitter>;
/// The tiles that a compiler chooses from and how each is emitted.
pub type Set = azulejo_code::emit::Set<Emitter>;
/// The compiler for this machine.
pub type Compiler = azulejo_code::Compiler<Emitter>;
