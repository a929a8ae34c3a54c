//! Tiles and tile sets as written, with spans.

use crate::operators::Row;
use azulejo_core::grammar::{Rule, RulePart};
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, Path, Visibility};

/// A tile.
pub(crate) struct Tile {
    /// The tile as the grammar represents it.
    pub(crate) rule: Rule,
    /// The name, with its span.
    pub(crate) name: Ident,
    /// The span of each sub-pattern, by its number.
    pub(crate) patterns: Vec<Span>,
    /// The span of each clause.
    pub(crate) clauses: Vec<Span>,
    /// The registers that clauses name, with their spans.
    pub(crate) registers: Vec<Ident>,
    /// The tokens before the arrow, to be passed on.
    pub(crate) head: TokenStream,
    /// The emitter; `None` if the tile was passed on by a group's macro.
    pub(crate) emit: Option<Expr>,
}

impl Tile {
    /// The place of a part.
    pub(crate) fn span(&self, part: RulePart) -> Span {
        let span = match part {
            RulePart::Name => None,
            RulePart::Pattern(id) => self.patterns.get(id as usize),
            RulePart::Clause(at) => self.clauses.get(at),
        };
        span.copied().unwrap_or_else(|| self.name.span())
    }
}

/// The contents of a `tile!`.
pub(crate) enum Content {
    Group(Group),
    /// A group that uses shared forms. `rest` is the group without its first `use`.
    Asks {
        path: Path,
        header: TokenStream,
        rest: TokenStream,
    },
    /// Forms that groups can use.
    Forms {
        vis: Visibility,
        name: Ident,
        tokens: TokenStream,
    },
}

/// A named list of tiles.
pub(crate) struct Group {
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) tiles: Vec<Tile>,
}

/// The contents of a `tileset!`, without the parts that were collected already.
pub(crate) struct Header {
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    /// The set it extends: its crate and its name.
    pub(crate) extends: Option<(Path, Ident)>,
    /// The crate with the emitter and the registers.
    pub(crate) machine: Path,
    pub(crate) features: Vec<Ident>,
    pub(crate) groups: Vec<Path>,
    /// The user's operators, if they were not collected yet.
    pub(crate) operators: Option<Path>,
    /// Whether uncovered forms are allowed, as for a machine under construction or a test.
    pub(crate) partial: bool,
}

impl Header {
    /// Whether all parts are collected.
    pub(crate) fn is_collected(&self) -> bool {
        self.extends.is_none() && self.operators.is_none() && self.groups.is_empty()
    }
}

/// A part that another macro passed on.
pub(crate) enum Collected {
    /// A group's tiles.
    Group { path: Path, tiles: Vec<Tile> },
    /// A set's tiles and features.
    Set { path: Path, name: Ident, features: Vec<Ident>, tiles: Vec<Tile> },
    /// The rows of a user's operators.
    Operators { path: Path, rows: Vec<Row> },
}
