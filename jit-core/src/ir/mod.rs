//! The data that the passes hand on, and the containers it is kept in. No algorithm lives here.

pub mod assignment;
pub mod bits;
pub mod bytecode;
pub mod case_text;
pub mod emitted;
pub mod frames;
pub mod graph;
pub mod grouped;
pub mod index;
pub mod inlining;
pub mod interpreted;
pub mod kinds;
pub mod list;
pub mod operand;
pub mod quicken;
pub mod ranges;
pub mod regions;
pub mod schedule;
pub mod sites;
pub mod slow_paths;
pub mod state;
pub mod status;
pub mod stencil;
pub mod template;
pub mod tiles;
