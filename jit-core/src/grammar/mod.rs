//! The grammar of a machine: from tile patterns to packed tables.
//!
//! ```text
//! Rule (a tile's pattern)  -- pattern::concrete -->  one tree for each choice of types
//!                          -- flatten           -->  flat rules over symbols; equal sub-patterns share one
//!                          -- states            -->  every combination of delta costs a node can have
//!                          -- tables            -->  TileSet: packed, static
//! ```
//!
//! This module knows nothing of the compiler's syntax trees: the macros, the tests, fuzzers and `cargo xtask tiles` call the
//! same functions.

pub mod error;
pub mod explain;
pub mod flatten;
pub mod pattern;
pub mod plan;
pub mod set;
pub mod states;
pub mod tables;
pub mod text;

pub use error::{Problem, Refusal, RulePart};
pub use pattern::{Clause, Grammar, Pattern, PatternShape, Place, Predicate, Rule, Symbol, TypeSpec};
pub use set::{RegisterUse, TileInfo, TileSet};
pub use tables::{Tables, build};
