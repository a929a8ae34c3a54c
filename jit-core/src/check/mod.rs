//! Judges, each of which is simpler than the pass whose result it judges.

pub mod assignment;
pub mod copies;
pub(crate) mod dominance;
pub mod evaluate;
pub mod execute;
mod faults;
pub mod frames;
pub mod graph;
pub mod kinds;
pub mod placeholders;
pub mod rules;
pub mod schedule;
pub mod shape;
pub(crate) mod start;
pub mod temporaries;
pub mod tiles;

use core::fmt;

/// A condition that must hold but does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The node, block or instruction in question, as the text form names it.
    pub place: String,
    /// The fault.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}
