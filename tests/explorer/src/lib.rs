//! Pages of the explorer, a browser to open them in, and a reader of traces.

pub mod browser;
pub mod pages;
pub mod trace;

#[path = "../../../examples/explorer/assembler.rs"]
mod assembler;
#[path = "../../../examples/explorer/machine.rs"]
mod machine;
