//! The rig of the WebAssembly example: modules made at random, run in every tier and compared with wasmi.
//!
//! [`generate`] makes modules, [`mutate`] breaks them a little, [`plan`] decides which calls are made, [`oracle`] makes
//! them in wasmi, [`compare`] in the example; [`session`] does so with many. [`large`] writes the module that compile times are measured with.

pub mod compare;
pub mod generate;
pub mod host;
pub mod large;
pub mod mutate;
pub mod oracle;
pub mod outcome;
pub mod plan;
pub mod programs;
mod sections;
pub mod session;
