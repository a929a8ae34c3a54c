//! Tiles as their emitters see them, and the sets that compilers choose from.

use super::{Backend, slot_offset};
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::{Assignment, Loc};
use azulejo_core::ir::index::List;
use azulejo_core::ir::tiles::{Inst, Role, TileList};
use azulejo_core::vocab::Sig;
use core::fmt;
use core::marker::PhantomData;

/// Emits one tile.
pub type EmitFn<M> = fn(&mut M, &Tile<'_, M>);

/// The tiles that a compiler chooses from and how each is emitted; made by `tileset!`.
#[derive(Clone, Copy, Debug)]
pub struct Set<M: Backend> {
    /// Costs and constraints, and the tables to choose by.
    pub tables: &'static TileSet,
    /// The emitter of each tile.
    pub emit: &'static [EmitFn<M>],
    /// The rows that the tables were made of, as text for tools.
    pub rows: &'static str,
}

/// The place of an instruction's operand: a register, or the stack if the machine's instructions take operands from there.
pub trait Place {
    /// The register with this number.
    fn register(number: u8) -> Self;

    /// The stack, this many bytes above the stack pointer.
    fn stack(offset: u32) -> Self;
}

/// An instruction with its operands in place, as emitters see it.
#[derive(Clone, Copy)]
pub struct Tile<'a, M> {
    /// The types of the pattern's root.
    pub sig: Sig,
    /// The bytecode it came from.
    pub origin: u32,
    pub(super) locs: &'a [Loc],
    imms: &'a [i64],
    /// How many of `locs` are results.
    n_outs: usize,
    /// The index of the first temporary.
    first_temp: usize,
    out_args: u16,
    pub(super) list: &'a TileList,
    pub(super) operands: List,
    form: FormSpan,
    machine: PhantomData<M>,
}

/// The operands and constants that belong to the row's form. The row counts them as one operand without constants.
#[derive(Clone, Copy)]
struct FormSpan {
    reg: usize,
    regs: usize,
    imm: usize,
    imms: usize,
}

impl FormSpan {
    /// A single operand, which is the same as no form.
    const NONE: FormSpan = FormSpan { reg: 0, regs: 1, imm: 0, imms: 0 };
}

impl<M> fmt::Debug for Tile<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tile { sig, origin, locs, imms, .. } = self;
        let mut text = f.debug_struct("Tile");
        text.field("sig", sig).field("origin", origin).field("locs", locs).field("imms", imms);
        text.finish_non_exhaustive()
    }
}

impl<'a, M: Backend> Tile<'a, M> {
    /// The tile of an instruction.
    pub(super) fn of(tiles: &'a TileList, assignment: &'a Assignment, inst: &Inst) -> Tile<'a, M> {
        let Inst { sig, operands, imms, origin, .. } = *inst;
        let roles = &tiles.operands[operands.range()];
        let is_result = |role: Role| matches!(role, Role::Def | Role::EarlyDef);
        let n_outs = roles.iter().take_while(|operand| is_result(operand.role)).count();
        let first_temp = roles.iter().position(|operand| operand.role == Role::Temp).unwrap_or(roles.len());
        Tile {
            sig,
            origin,
            locs: &assignment.locs[operands.range()],
            imms: &tiles.imms[imms.range()],
            n_outs,
            first_temp,
            out_args: tiles.out_args,
            list: tiles,
            operands,
            form: FormSpan::NONE,
            machine: PhantomData,
        }
    }

    /// The tile from this operand and constant on, as an alternative of a form sees it. For code that `tile!` writes.
    #[doc(hidden)]
    pub fn from_operand(&self, reg: usize, imm: usize) -> Tile<'a, M> {
        Tile { n_outs: self.n_outs + reg, imms: &self.imms[imm..], ..*self }
    }

    /// The tile with these operands and constants as those of the row's form. For code that `tile!` writes.
    #[doc(hidden)]
    pub fn with_form(&self, reg: usize, regs: usize, imm: usize, imms: usize) -> Tile<'a, M> {
        Tile { form: FormSpan { reg, regs, imm, imms }, ..*self }
    }

    /// The result's register.
    pub fn out(&self) -> u8 {
        self.number(0)
    }

    /// The register of the n-th operand, in pattern order.
    pub fn reg(&self, n: usize) -> u8 {
        self.number(self.operand(n))
    }

    /// The place of the n-th operand, if it may be in its spill slot.
    pub fn place(&self, n: usize) -> M::Place {
        match self.locs[self.operand(n)] {
            Loc::Reg(reg) => M::Place::register(reg.number()),
            Loc::Slot(slot) => M::Place::stack(slot_offset(self.out_args, slot)),
            Loc::OutArg(_) => unreachable!("an argument on the stack is no operand of a tile's pattern"),
        }
    }

    /// How many operands the tile reads.
    pub fn operands(&self) -> usize {
        self.first_temp - self.n_outs + 1 - self.form.regs
    }

    /// The n-th scratch register.
    pub fn temp(&self, n: usize) -> u8 {
        self.number(self.first_temp + n)
    }

    /// The n-th constant, in pattern order.
    pub fn imm(&self, n: usize) -> i64 {
        let form = self.form;
        self.imms[if n < form.imm { n } else { n + form.imms }]
    }

    fn operand(&self, n: usize) -> usize {
        let form = self.form;
        self.n_outs + if n <= form.reg { n } else { n + form.regs - 1 }
    }

    fn number(&self, at: usize) -> u8 {
        match self.locs[at] {
            Loc::Reg(reg) => reg.number(),
            other => unreachable!("{other:?} was to be a register"),
        }
    }
}
