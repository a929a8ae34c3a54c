//! The text form of every ir type.

pub mod dot;
pub mod parse;
pub mod print;
