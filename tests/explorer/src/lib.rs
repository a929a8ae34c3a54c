//! Pages of the explorer, a browser to look at them with, and what their traces say.

pub mod browser;
pub mod pages;
pub mod trace;

#[path = "../../../examples/explorer/assembler.rs"]
mod assembler;
#[path = "../../../examples/explorer/machine.rs"]
mod machine;
