//! Templates: what opcodes mean.
//!
//! In: the tokens of a `template!`, which [`Source::read`] makes rows, macros and what structs told of their fields; and an opcode for each
//! row. Out of [`compile`]: the row as a tree with types, for whoever prints the interpreter, and as steps for the compilers; or what is
//! wrong.

pub mod aliasing;
pub mod ast;
mod calls;
mod check;
mod control;
mod fields;
mod lower;
mod macros;
pub mod signs;
mod source;
pub mod steps;
#[cfg(test)]
mod tests;
mod values;
mod within;
mod words;

pub use fields::Structs;
pub use macros::{Macro, circles};
pub use source::{Row, Source};
pub use words::closest;

use crate::place::Error;
use aliasing::Warning;
use ast::{Native, Opcode, Typed};
use azulejo_core::vocab::Vocabulary;
use check::Checker;
use steps::Template;

/// A row after it was compiled.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The row with types.
    pub body: Typed,
    /// The Rust functions that it calls by way of one of its own.
    pub natives: Vec<Native>,
    /// The row as steps.
    pub template: Template,
    /// What its author may not have meant.
    pub warnings: Vec<Warning>,
}

/// Compiles a row for its opcode; nothing if the row could not be read, which has been told.
///
/// # Errors
///
/// The first thing that is wrong with the row.
pub fn compile(
    row: &Row,
    opcode: &Opcode,
    vocab: Vocabulary,
    source: &Source,
) -> Result<Option<Compiled>, Error> {
    let Some(body) = &row.body else { return Ok(None) };
    let mut checker = Checker::new(opcode, vocab, source, row.is_unsafe.is_some(), row.stores_itself);
    let body = checker.template(body).map_err(|error| checker.in_row(error, &row.to_string()))?;
    let (template, warnings) = (lower::lower(&body, &opcode.operands), aliasing::warnings(opcode, &body));
    Ok(Some(Compiled { body, natives: checker.natives, template, warnings }))
}
