//! A tile set with its emitters.

use crate::emit::EmitFn;
use azulejo_core::grammar::TileSet;

/// The tiles that a compiler chooses from and how each is emitted.
#[derive(Clone, Copy, Debug)]
pub struct X64Set {
    /// Patterns, costs and constraints, as tables.
    pub tiles: &'static TileSet,
    /// The emitter of each tile.
    pub emit: &'static [EmitFn],
}
