//! Which stencils of an opcode know a case of a site: one for each sort of case.
//!
//! In: a bytecode whose opcode has a site. Out: the [`Sort`] of the case that a stencil of it may know. Sorts are numbered behind the
//! opcodes as they are met, and from there on each is an opcode of its own, with variants like any other.
//!
//! A stencil that knows a case has little more than the code for that case. For all else it leads to the *general* stencil of the same
//! variant, which stands behind the hot parts, and starts the bytecode over. So both read and hand on the same cached values.

use super::operand::{Here, Operand};
use super::pack::{Packed, PackedStencil, StencilId, TableId};
use super::plan::{Detail, Has, Missing, OpcodePlan, Opcodes};
use super::stock::Stock;
use crate::stencil::Stencil;
use azulejo_core::ir::sites::Sites;
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{CaseField, FirstCase, KnownCase, MARKS, Sort};

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
pub(super) enum PlannedAs {
    /// As this opcode, which is its own or that of a sort.
    Opcode(usize),
    /// As one of a sort that was not met before.
    New(Sort),
}

impl Sorts {
    /// None of an opcode whose template looks at no case.
    pub(super) fn of(template: &Template, operands: &[Operand]) -> Option<Sorts> {
        let first = FirstCase::of(template)?;
        Some(Sorts { site: operands[first.operand as usize], first, known: Vec::new() })
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
    pub(super) unsafe fn choose(&self, opcode: usize, here: Here<'_>, sites: &Sites) -> PlannedAs {
        // SAFETY: the caller guarantees it.
        let site = unsafe { self.site.read(here) };
        if sites.len_at(site) == 0 {
            return PlannedAs::Opcode(opcode);
        }
        // SAFETY: there is a first case, and these are fields of it.
        let read = |field: &CaseField| unsafe { Sites::read(site, field.offset, field.ty.bytes() as u8) };
        // Such a field is in an instruction that takes it for a number with a sign, and one that does not.
        let fits = |field: &CaseField| field.ty.bits() == 64 || i32::try_from(read(field)).is_ok();
        if !self.first.others.iter().all(fits) {
            return PlannedAs::Opcode(opcode);
        }
        let mut sort = [0; MARKS];
        core::iter::zip(&mut sort, &self.first.marks).for_each(|(mark, field)| *mark = read(field));
        match self.find(sort) {
            Some(number) => PlannedAs::Opcode(number),
            None if self.known.len() == MOST_SORTS => PlannedAs::Opcode(opcode),
            None => PlannedAs::New(sort),
        }
    }
}

impl Opcodes {
    /// Numbers a sort of an opcode's cases.
    pub(super) fn learn_sort(&mut self, opcode: usize, sort: Sort) {
        let number = self.details.len();
        let detail = &mut self.details[opcode];
        if !detail.sorts.as_mut().is_some_and(|sorts| sorts.add(sort, number)) {
            return;
        }
        let new = Detail { sorts: None, sort_of: Some((opcode, sort)), ..detail.clone() };
        self.plans.push(OpcodePlan::new(&new));
        self.details.push(new);
    }

    /// The opcode as the program has it, of one that may be a sort.
    pub(super) fn written(&self, opcode: usize) -> usize {
        self.details[opcode].sort_of.map_or(opcode, |(of, _)| of)
    }

    /// The case that stencils of an opcode know.
    pub(super) fn known_case(&self, opcode: usize) -> Option<KnownCase<'_>> {
        let (of, sort) = self.details[opcode].sort_of?;
        let sorts = self.details[of].sorts.as_ref()?;
        Some(KnownCase { first: &sorts.first, sort })
    }

    /// The opcode that a bytecode is planned as, by the first case of its site.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of the opcode.
    pub(super) unsafe fn by_case(&self, opcode: usize, here: Here<'_>, sites: Option<&Sites>) -> PlannedAs {
        match (&self.details[opcode].sorts, sites) {
            // SAFETY: the caller guarantees it.
            (Some(sorts), Some(sites)) => unsafe { sorts.choose(opcode, here, sites) },
            _ => PlannedAs::Opcode(opcode),
        }
    }

    /// Names the no-store variant that a stencil of an opcode lacks.
    pub(super) fn no_store(&self, of: StencilId, opcode: usize) -> Missing {
        let sorts = self.details[opcode].sorts.iter().flat_map(Sorts::numbers);
        let found = core::iter::once(opcode).chain(sorts).find_map(|opcode| {
            let variants = &self.plans[opcode].variants;
            Some((opcode, variants.iter().position(|choice| choice.stencil == of)?))
        });
        let (opcode, variant) = found.expect("it was chosen for this opcode");
        Missing { opcode, variant, no_store_of: Some(of) }
    }
    /// The stencil that has to be made before a missing one: a stencil that knows a case leads to a general one.
    pub(super) fn first(&self, missing: Missing, packed: &Packed) -> Missing {
        let Some((of, _)) = self.details[missing.opcode].sort_of else { return missing };
        let general = Missing { opcode: of, ..missing };
        match missing.no_store_of {
            None if !self.has(general) => general,
            Some(stencil) if packed.no_store_of_general(stencil) == PackedStencil::UNKNOWN => {
                Missing { no_store_of: Some(packed.generals[stencil.at()]), ..general }
            }
            _ => missing,
        }
    }
}

impl Packed {
    /// The no-store variant of the general stencil to which one leads.
    fn no_store_of_general(&self, stencil: StencilId) -> StencilId {
        self.stencils[self.generals[stencil.at()].at()].no_store
    }
}

impl Stock {
    /// Whether there is a use for a missing stencil that knows a case.
    pub(super) fn wants(&self, missing: Missing) -> bool {
        missing.no_store_of.is_none_or(|of| self.packed.no_store_of_general(of) != PackedStencil::NONE)
    }

    /// Adds a stencil that knows a case, if it could be made, and agrees with the general one in what it hands on. Otherwise its bytecodes
    /// get the general one.
    pub(super) fn set_sort(&mut self, missing: Missing, stencil: Option<&Stencil>) {
        if self.has(missing) {
            return;
        }
        let Missing { opcode, variant, no_store_of } = missing;
        let of = self.opcodes.written(opcode);
        let carry = self.opcodes.details[of].carry;
        let fitting = stencil.filter(|stencil| stencil.facts.cached == carry && self.wants(missing));
        let operands = self.opcodes.details[of].operands.clone();
        if let Some(of) = no_store_of {
            let number = fitting.map(|stencil| self.add(stencil, &operands, TableId::NONE));
            if let Some(number) = number {
                self.packed.generals[number.at()] = self.packed.no_store_of_general(of);
            }
            self.packed.stencils[of.at()].no_store = number.unwrap_or(PackedStencil::NONE);
            return;
        }
        let general = self.opcodes.plans[of].variants[variant];
        let choice = match fitting {
            None => general,
            Some(stencil) => {
                let number = self.add(stencil, &operands, TableId::NONE);
                self.packed.generals[number.at()] = general.stencil;
                self.opcodes.set(missing, stencil, number, &self.packed);
                let mut choice = self.opcodes.plans[opcode].variants[variant];
                choice.has |= general.has.difference(Has::TAKES_CACHED);
                choice.has &= general.has.union(Has::TAKES_CACHED.complement());
                choice
            }
        };
        self.opcodes.plans[opcode].variants[variant] = choice;
        self.opcodes.plans[opcode].carry = self.opcodes.plans[of].carry;
    }
}
