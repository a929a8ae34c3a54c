//! The x86-64 back end of azulejo: registers, conventions, tiles, the emitter and code memory.
//!
//! The only crate with machine code in it. Whoever writes tiles uses [`Emitter`], [`Tile`], [`Cond`] and [`Mem`]; the document
//! `docs/emitters.md` shows them at work.

#![cfg(target_arch = "x86_64")]

extern crate self as azulejo;

#[doc(hidden)]
pub mod __private {
    pub use crate as x64;
    pub use azulejo_core as core;
    pub use azulejo_macros::*;
}

pub mod abi;
mod bare;
pub mod baseline;
pub mod compile;
mod condition;
#[cfg(all(unix, not(target_vendor = "apple")))]
pub mod debugger;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod elf;
pub mod emit;
pub mod encode;
mod ending;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "where there is no signal handler, nobody asks what a fault is")
)]
pub mod faults;
pub mod features;
#[cfg_attr(not(unix), allow(dead_code, reason = "no process is copied there"))]
pub mod fork;
pub mod frame;
pub mod invoke;
#[cfg(target_os = "linux")]
pub mod jitdump;
mod layout;
mod link;
pub mod memory;
pub mod near;
pub mod profiler;
pub mod reach;
pub mod record;
pub mod regs;
pub mod set;
mod shuffle;
mod stencil;
pub mod tiles;
mod twins;
mod unwind;
pub mod watchers;

pub use azulejo_core::verify::Function;
/// The types that a tile's pattern may have: what emitters read in [`Tile::sig`].
pub use azulejo_core::vocab::{Sig, Type};
pub use baseline::BaselineCode;
pub use compile::{Compiled, Compiler, RawStatus, Status, TurnedStatus};
pub use emit::{Code, Cond, EmitFn, Emitter, Tile};
pub use encode::Mem;
pub use features::Features;
pub use frame::Frame;
pub use memory::{CodeMemory, Installed};
pub use set::Set;
pub use tiles::X64;
pub use watchers::Watchers;
