//! What runs: bytecode and what it leaves to Rust, the program's state, its errors and coroutines.

pub(crate) mod bytecode;
mod calls;
mod coroutine;
pub(crate) mod draft;
pub(crate) mod error;
mod fields;
mod hooks;
pub(crate) mod levels;
pub(crate) mod library_state;
mod makers;
#[cfg(test)]
mod memory_tests;
mod operators;
mod roots;
pub(crate) mod slow;
mod templates;
pub mod vm;
