//! Narrowings of an opcode: stencils that do only what a bytecode has been seen to need.
//!
//! In: a bytecode whose opcode has a site, or a slow path. Out: the [`Narrowing`] by which it is planned, if there is one. Narrowings are
//! numbered behind the opcodes as they are met, and from there on each is an opcode of its own, with variants like any other.
//!
//! - One that *knows a case* has little more than the code for the first case of the site, of one [`Sort`].
//! - A *lean* one has no slow path. So where the bytecode's slow path has never run, and its site has one case at most, almost nothing of
//!   the template is left.
//! - One that *knows that there is no case* goes on where none fits, and leaves the function in front of the slow path if there is one by
//!   then. A lean one for a bytecode that has not run often does nothing but leave.
//! - One that *knows the only case* has the code for it, and the slow path behind that. It leaves the function there if there is another case by
//!   then.
//!
//! For all else, control goes to what stands behind the hot parts, and starts the bytecode over: from a lean stencil and one that knows all cases
//! to the one that leaves the function, and from any other to the *general* stencil of the same variant, which does all that the template
//! says. So that and the one that knows a case read and hand on the same cached values. Stencils that leave hand on what they like.

use super::fixed::LEAVE;
use super::opcodes::{Detail, Opcodes};
use super::operand::{Here, Operand};
use super::pack::{Packed, PackedStencil, StencilId, TableId};
use super::plan::{Has, Missing, OpcodePlan};
use super::stock::Stock;
use crate::stencil::{LeadsTo, Stencil};
use azulejo_core::ir::sites::{FORGOTTEN_OFFSET, Sites as SiteCases};
use azulejo_core::ir::slow_paths::SlowPaths;
use azulejo_core::ir::template::Template;
use azulejo_core::pass::build::{CaseField, FirstCase, KnownCase, KnownCases, MARKS, Sort};
use azulejo_core::verify::Function;

/// The most narrowings of one opcode. A bytecode that needs yet another has a general stencil.
const MOST: usize = 16;

/// What the stencils of a narrowed opcode know, and lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Narrowing {
    pub(super) cases: Cases,
    /// Whether they lack the slow path, and all cases that they do not know.
    pub(super) is_lean: bool,
}

impl Narrowing {
    /// Whether the stencils leave the function for what they lack. All others go on in general ones.
    fn leaves(&self) -> bool {
        self.is_lean || matches!(self.cases, Cases::None(_) | Cases::Only(_))
    }
}

/// What the stencils of a narrowed opcode know of the cases of its site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cases {
    /// Nothing, or there is no site.
    InMemory,
    /// There is none, nor one of the other sites of these operands. One bit stands for each.
    None(u16),
    /// The sort of the first.
    First(Sort),
    /// The sort of the first, which is the only one.
    Only(Sort),
}

impl Cases {
    /// What is known where stencils read this of a first case.
    pub(super) fn of(self, first: Option<&FirstCase>) -> KnownCases<'_> {
        match (self, first) {
            (Cases::InMemory, _) | (_, None) => KnownCases::Nothing,
            (Cases::None(others), Some(first)) => KnownCases::None(1 << first.operand | others),
            (Cases::First(sort), Some(first)) => KnownCases::First(KnownCase { first, sort }),
            (Cases::Only(sort), Some(first)) => KnownCases::Only(KnownCase { first, sort }),
        }
    }
}

/// What a function's bytecodes have been through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Learned<'a> {
    sites: Option<&'a SiteCases>,
    /// The slow paths, if those are left out that have not run.
    slow_paths: Option<&'a SlowPaths>,
}

impl<'a> Learned<'a> {
    pub(super) fn of<B>(function: &Function<'a, B>) -> Learned<'a> {
        let Function { sites, slow_paths, leaves_out, .. } = *function;
        Learned { sites, slow_paths: leaves_out.then_some(slow_paths) }
    }
}

/// The cases of the sites of an opcode.
#[derive(Clone, Debug)]
pub(super) struct Sorts {
    /// What the template reads of a first case.
    pub(super) first: FirstCase,
    /// The operand that is the site.
    site: Operand,
    /// The other operands whose sites get cases on the slow path only, with their bits.
    others: Vec<(u16, Operand)>,
}

/// How a bytecode is planned.
pub(super) enum PlannedAs {
    /// As this opcode, which is its own or a narrowing of that.
    Opcode(usize),
    /// As a narrowing that was not met before.
    New(Narrowing),
}

impl Sorts {
    /// None of an opcode whose template looks at no case.
    pub(super) fn of(template: &Template, operands: &[Operand]) -> Option<Sorts> {
        let first = FirstCase::of(template)?;
        let learning = template.learns_slowly() & !(1 << first.operand);
        let of_bit = |at: usize| (learning & 1 << at != 0).then(|| (1 << at, operands[at]));
        Some(Sorts {
            site: operands[first.operand as usize],
            others: (0..operands.len()).filter_map(of_bit).collect(),
            first,
        })
    }

