//! The passes, in the order they run.

pub mod allocate;
pub mod build;
pub mod dead;
pub mod flow;
pub mod forward;
pub mod live;
pub mod number;
pub mod place;
pub mod rewrite;
pub mod tile;
