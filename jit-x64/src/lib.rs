//! The x86-64 back end of azulejo: registers, conventions, tiles and the emitter.
//!
//! This is the only crate with machine code in it. Tiles are written with [`Emitter`], [`Tile`], [`Cond`] and [`Mem`]; the
//! document `docs/emitters.md` shows them at work.

#![cfg(target_arch = "x86_64")]

extern crate self as azulejo;

#[doc(hidden)]
pub mod __private {
    pub use crate as machine;
    pub use azulejo_core as core;
    pub use azulejo_macros::*;
}

pub mod abi;
mod assembler;
mod condition;
pub mod emit;
pub mod encode;
pub mod features;
pub mod frame;
pub mod glue;
mod interpreted;
mod jump;
pub mod machine;
mod opcode;
pub mod regs;
mod shuffle;
mod slots;
pub mod tiles;
mod words;

pub use azulejo_code::call;
pub use azulejo_code::emit::Backend;
pub use azulejo_code::status::{RawStatus, Status, TurnedStatus};
pub use azulejo_core::verify::Function;
/// The types of a tile's pattern, which emitters read from [`Tile::sig`].
pub use azulejo_core::vocab::{Sig, Type};
pub use emit::{Code, Cond, EmitFn, Emitter, Set, Tile};
pub use encode::Mem;
pub use features::Features;
pub use frame::Frame;
pub use jump::Jump;
pub use machine::MACHINE;
pub use tiles::X64;

/// The compiler for this machine.
pub type Compiler = azulejo_code::Compiler<Emitter>;
/// A function that the optimizing compiler has compiled.
pub type Compiled = azulejo_code::Compiled<Emitter>;
/// A function that the baseline compiler has compiled.
pub type BaselineCode = azulejo_code::baseline::BaselineCode<Emitter>;