    /// The operands of the other sites that have no case.
    ///
    /// # Safety
    ///
    /// As for [`find`](Self::find).
    unsafe fn others_without(&self, here: Here<'_>, sites: &SiteCases) -> u16 {
        // SAFETY: the caller guarantees it.
        let is_empty = |site: &Operand| sites.len_at(unsafe { site.read(here) }) == 0;
        self.others.iter().filter(|(_, site)| is_empty(site)).fold(0, |all, (bit, _)| all | bit)
    }

    /// The sort of the first case of a bytecode's site, if a stencil can know it; and how many cases there are.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of the opcode, which has one of these sites.
    unsafe fn find(&self, here: Here<'_>, sites: &SiteCases) -> (Option<Sort>, usize) {
        // SAFETY: the caller guarantees it.
        let site = unsafe { self.site.read(here) };
        let count = sites.len_at(site);
        if count == 0 {
            return (None, 0);
        }
        // SAFETY: there is a first case, and these are fields of it.
        let read = |field: &CaseField| unsafe { SiteCases::read(site, field.offset, field.ty.bytes() as u8) };
        // Such a field is in an instruction that takes it for a number with a sign, and one that does not.
        let fits = |field: &CaseField| field.ty.bits() == 64 || i32::try_from(read(field)).is_ok();
        if !self.first.others.iter().all(fits) {
            return (None, count);
        }
        let mut sort = [0; MARKS];
        core::iter::zip(&mut sort, &self.first.marks).for_each(|(mark, field)| *mark = read(field));
        (Some(sort), count)
    }

    /// Whether cases were taken out of a bytecode's site, so that others may take their places.
    ///
    /// # Safety
    ///
    /// As for [`find`](Self::find), and the bytecode must have its site.
    unsafe fn have_forgotten(&self, here: Here<'_>) -> bool {
        // SAFETY: the caller guarantees that the site is there, and this is in its header.
        unsafe { SiteCases::read(self.site.read(here), FORGOTTEN_OFFSET as u32, 1) != 0 }
    }
}

impl Opcodes {
    /// Numbers a narrowing of an opcode.
    pub(super) fn learn_narrowing(&mut self, opcode: usize, narrowing: Narrowing) {
        let number = self.details.len();
        let detail = &mut self.details[opcode];
        if detail.narrowed.iter().any(|(known, _)| *known == narrowing) {
            return;
        }
        detail.narrowed.push((narrowing, number));
        let new = Detail {
            sorts: None,
            has_slow_path: false,
            narrowed: Vec::new(),
            narrowing_of: Some((opcode, narrowing)),
            carry: if narrowing.leaves() { None } else { detail.carry },
            ..detail.clone()
        };
        self.plans.push(OpcodePlan::new(&new));
        self.details.push(new);
    }

    /// The opcode as the program has it, of one that may be narrowed.
    pub(super) fn written(&self, opcode: usize) -> usize {
        self.details[opcode].narrowing_of.map_or(opcode, |(of, _)| of)
    }

    /// What the stencils of an opcode know, and lack: nothing if it is as the program has it.
    pub(super) fn narrowing(&self, opcode: usize) -> Narrowing {
        let none = Narrowing { cases: Cases::InMemory, is_lean: false };
        self.details[opcode].narrowing_of.map_or(none, |(_, narrowing)| narrowing)
    }

    /// What stencils of an opcode read of a first case, if they can know one.
    pub(super) fn first_case(&self, opcode: usize) -> Option<&FirstCase> {
        Some(&self.details[self.written(opcode)].sorts.as_ref()?.first)
    }

