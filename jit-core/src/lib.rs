//! The machine-independent half of azulejo: vocabulary, templates, graph and every pass.

pub mod check;
pub mod error;
pub mod fuzzing;
pub mod grammar;
pub mod ir;
pub mod native;
pub mod pass;
pub mod random;
pub mod target;
pub mod text;
pub mod verify;
pub mod vocab;
