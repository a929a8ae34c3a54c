//! The passes, in the order they run: the compiler's table of contents.
//!
//! | pass | makes | judge |
//! | --- | --- | --- |
//! | [`build`] | a graph of bytecode, or of one opcode for a stencil | `check::graph` |
//! | [`renew`] | a graph in which memory that loops carry is made anew (with `peel` in front of it, if there is any) | `check::graph` |
//! | [`kinds`](kinds::kinds) | a graph in which checks of kinds that are decided are gone | `check::graph` |
//! | [`represent`] | block parameters of the types that they carry | `check::graph` |
//! | [`lower`](kinds::lower) | formulas in place of operators on kinds | `check::kinds` |
//! | `hand_on` | a float that a stencil hands on as one (with `represent` behind it) | `check::graph` |
//! | [`rewrite`] | a smaller graph, by rules, folding and value numbering | `check::graph` |
//! | [`sink`] | a graph without the memory that nobody needs (behind `forward` and `rewrite`, if there is any) | `check::graph` |
//! | [`counters`] | loops with integer counters beside floats that are converted | `check::graph` |
//! | [`offsets`] | sums in place of conversions of floats beside others | `check::graph` |
//! | [`peel`] | loops whose first iteration runs in front of them | `check::graph` |
//! | [`forward`] | loads replaced by the stored values | `check::graph` |
//! | [`rewrite`] | the simplifications that forwarding enables | `check::graph` |
//! | [`unwrap`](unwrap::unwrap) | frame states without casts around their values | `check::graph` |
//! | [`dead`] | a graph without unused nodes | `check::graph` |
//! | `pinned` | registers in place of constants that stencils keep there | `check::graph` |
//! | `placeholders` | constants in a stencil's holes | `check::placeholders` |
//! | [`place`] | a schedule: each floating value in a block | `check::schedule`, `check::copies` |
//! | [`tile`] | a tile list: instructions | `check::tiles` |
//! | [`late_frame`](late_frame::late_frame) | marks at the blocks that run before the frame is made | `check::frames` |
//! | [`live`] | live ranges | judged together with `allocate` |
//! | [`allocate`] | an assignment: places for operands, and moves | `check::assignment` |
//!
//! [`Compilation`] calls the passes. No pass calls another. [`flow`], [`number`], `places` and `whole` are analyses that several passes use;
//! tests steer the passes through [`limits`] and [`chaos`].

pub mod allocate;
pub mod build;
pub mod chaos;
mod compilation;
pub mod counters;
pub mod dead;
pub mod flow;
pub mod forward;
mod hand_on;
pub mod kinds;
pub mod late_frame;
pub mod limits;
pub mod live;
pub mod number;
mod observe;
pub mod offsets;
pub mod peel;
mod pinned;
pub mod place;
mod placeholders;
mod places;
pub mod renew;
pub mod represent;
pub mod rewrite;
pub mod sink;
pub mod tile;
pub mod unwrap;
mod whole;

pub use compilation::Compilation;
pub use observe::{Allocated, Blind, Observer, STAGES};
pub use pinned::MAX_PINNED;

use crate::grammar::TileSet;
use crate::ir::tiles::TileId;
use crate::target::{Reg, RegisterFile};
use crate::text::print;

/// The compilation target: tiles, CPU features, registers and rewrite rules.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The tiles to choose from.
    pub set: &'a TileSet,
    /// The available CPU features, one bit each in the tile set's order.
    pub features: u32,
    /// The registers.
    pub registers: &'a RegisterFile,
    /// The rewrite rules.
    pub rules: &'a [rewrite::Matcher],
    /// Whether every stage is judged.
    pub check: bool,
}

impl Target<'_> {
    /// Calls `print` with the names of the target's tiles and registers.
    pub fn named<T>(&self, print: impl FnOnce(print::Names<'_>) -> T) -> T {
        let tile = |tile: TileId| self.set.tiles[tile.0 as usize].name.to_string();
        let reg = |reg: Reg| (self.registers.name)(reg).to_string();
        print(print::Names { tile: &tile, reg: &reg })
    }
}
