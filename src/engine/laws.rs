//! Whether the kinds of values of a bytecode type keep the laws that their author promises.
//!
//! In: a bytecode type. Out: nothing, or a panic that says which law an example breaks. Debug builds try each set of kinds once in a process.

use azulejo_code::memory::fork;
use azulejo_core::check;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Vocabulary;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

/// The addresses of the sets of kinds that were tried and keep the laws.
static TRIED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Tries the laws with examples.
///
/// # Panics
///
/// If the kinds break one.
pub(super) fn try_laws<B: Bytecode>() {
    let mut sets = B::templates().iter().map(|template| template.kinds);
    let Some(kinds) = sets.find(|kinds| !kinds.is_empty()) else { return };
    fork::protect(&TRIED);
    let tried = || TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let set = kinds.as_ptr().addr();
    if tried().contains(&set) {
        return;
    }
    let broken = check::kinds::laws(kinds, Vocabulary { extra: B::OPERATORS });
    if broken.is_empty() {
        return tried().push(set);
    }
    let mut text = String::from("the kinds of values break the laws that the compilers rely on:");
    for violation in broken {
        let _ = write!(text, "\n  {violation}");
    }
    panic!("{text}");
}
