//! A machine's tiles as static data, which `tileset!` makes for the `tile` pass.

use super::flatten::{FlatRule, MAX_ARITY, Same};
use super::pattern::{Predicate, Symbol};
use crate::ir::tiles::{Constraint, Role};
use crate::target::RegSet;
use crate::vocab::{Class, Op, Sig, Vocabulary};

/// An operand of a tile that is read from a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterUse {
    /// The class of register.
    pub class: Class,
    /// How it is used.
    pub role: Role,
    /// Where it must be.
    pub constraint: Constraint,
}

/// A tile, except for its emit function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileInfo {
    /// Its name.
    pub name: &'static str,
    /// The pattern that it covers, as it is written.
    pub pattern: &'static str,
    /// Its cost.
    pub cost: u16,
    /// The symbol that it yields.
    pub result: Symbol,
    /// Its result's role, if that is a register.
    pub role: Role,
    /// The constraint on its result.
    pub out: Constraint,
    /// The operands that it reads from registers, in pattern order.
    pub uses: &'static [RegisterUse],
    /// The number of constants that its emit function is passed.
    pub imms: u8,
    /// Whether it consumes a flag, and so must directly follow the tile that produces the flag.
    pub takes_flag: bool,
    /// Its scratch registers.
    pub temps: &'static [Class],
    /// The registers that it clobbers besides its result.
    pub clobbers: RegSet,
    /// Whether its result exists when the function is entered.
    pub entry: bool,
    /// Whether its code uses the function's frame on the stack. Calls, accesses that may fault, and exits with a frame state do in any
    /// case.
    pub framed: bool,
}

/// A table that maps the states of a node's operands to the node's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpTable {
    /// The number of operands that are matched.
    pub arity: u8,
    /// The start of its cells in [`TileSet::cells`].
    pub base: u32,
    /// For each operand, the start of the classes of views in [`TileSet::classes`].
    pub maps: [u16; MAX_ARITY],
    /// For each operand, the distance between the cells of two consecutive classes.
    pub strides: [u16; MAX_ARITY],
}

/// An operator on certain types, and its tables under each set of conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The operator.
    pub op: Op,
    /// Its types, as [`super::pattern::key`] returns them.
    pub sig: Sig,
    /// The CPU features that its rules depend on.
    pub features: u32,
    /// The first of its same-node conditions in [`TileSet::sames`].
    pub same: u16,
    /// The number of its same-node conditions.
    pub sames: u8,
    /// The first of its tables' numbers in [`TileSet::variants`]. There is one for each subset of features and conditions; the
    /// conditions are the low bits of the position.
    pub variants: u16,
}

/// A machine's tiles and the tables to select among them.
#[derive(Clone, Copy, Debug)]
pub struct TileSet {
    /// The operators that it was made for.
    pub vocab: Vocabulary,
    /// The names of CPU features, by bit.
    pub features: &'static [&'static str],
    /// The tiles, by [`crate::ir::tiles::TileId`].
    pub tiles: &'static [TileInfo],
    /// The flat rules.
    pub rules: &'static [FlatRule],
    /// The tables of operators.
    pub ops: &'static [OpTable],
    /// The states in the tables of operators.
    pub cells: &'static [u16],
    /// The view of each state. States with equal costs have one view: the operators above cannot distinguish them.
    pub views: &'static [u16],
    /// For each distinct way to group views, the class of each view.
    pub classes: &'static [u8],
    /// The forms of operators, in order.
    pub heads: &'static [Head],
    /// The tables of the forms.
    pub variants: &'static [u16],
    /// The same-node conditions of forms.
    pub sames: &'static [Same],
    /// The predicates that tiles use, in the order of the bits of a compact mask.
    pub predicates: &'static [Predicate],
    /// The state of a constant, for each type and each compact mask.
    pub constants: &'static [u16],
    /// The rule that derives a symbol in a state, at the symbol's offset plus the state.
    pub select: &'static [u16],
    /// The offset of each symbol in `select`.
    pub offsets: &'static [u16],
    /// The number of states.
    pub states: u16,
}

impl TileSet {
    /// The state of a value that is in a register.
    #[inline]
    pub const fn leaf(symbol: Symbol) -> u16 {
        // ORDER LEAVES: see `states::LEAVES`.
        symbol as u16 + 1
    }

    /// The state of a node with this table and operands of these states.
    #[inline]
    pub fn state(&self, op: &OpTable, operands: [u16; MAX_ARITY]) -> u16 {
        let mut cell = op.base as usize;
        for (place, operand) in operands.iter().enumerate().take(op.arity as usize) {
            let view = self.views[*operand as usize] as usize;
            cell += self.classes[op.maps[place] as usize + view] as usize * op.strides[place] as usize;
        }
        self.cells[cell]
    }

    /// The state of a constant of this type.
    #[inline]
    pub fn constant(&self, ty: crate::vocab::Type, bits: u64) -> u16 {
        let mask = Predicate::mask(ty, bits);
        let mut compact = 0;
        for (bit, predicate) in self.predicates.iter().enumerate() {
            compact |= (mask as usize >> *predicate as usize & 1) << bit;
        }
        self.constants[(ty as usize) << self.predicates.len() | compact]
    }

    /// The number of the rule that derives `symbol` in `state`. If no rule does, the result is meaningless.
    #[inline]
    pub fn rule(&self, state: u16, symbol: u16) -> u16 {
        self.select[self.offsets[symbol as usize] as usize + state as usize]
    }

    /// The form of an operator on these types.
    pub fn head(&self, op: Op, sig: Sig) -> Option<&'static Head> {
        let key = |op: Op, sig: Sig| (op, super::flatten::pack(sig));
        let at = self.heads.binary_search_by_key(&key(op, sig), |head| key(head.op, head.sig)).ok()?;
        Some(&self.heads[at])
    }

    /// The name of the first operator of a vocabulary that this set was not made for, if any.
    pub fn stranger(&self, vocab: Vocabulary) -> Option<&'static str> {
        let known = self.vocab.extra.iter().map(|info| Some(info.name)).chain(core::iter::repeat(None));
        let mut names = vocab.extra.iter().map(|info| info.name).zip(known);
        names.find(|(name, known)| Some(*name) != *known).map(|(name, _)| name)
    }

    /// Size of the packed tables in bytes, without the tiles' descriptions.
    pub const fn table_bytes(&self) -> usize {
        size_of_val(self.rules)
            + size_of_val(self.ops)
            + size_of_val(self.cells)
            + size_of_val(self.views)
            + size_of_val(self.classes)
            + size_of_val(self.heads)
            + size_of_val(self.variants)
            + size_of_val(self.sames)
            + size_of_val(self.predicates)
            + size_of_val(self.constants)
            + size_of_val(self.select)
            + size_of_val(self.offsets)
    }
}

impl Head {
    /// The position in [`TileSet::variants`] of the first table for a CPU with these features.
    pub const fn variant(&self, features: u32) -> u16 {
        let mut subset = 0;
        let mut position = 0;
        let mut left = self.features;
        while left != 0 {
            let bit = left.trailing_zeros();
            subset |= (features >> bit & 1) << position;
            position += 1;
            left &= left - 1;
        }
        self.variants + ((subset as u16) << self.sames)
    }
}
