//! The languages in which azulejo's rows are written, without tokens: what is checked and compiled while the user's crate compiles.
//!
//! In: rows as tokens ([`Token`]), in which a [`Place`] says where each was written. Out: compiled rows as plain data, or
//! [`Error`]s at places. The macros make such tokens of rustc's, print the data as Rust, and show errors at the places; tests make the
//! tokens of text, and need neither rustc nor a macro.
//!
//! Tiles are the third language; what a row of `tile!` says is compiled by [`azulejo_core::grammar`].
//!
//! **Invariant:** nothing here depends on where tokens come from.

pub mod place;
pub mod reader;
pub mod rewrite;
pub mod sexpr;
pub mod template;
pub mod token;
pub mod words;

pub use place::{Error, Errors, Place};
pub use token::Token;
