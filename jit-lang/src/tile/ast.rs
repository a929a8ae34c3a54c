//! Tiles and tile sets as they are written, with places. Rust in them is kept as tokens.

use crate::place::Place;
use crate::token::{Leaf, Token};
use azulejo_core::grammar::{Rule, RulePart};

/// A tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The tile as the grammar represents it.
    pub rule: Rule,
    /// The name.
    pub name: Leaf,
    /// The place of each sub-pattern, by its number.
    pub patterns: Vec<Place>,
    /// The place of each clause.
    pub clauses: Vec<Place>,
    /// The registers that clauses name.
    pub registers: Vec<Leaf>,
    /// The tokens before the arrow to the emitter, to be passed on.
    pub head: Vec<Token>,
    /// The emitter; `None` if the tile was passed on by a group's macro.
    pub emitter: Option<Emitter>,
}

impl Tile {
    /// The place of a part.
    pub fn place(&self, part: RulePart) -> Place {
        let place = match part {
            RulePart::Name => None,
            RulePart::Pattern(id) => self.patterns.get(id as usize),
            RulePart::Clause(at) => self.clauses.get(at),
        };
        place.copied().unwrap_or(self.name.place)
    }
}

/// A tile's emitter: a Rust expression, and what the row's names stand for in it.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// The start of a closure: its parameters, and its result if that is written. Empty if no names stand for anything.
    pub head: Vec<Token>,
    /// The rest of the expression.
    pub body: Vec<Token>,
    /// The operator of the list that the row belongs to.
    pub operator: Option<GivenOperator>,
    /// The alternative of the form that the row uses.
    pub form: Option<GivenForm>,
}

/// The operator that an emitter gets by the name of its list.
#[derive(Clone, Debug)]
pub struct GivenOperator {
    /// The name of the list.
    pub name: Leaf,
    /// A Rust expression: the operator's value.
    pub value: Vec<Token>,
}

/// The operand that an emitter gets by the name of its form.
#[derive(Clone, Debug)]
pub struct GivenForm {
    /// The name of the form.
    pub name: Leaf,
    /// The emitter's name for the tile.
    pub tile: Leaf,
    /// The alternative's name for the tile.
    pub inner: Leaf,
    /// A Rust expression: the alternative's value.
    pub value: Vec<Token>,
    /// What the emitter gets for the pattern before the form.
    pub before: Counts,
    /// What it gets for the form.
    pub own: Counts,
}

impl GivenForm {
    /// Whether the operands behind the form have other numbers in the tile than in the row, where the form is one register.
    pub fn moves_operands(&self) -> bool {
        self.own.regs != 1 || self.own.imms != 0
    }
}

/// The number of registers and constants that the emitter gets for a pattern, or for a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The registers.
    pub regs: usize,
    /// The constants.
    pub imms: usize,
}

/// The contents of a `tile!`.
#[derive(Clone, Debug)]
pub enum Content {
    /// A group.
    Group(TileGroup),
    /// A group that uses shared forms.
    Asks {
        /// The path of the forms.
        path: Vec<Token>,
        /// What the group starts with: its name, and the forms that it has been told.
        header: Vec<Token>,
        /// The group behind its header, without its first `use`.
        rest: Vec<Token>,
    },
    /// Forms that groups can use.
    Forms {
        /// Whether other crates may use them.
        is_public: bool,
        /// The name by which they are used.
        name: Leaf,
        /// The Rust expressions in them.
        values: Vec<Vec<Token>>,
        /// The forms as written.
        tokens: Vec<Token>,
    },
}

/// A named list of tiles.
#[derive(Clone, Debug)]
pub struct TileGroup {
    /// The visibility of its emitters.
    pub visibility: Vec<Token>,
    /// The name.
    pub name: Leaf,
    /// The tiles, in the order in which they are tried.
    pub tiles: Vec<Tile>,
}

/// The contents of a `tileset!`, without the parts that were collected already.
#[derive(Clone, Debug)]
pub struct SetHeader {
    /// The set's visibility.
    pub visibility: Vec<Token>,
    /// Its name.
    pub name: Leaf,
    /// The set it extends: its crate and its name.
    pub extends: Option<(Vec<Token>, Leaf)>,
    /// The path of the crate with the emitter and the registers; `None` for azulejo's own.
    pub machine: Option<Vec<Token>>,
    /// The CPU features that tiles may need.
    pub features: Vec<Leaf>,
    /// The paths of the groups.
    pub groups: Vec<Vec<Token>>,
    /// The path of the user's operators, if they were not collected yet.
    pub operators: Option<Vec<Token>>,
    /// Whether uncovered forms are allowed, as for a machine under construction or a test.
    pub is_partial: bool,
}

impl SetHeader {
    /// Whether all parts are collected.
    pub fn is_collected(&self) -> bool {
        self.extends.is_none() && self.operators.is_none() && self.groups.is_empty()
    }
}

/// A part of a set that another macro passed on.
#[derive(Clone, Debug)]
pub enum SetPart {
    /// A group's tiles.
    Group {
        /// The group's path.
        path: Vec<Token>,
        /// Its tiles.
        tiles: Vec<Tile>,
    },
    /// The tiles and features of the set that is extended.
    Set {
        /// The path of the set's crate.
        path: Vec<Token>,
        /// The set's name.
        name: Leaf,
        /// Its features.
        features: Vec<Leaf>,
        /// Its tiles.
        tiles: Vec<Tile>,
    },
    /// A user's operators.
    Operators {
        /// The path of their module.
        path: Vec<Token>,
        /// The rows of `operators!`.
        rows: Vec<Token>,
    },
}
