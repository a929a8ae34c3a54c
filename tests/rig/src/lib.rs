//! The rig: random programs of a bytecode that has every operator, run in every tier and compared.
//!
//! [`program`](program::program) makes programs, [`Rig`](compare::Rig) runs them, and [`minimise`](minimise::minimise)
//! shortens a failing one. The properties that must hold are in [`property`], for tests, `cargo xtask fuzz` and the targets
//! in `fuzz/`.

#![cfg(all(target_arch = "x86_64", unix))]

pub mod case;
mod choices;
pub mod compare;
pub mod depth;
pub mod edge;
mod enter;
pub mod frame;
pub mod graphs;
pub mod home;
mod interpreted;
mod kept;
pub mod library;
pub mod machine;
pub mod minimise;
pub mod mutate;
pub mod program;
pub mod property;
pub mod reached;
pub mod run;
pub mod session;
mod shrink;
pub mod soak;
pub mod subject;
mod ties;
