//! Templates: the meanings of opcodes.
//!
//! In: the tokens of a `template!`, which [`Source::read`] turns into rows, macros, kinds and descriptions of structs; and an opcode
//! for each row. Out of [`compile`]: the row as a typed tree, from which the interpreter is printed, and as steps for the compilers;
//! or an error.

pub mod aliasing;
pub mod ast;
mod attempt;
mod calls;
mod check;
mod control;
mod fields;
mod frames;
mod kinds;
mod literals;
mod lower;
mod macros;
mod made;
mod of_kind;
mod quicken;
mod regions;
pub mod signs;
mod sites;
mod source;
pub mod steps;
#[cfg(test)]
mod tests;
mod values;
mod within;
mod words;

pub use fields::Structs;
pub use kinds::Kinds;
pub use macros::{Macro, circles};
pub use source::{Row, Source};

use crate::place::Error;
use aliasing::Warning;
use ast::{Enum, Native, Opcode, Typed};
use azulejo_core::ir::frames::first_call;
use azulejo_core::vocab::Vocabulary;
use check::Checker;
use steps::Template;

/// A compiled row.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The row as a typed tree.
    pub body: Typed,
    /// The Rust functions that it calls through native functions.
    pub natives: Vec<Native>,
    /// The row as steps.
    pub template: Template,
    /// Constructs that are legal, but probably not intended.
    pub warnings: Vec<Warning>,
}

/// Compiles a row for its opcode, one of these of the enum. Returns `None` for a row that did not parse or uses a kind that is wrong, since that error was
/// reported already.
///
/// # Errors
///
/// The first error in the row.
pub fn compile(
    row: &Row,
    opcode: &Opcode,
    opcodes: &[Opcode],
    vocab: Vocabulary,
    source: &Source,
    kinds: &Kinds,
) -> Result<Option<Compiled>, Error> {
    let Some(body) = &row.body else { return Ok(None) };
    let of = Enum { path: &row.path, opcodes };
    let is_unsafe = row.is_unsafe.is_some();
    let new = || Checker::new(opcode, of, vocab, source, kinds, is_unsafe, row.stores_itself);
    let mut checker = new();
    let mut checked = checker.template(body).and_then(|body| checker.makes_if_asked(body));
    if checked.is_ok() && checker.quickens {
        let number = opcodes.iter().position(|one| one.name == opcode.name);
        let number = number.expect("it is one of the enum's");
        checker = new();
        checker.n_shown = first_call(number);
        checked = checker.template(body).and_then(|body| checker.makes_if_asked(body));
    }
    let body = match checked {
        Ok(body) => body,
        Err(_) if checker.is_moot => return Ok(None),
        Err(error) => return Err(checker.in_row(error, &row.to_string())),
    };
    let Some(template) = lower::lower(&body, &opcode.operands, &checker.taught_anywhere) else {
        let name = &opcode.name;
        let message = format!(
            "`{name}` becomes too long: what stands in a `cached` is there once for each case, and so on"
        );
        return Err(Error::new(row.name.place, message));
    };
    let warnings = aliasing::warnings(opcode, &body);
    Ok(Some(Compiled { body, natives: checker.natives, template, warnings }))
}
