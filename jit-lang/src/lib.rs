//! The languages in which azulejo's rows are written, independent of rustc's tokens. Rows are checked and compiled while the
//! user's crate compiles.
//!
//! In: rows as tokens ([`Token`]), each with the [`Place`] where it was written. Out: compiled rows as plain data, or [`Error`]s
//! at places. The macros convert rustc's tokens to these tokens, print the data as Rust, and report errors at the places. Tests
//! lex text instead, and need neither rustc nor a macro.
//!
//! There are three languages: templates ([`template`]), rewrite rules ([`rewrite`]) and tiles ([`tile`]). The last two share the
//! syntax of patterns ([`pattern`]).
//!
//! **Invariant:** nothing here depends on where tokens come from.

pub mod pattern;
pub mod place;
pub mod reader;
pub mod rewrite;
pub mod sexpr;
pub mod template;
pub mod tile;
pub mod token;
pub mod words;

pub use place::{Error, Errors, Parsed, Place};
pub use token::Token;
