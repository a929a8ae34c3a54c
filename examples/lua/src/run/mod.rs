//! What runs: bytecode and what it leaves to Rust, the program's state, its errors and coroutines.

pub(crate) mod bytecode;
mod call_templates;
mod calls;
pub(crate) mod cases;
pub(crate) mod clocks;
mod collecting;
mod coroutine;
pub(crate) mod draft;
pub(crate) mod elements;
pub(crate) mod error;
mod fields;
pub(crate) mod handles;
mod hooks;
mod layout;
pub(crate) mod levels;
pub(crate) mod library_state;
pub(crate) mod lookups;
mod makers;
#[cfg(test)]
mod memory_tests;
mod operators;
pub(crate) mod profile;
pub(crate) mod results;
mod roots;
pub(crate) mod settings;
pub(crate) mod slow;
mod stopped;
mod templates;
pub(crate) mod title;
pub(crate) mod varargs;
pub mod vm;
