//! Objects: the values of programs, and the heap that they are on.
//!
//! In: what the program makes. Out: objects that stay as long as something refers to them. Nothing here knows how code runs.

mod array;
mod blocks;
mod collect;
#[cfg(test)]
mod collect_tests;
mod finalize;
pub mod function;
pub(crate) mod hash;
mod header;
pub mod heap;
mod kept;
mod large;
pub(crate) mod layout;
mod mark;
pub mod shape;
pub(crate) mod shape_life;
mod spans;
mod spare;
pub mod string;
mod string_set;
pub mod table;
#[cfg(test)]
mod table_tests;
pub mod thread;
mod traverse;
pub mod value;
mod weak;
