//! The rig of the WebAssembly example: modules made at random, run in every tier and compared with wasmi.
//!
//! [`generate`] makes modules, [`mutate`] breaks them a little, [`plan`] decides which calls are made, [`oracle`] makes
//! them in wasmi. [`large`] writes the module that compile times are measured with.

pub mod generate;
pub mod large;
pub mod mutate;
pub mod oracle;
pub mod outcome;
pub mod plan;
mod sections;
