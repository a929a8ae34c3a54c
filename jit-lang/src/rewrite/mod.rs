//! Rewrite rules: rows of patterns, checked and typed.
//!
//! In: tokens, which [`parse()`] turns into [`RuleRow`]s as they are written ([`ast`]). Out: for each row a [`Rule`] that has a type
//! for every part and lists all its forms ([`check()`]); for a set of rules a [`Dispatch`], which selects the ones to try at a
//! node ([`dispatch()`]).

pub mod ast;
pub mod check;
pub mod dispatch;
pub mod parse;
pub mod rule;
#[cfg(test)]
mod tests;

pub use ast::RuleRow;
pub use check::check;
pub use dispatch::{Dispatch, dispatch};
pub use parse::parse;
pub use rule::Rule;
