//! The text form of every ir type.

pub mod parse;
pub mod print;
