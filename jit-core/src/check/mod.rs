//! Judges: each simpler than the pass whose result it judges.

pub mod assignment;
pub mod evaluate;
pub mod graph;
pub mod schedule;
pub mod tiles;
