//! Which stencils of an opcode know the first case of a site: one for each sort of case.
//!
//! In: a bytecode whose opcode has a site. Out: the [`Sort`] of the case that a stencil of it may know. Sorts are numbered behind the
//! opcodes as they are met, and from there on each is an opcode of its own, with variants like any other.

use super::operand::{Here, Operand};
use azulejo_core::ir::sites::Sites;
use azulejo_core::pass::build::{CaseField, FirstCase, MARKS, Sort};

/// The most sorts of one opcode. A bytecode with a case of yet another has a stencil that knows none.
const MOST_SORTS: usize = 8;

/// The sorts of the cases of an opcode.
#[derive(Clone, Debug)]
pub(super) struct Sorts {
    /// What the template reads of a first case.
    pub(super) first: FirstCase,
    /// The operand that is the site.
    site: Operand,
    /// Each sort that was met, with its number among the opcodes.
    known: Vec<(Sort, usize)>,
}

/// How a bytecode is planned.
pub(super) enum Choice {
    /// As this opcode, which is its own or that of a sort.
    As(usize),
    /// As one of a sort that was not met before.
    New(Sort),
}

impl Sorts {
    pub(super) fn new(first: FirstCase, operands: &[Operand]) -> Sorts {
        Sorts { site: operands[first.operand as usize], first, known: Vec::new() }
    }

    /// Adds a sort, unless it is known.
    pub(super) fn add(&mut self, sort: Sort, number: usize) -> bool {
        let is_new = self.find(sort).is_none();
        if is_new {
            self.known.push((sort, number));
        }
        is_new
    }

    /// The numbers of the sorts among the opcodes.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.known.iter().map(|(_, number)| *number)
    }

    fn find(&self, sort: Sort) -> Option<usize> {
        self.known.iter().find(|(known, _)| *known == sort).map(|(_, number)| *number)
    }

    /// How a bytecode of this opcode is planned, which has one of these sites.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of the opcode.
    #[cold]
    pub(super) unsafe fn choose(&self, opcode: usize, here: Here<'_>, sites: &Sites) -> Choice {
        // SAFETY: the caller guarantees it.
        let site = unsafe { self.site.read(here) };
        if sites.len_at(site) == 0 {
            return Choice::As(opcode);
        }
        // SAFETY: there is a first case, and these are fields of it.
        let read = |field: &CaseField| unsafe { Sites::read(site, field.offset, field.ty.bytes() as u8) };
        // Such a field is in an instruction that takes it for a number with a sign, and one that does not.
        let fits = |field: &CaseField| field.ty.bits() == 64 || i32::try_from(read(field)).is_ok();
        if !self.first.others.iter().all(fits) {
            return Choice::As(opcode);
        }
        let mut sort = [0; MARKS];
        core::iter::zip(&mut sort, &self.first.marks).for_each(|(mark, field)| *mark = read(field));
        match self.find(sort) {
            Some(number) => Choice::As(number),
            None if self.known.len() == MOST_SORTS => Choice::As(opcode),
            None => Choice::New(sort),
        }
    }
}
