//! Rewrite rules: rows of patterns, checked and typed.
//!
//! In: tokens, which [`parse()`] makes a [`Row`] as it is written ([`ast`]). Out: a [`Rule`] with a type for every part and with all its forms ([`check()`]), and for
//! many rules a [`Dispatch`] that says which are to be tried at a node ([`dispatch()`]).

pub mod ast;
pub mod check;
pub mod dispatch;
pub mod parse;
#[cfg(test)]
mod tests;

pub use ast::Row;
pub use check::{Rule, check};
pub use dispatch::{Dispatch, dispatch};
pub use parse::parse;
