//! Tiles and tile sets as they were written, with the places of their tokens.

use crate::operators::Row;
use azulejo_core::grammar::{Part, Rule};
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, Path, Visibility};

/// A tile.
pub(crate) struct Tile {
    /// What the grammar knows of it.
    pub(crate) rule: Rule,
    /// Where its name stands.
    pub(crate) name: Ident,
    /// Where each sub-pattern stands, by its number.
    pub(crate) patterns: Vec<Span>,
    /// Where each clause stands.
    pub(crate) clauses: Vec<Span>,
    /// The registers that clauses name, where they stand.
    pub(crate) registers: Vec<Ident>,
    /// What is handed on: all before the arrow.
    pub(crate) head: TokenStream,
    /// The emitter; absent when the tile was handed on.
    pub(crate) emit: Option<Expr>,
}

impl Tile {
    /// The place of a part.
    pub(crate) fn span(&self, part: Part) -> Span {
        let span = match part {
            Part::Name => None,
            Part::Pattern(id) => self.patterns.get(id as usize),
            Part::Clause(at) => self.clauses.get(at),
        };
        span.copied().unwrap_or_else(|| self.name.span())
    }
}

/// The content of a `tile!`.
pub(crate) enum Content {
    Group(Group),
    /// A group that asks for shared forms: of `rest` the `use` is gone.
    Asks {
        path: Path,
        header: TokenStream,
        rest: TokenStream,
    },
    /// Forms that groups ask for.
    Forms {
        vis: Visibility,
        name: Ident,
        tokens: TokenStream,
    },
}

/// Tiles with a name.
pub(crate) struct Group {
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) tiles: Vec<Tile>,
}

/// The content of a `tileset!`, less what was asked for already.
pub(crate) struct Header {
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    /// The set it extends: its crate and its name.
    pub(crate) extends: Option<(Path, Ident)>,
    /// The crate with the emitter and the registers.
    pub(crate) machine: Path,
    pub(crate) features: Vec<Ident>,
    pub(crate) groups: Vec<Path>,
    /// The user's operators still to be asked for.
    pub(crate) operators: Option<Path>,
    /// Whether uncovered forms are fine: a set for a machine in the making, or a test.
    pub(crate) partial: bool,
}

impl Header {
    /// Whether nothing is left to ask for.
    pub(crate) fn is_collected(&self) -> bool {
        self.extends.is_none() && self.operators.is_none() && self.groups.is_empty()
    }
}

/// What was handed on.
pub(crate) enum Collected {
    /// A group's tiles.
    Group { path: Path, tiles: Vec<Tile> },
    /// A set's tiles and features.
    Set { path: Path, name: Ident, features: Vec<Ident>, tiles: Vec<Tile> },
    /// The rows of a user's operators.
    Operators { path: Path, rows: Vec<Row> },
}
