//! The text form of every ir type.

mod call;
pub mod dot;
pub mod parse;
pub mod print;
