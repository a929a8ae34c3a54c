//! Whether the kinds of values of a bytecode type keep the laws that their author promises.
//!
//! In: a bytecode type. Out: nothing, or a panic that says which law an example breaks. Debug builds try each set of kinds once in a process.

use azulejo_core::check;
use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::vocab::Vocabulary;
use std::fmt::Write;
use std::sync::Mutex;

/// The addresses of the sets of kinds that were tried and keep the laws. Nobody waits for the lock: in a forked child its holder may not
/// exist. Who does not get it tries them once more.
static TRIED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Tries the laws with examples.
///
/// # Panics
///
/// If the kinds break one.
pub(super) fn try_laws<B: Bytecode>() {
    let mut sets = B::templates().iter().map(|template| template.kinds);
    let Some(kinds) = sets.find(|kinds| !kinds.is_empty()) else { return };
    let set = kinds.as_ptr().addr();
    if TRIED.try_lock().is_ok_and(|tried| tried.contains(&set)) {
        return;
    }
    let broken = check::kinds::laws(kinds, Vocabulary { extra: B::OPERATORS });
    if broken.is_empty() {
        if let Ok(mut tried) = TRIED.try_lock() {
            tried.push(set);
        }
        return;
    }
    let mut text = String::from("the kinds of values break the laws that the compilers rely on:");
    for violation in broken {
        let _ = write!(text, "\n  {violation}");
    }
    panic!("{text}");
}
