//! What needs machine code and nothing of the engine: the compilers for this machine, and the cells of calls.
//!
//! In: functions. Out: their code, and cells by which it calls. Elsewhere `src/engine/interpreted/native.rs` takes the place of this
//! folder: it has the same names and compiles nothing.

mod backend;
mod links;

pub(super) use azulejo_code::exit::take_inlined;
pub(super) use backend::{
    Adapter, Backend, BaselineCode, Choice, Compiled, Compiler, Interpreter, Status, can_compile, can_guard,
    prepare_thread, watched,
};
pub(super) use links::{Links, MAX_REGISTER_ARGUMENTS, Remote, Shared, Word};
