//! The data that the passes hand on. No algorithm lives here.

pub mod assignment;
pub mod bytecode;
pub mod emitted;
pub mod graph;
pub mod index;
pub mod ranges;
pub mod schedule;
pub mod status;
pub mod stencil;
pub mod template;
pub mod tiles;
