//! A tile set with its emitters.

use crate::emit::EmitFn;
use azulejo_core::grammar::TileSet;

/// The tiles that a compiler chooses from and how each is emitted; made by `tileset!`.
///
/// ```
/// # mod azulejo { pub use azulejo_x64 as x64; }
/// use azulejo::x64::X64;
/// assert_eq!(X64.emit.len(), X64.tables.tiles.len());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Costs and constraints, and the tables to choose by.
    pub tables: &'static TileSet,
    /// The emitter of each tile.
    pub emit: &'static [EmitFn],
    /// The rows the tables were made of, as text for tools.
    pub rows: &'static str,
}
