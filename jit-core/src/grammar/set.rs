//! A machine's tiles as static data: what `tileset!` leaves behind for the `tile` pass.

use super::flatten::{FlatRule, MAX_ARITY, Same};
use super::pattern::{Predicate, Symbol};
use crate::ir::tiles::{Constraint, Role};
use crate::target::RegSet;
use crate::vocab::{Class, Op, Sig, Vocabulary};

/// An operand of a tile that is read from a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The class of register.
    pub class: Class,
    /// How it is read.
    pub role: Role,
    /// Where it must be.
    pub constraint: Constraint,
}

/// A tile: everything but how it is emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileInfo {
    /// Its name.
    pub name: &'static str,
    /// What it covers, as it is written.
    pub pattern: &'static str,
    /// What it costs.
    pub cost: u16,
    /// What it yields.
    pub result: Symbol,
    /// Its result's role, if that is a register.
    pub role: Role,
    /// Where its result comes.
    pub out: Constraint,
    /// What it reads from registers, in pattern order.
    pub uses: &'static [Use],
    /// How many constants it is handed.
    pub imms: u8,
    /// Whether it consumes a flag, and so stands directly behind the tile that makes that.
    pub takes_flag: bool,
    /// Its scratch registers.
    pub temps: &'static [Class],
    /// What it overwrites besides its result.
    pub clobbers: RegSet,
    /// Whether its result is there when the function is entered.
    pub entry: bool,
}

/// How to find the state of a node from those of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpTable {
    /// How many operands are matched.
    pub arity: u8,
    /// Where its cells start in [`TileSet::cells`].
    pub base: u32,
    /// For each operand, where the classes of views start in [`TileSet::classes`].
    pub maps: [u32; MAX_ARITY],
    /// For each operand, how far apart the cells of two neighboring classes are.
    pub strides: [u16; MAX_ARITY],
}

/// An operator on certain types, and the tables it has under which conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The operator.
    pub op: Op,
    /// Its types, as [`super::pattern::key`] gives them.
    pub sig: Sig,
    /// The CPU features that matter to it.
    pub features: u32,
    /// The first of its same-node conditions in [`TileSet::sames`].
    pub same: u16,
    /// How many of them there are.
    pub sames: u8,
    /// The first of its tables' numbers in [`TileSet::variants`], of which there is one for each subset of
    /// features and conditions: the conditions are the low bits of the position.
    pub variants: u16,
}

/// A machine's tiles with the tables to choose among them.
#[derive(Clone, Copy, Debug)]
pub struct TileSet {
    /// The operators it knows.
    pub vocab: Vocabulary,
    /// The names of CPU features, by bit.
    pub features: &'static [&'static str],
    /// The tiles, by [`crate::ir::tiles::TileId`].
    pub tiles: &'static [TileInfo],
    /// The flat rules.
    pub rules: &'static [FlatRule],
    /// The tables of operators.
    pub ops: &'static [OpTable],
    /// The states that the tables lead to.
    pub cells: &'static [u16],
    /// For each state its view: states whose costs are the same look alike to operators above.
    pub views: &'static [u16],
    /// For each distinct way to group views, the class of each.
    pub classes: &'static [u8],
    /// The operators' forms, in order.
    pub heads: &'static [Head],
    /// Which table a form has.
    pub variants: &'static [u16],
    /// The same-node conditions of forms.
    pub sames: &'static [Same],
    /// The predicates that matter, by the bits of a compact mask.
    pub predicates: &'static [Predicate],
    /// For each type and each compact mask the state of a constant.
    pub constants: &'static [u16],
    /// The rule that makes a symbol in a state, at the symbol's offset plus the state.
    pub select: &'static [u16],
    /// The offset of each symbol in `select`.
    pub offsets: &'static [u16],
    /// How many states there are.
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

    /// The state of a constant.
    #[inline]
    pub fn constant(&self, ty: crate::vocab::Type, bits: u64) -> u16 {
        let mask = Predicate::mask(ty, bits);
        let mut compact = 0;
        for (bit, predicate) in self.predicates.iter().enumerate() {
            compact |= (mask as usize >> *predicate as usize & 1) << bit;
        }
        self.constants[(ty as usize) << self.predicates.len() | compact]
    }

    /// The number of the rule that makes `symbol` in `state`; nonsense if that is impossible.
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

    /// The first operator of a vocabulary that this set was not made for, if there is one.
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
    /// Where the tables for a CPU with these features start in [`TileSet::variants`].
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
