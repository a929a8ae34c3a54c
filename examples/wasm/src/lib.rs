//! A WebAssembly virtual machine whose whole code generator is `template!`.
#![doc = include_str!("../README.md")]

mod bytecode;
mod link;
mod memory;
mod module;
mod runtime;
#[cfg(feature = "spec")]
pub mod spec;
mod store;
#[cfg(feature = "text")]
pub mod text;
mod translate;
mod trap;
mod types;
pub mod wasi;

pub use azulejo::{Engine, Tier};
pub use bytecode::Op;
pub use link::Linker;
pub use memory::MemoryMode;
pub use module::{FEATURES, Features, Module};
pub use runtime::{Caller, Host};
pub use store::{Config, Extern, Frame, Instance, Store, Tiers, Value};
pub use trap::{Error, Trap};
pub use wasmparser::{FuncType, GlobalType, MemoryType, RefType, TableType, ValType};