    /// The opcode that the bytecode at `at` is planned as, by the cases of its site, and by whether its slow path has run.
    ///
    /// # Safety
    ///
    /// `here` must refer to a bytecode of the opcode.
    pub(super) unsafe fn narrowed(
        &self,
        opcode: usize,
        here: Here<'_>,
        learned: &Learned<'_>,
        at: usize,
    ) -> PlannedAs {
        let detail = &self.details[opcode];
        let (sort, count) = match (&detail.sorts, learned.sites) {
            // SAFETY: the caller guarantees it.
            (Some(sorts), Some(sites)) => unsafe { sorts.find(here, sites) },
            _ => (None, 0),
        };
        let is_lean = detail.has_slow_path
            && count <= 1
            && learned.slow_paths.is_some_and(|slow_paths| slow_paths.may_be_left_out(at as u32));
        // Where nothing may be left out, the site is read.
        let learning = detail.sorts.as_ref().filter(|sorts| sorts.first.learns_slowly);
        let may_leave = learning.zip(learned.sites).filter(|_| learned.slow_paths.is_some());
        let is_only = count == 1 && !is_lean && detail.has_slow_path;
        let cases = match (sort, may_leave) {
            // SAFETY: the caller guarantees it, and there is a case.
            (Some(sort), Some((sorts, _))) if is_only && !unsafe { sorts.have_forgotten(here) } => {
                Cases::Only(sort)
            }
            (Some(sort), _) => Cases::First(sort),
            (None, Some((sorts, sites))) if count == 0 => {
                // SAFETY: the caller guarantees it.
                Cases::None(unsafe { sorts.others_without(here, sites) })
            }
            (None, _) => Cases::InMemory,
        };
        let narrowing = Narrowing { cases, is_lean };
        if cases == Cases::InMemory && !is_lean {
            return PlannedAs::Opcode(opcode);
        }
        match detail.narrowed.iter().find(|(known, _)| *known == narrowing) {
            Some((_, number)) => PlannedAs::Opcode(*number),
            None if detail.narrowed.len() == MOST => PlannedAs::Opcode(opcode),
            None => PlannedAs::New(narrowing),
        }
    }

    /// Names the no-store variant that a stencil of an opcode lacks.
    pub(super) fn no_store(&self, of: StencilId, opcode: usize) -> Missing {
        let narrowed = self.details[opcode].narrowed.iter().map(|(_, number)| *number);
        let found = core::iter::once(opcode).chain(narrowed).find_map(|opcode| {
            let variants = &self.plans[opcode].variants;
            Some((opcode, variants.iter().position(|choice| choice.stencil == of)?))
        });
        let (opcode, variant) = found.expect("it was chosen for this opcode");
        Missing { opcode, variant, no_store_of: Some(of) }
    }

    /// The stencil that has to be made before a missing one: one that is not lean leads to a general one.
    pub(super) fn first(&self, missing: Missing, packed: &Packed) -> Missing {
        let Some((of, narrowing)) = self.details[missing.opcode].narrowing_of else { return missing };
        if narrowing.leaves() {
            return missing;
        }
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
    /// Whether there is a use for a missing stencil of a narrowed opcode.
    pub(super) fn wants(&self, missing: Missing) -> bool {
        let leaves = self.opcodes.narrowing(missing.opcode).leaves();
        missing
            .no_store_of
            .is_none_or(|of| leaves || self.packed.no_store_of_general(of) != PackedStencil::NONE)
    }

    /// Whether a stencil of a narrowed opcode can take the general one's place.
    pub(super) fn fits(&self, missing: Missing, stencil: &Stencil) -> bool {
        let of = self.opcodes.written(missing.opcode);
        match self.opcodes.narrowing(missing.opcode).leaves() {
            // Otherwise it leaves nothing out, because something was written before.
            true => stencil.distances.iter().any(|distance| distance.to == LeadsTo::General),
            false => stencil.facts.cached == self.opcodes.details[of].carry && self.wants(missing),
        }
    }

    /// Adds a stencil of a narrowed opcode, if it could be made, and can take the general one's place. Otherwise its bytecodes get the
    /// general one, which must be there.
    pub(super) fn set_narrowed(&mut self, missing: Missing, stencil: Option<&Stencil>) {
        if self.has(missing) {
            return;
        }
        let Missing { opcode, variant, no_store_of } = missing;
        let (of, leaves) = (self.opcodes.written(opcode), self.opcodes.narrowing(opcode).leaves());
        let number = stencil.filter(|stencil| self.fits(missing, stencil)).map(|stencil| {
            let operands = self.opcodes.details[of].operands.clone();
            let number = self.add(stencil, &operands, TableId::NONE);
            let general = match no_store_of {
                _ if leaves => self.packed.fixed[LEAVE],
                None => self.opcodes.plans[of].variants[variant].stencil,
                Some(of) => self.packed.no_store_of_general(of),
            };
            self.packed.lead(number, general);
            number
        });
        if let Some(of) = no_store_of {
            self.packed.stencils[of.at()].no_store = number.unwrap_or(PackedStencil::NONE);
            return;
        }
        let general = self.opcodes.plans[of].variants[variant];
        match number.zip(stencil) {
            None => self.opcodes.borrow(missing, general),
            Some((number, stencil)) => self.opcodes.set(missing, stencil, number, &self.packed),
        }
        if !leaves {
            let choice = &mut self.opcodes.plans[opcode].variants[variant];
            choice.has |= general.has.difference(Has::TAKES_CACHED);
            choice.has &= general.has.union(Has::TAKES_CACHED.complement());
            self.opcodes.plans[opcode].carry = self.opcodes.plans[of].carry;
        }
    }
}
