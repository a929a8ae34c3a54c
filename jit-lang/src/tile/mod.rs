//! Tiles: rows of patterns with costs, constraints and emitters, and the sets that groups of them make.
//!
//! In: the tokens of a `tile!`, which [`parse()`] turns into a group's tiles ([`ast`]); a row may stand for several of them. And
//! the tokens of a `tileset!` ([`set`]), with the tiles of all its groups. Out: the tables that [`azulejo_core::grammar`]
//! computes for the set ([`compile()`]), or errors, each at the part of the row that caused it.

pub mod ast;
mod compile;
mod form;
mod parse;
mod row;
mod rust;
pub mod set;
#[cfg(test)]
mod tests;

pub use ast::{Content, Emitter, Tile};
pub use compile::{CompiledSet, compile};
pub use parse::{parse, with_forms};
