//! The rig of the WebAssembly example: random modules, run in every tier and compared with wasmi.
//!
//! [`generate`] makes modules, [`mutate`] mutates them, [`plan`] decides which calls are made, [`oracle`] makes the calls
//! in wasmi, [`compare`] makes them in the example, and [`session`] does all of it for many modules. [`large`] writes the
//! module for measuring compile times.

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
