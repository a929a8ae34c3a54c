//! `regions { name, name }`: regions of memory, and what loads and stores say of how they touch memory.
//!
//! In: tokens, of which [`read`] makes the names; the words after `load` or `store`. Out: the [`Constant`] of the access, with the
//! number of its region.

use super::ast::Constant;
use super::check::{Checked, Checker, fail};
use super::steps::Access;
use crate::place::{Error, Errors, Place};
use crate::reader::Reader;
use crate::sexpr::Sexpr;
use crate::token::Delimiter;
use crate::words::did_you_mean;
use azulejo_core::ir::regions::{MemoryRegion, MemoryRegions};
use azulejo_core::vocab::{OpInfo, Props};

const PURE: &str = "pure";

/// Whether regions come next, and not a path that starts with a module called `regions`.
pub(super) fn comes_next(reader: &Reader) -> bool {
    reader.is_word("regions") && !reader.has_puncts(1, "::")
}

/// Reads the names of regions, which come next, and adds them to those that are known. Errors in the braces are noted.
pub(super) fn read(reader: &mut Reader, known: &mut Vec<String>, errors: &mut Errors) -> Result<(), Error> {
    const FORM: &str = "regions of memory are `regions { name, name }`";
    reader.next();
    let start = reader.last();
    let Some(group) = reader.group(Delimiter::Brace) else { return Err(Error::new(start, FORM)) };
    let mut inside = Reader::inside(group);
    while !inside.is_empty() {
        let name = inside.name("the name of a region")?;
        let name_text = name.text.as_str();
        if name_text == PURE {
            errors
                .add(name.place, "`(load pure …)` reads what never changes: call the region something else");
        } else if known.iter().any(|known| known == name_text) {
            errors.add(name.place, format!("there is a region `{name_text}` already"));
        } else if known.len() == MemoryRegion::MAX {
            errors.add(name.place, format!("there can be {} regions at most", MemoryRegion::MAX));
        } else {
            known.push(name.text);
        }
        if !inside.is_empty() && !inside.takes_punct(',') {
            return Err(Error::new(inside.here(), FORM));
        }
    }
    Ok(())
}

impl Checker<'_> {
    /// Splits what a load or store says of how it touches memory from its operands.
    pub(super) fn access<'a>(
        &self,
        info: &OpInfo,
        rest: &'a [Sexpr],
    ) -> Checked<(Option<Constant>, &'a [Sexpr])> {
        let touches = info.props.intersects(Props::READS | Props::WRITES | Props::ACCESS);
        let Some((name, place)) = rest.first().and_then(|first| Some((first.word()?, first.place()))) else {
            return Ok((None, rest));
        };
        let has_more = rest.len() > info.operands.len() + info.params.len();
        let region = self.regions.iter().position(|region| region == name);
        if !touches || region.is_none() && !has_more {
            return Ok((None, rest));
        }
        if !info.props.contains(Props::ACCESS) {
            return match region {
                Some(_) => fail(place, "nothing is moved past an atomic access, so it names no region"),
                None => Ok((None, rest)),
            };
        }
        let others = &rest[1..];
        let second = others.first().and_then(Sexpr::word);
        if name == PURE && info.props.contains(Props::READS) {
            return match second.is_some_and(|word| self.regions.iter().any(|region| region == word)) {
                true => fail(others[0].place(), BOTH),
                false => Ok((Some(Constant::Access { access: Access::Pure, region: 0 }), others)),
            };
        }
        match region {
            Some(_) if second == Some(PURE) => fail(others[0].place(), BOTH),
            Some(region) => {
                let region = region as u8 + 1;
                Ok((Some(Constant::Access { access: Access::Plain, region }), others))
            }
            None => self.no_region(name, place),
        }
    }

    /// The regions in `(changes region …)`.
    pub(super) fn changed(&self, names: &[Sexpr], place: Place) -> Checked<MemoryRegions> {
        if names.is_empty() {
            return fail(place, "`(changes region …)` names the regions that a call changes");
        }
        let mut changed = MemoryRegions::NONE;
        for named in names {
            let Some(name) = named.word() else {
                return fail(named.place(), "expected the name of a region");
            };
            let Some(at) = self.regions.iter().position(|region| region == name) else {
                return self.no_region(name, named.place());
            };
            changed = changed.or(MemoryRegion::of_number(at as u8 + 1).places());
        }
        Ok(changed)
    }

    fn no_region<T>(&self, name: &str, place: Place) -> Checked<T> {
        if name == PURE {
            return fail(place, "`pure` says that what is read never changes, and this reads nothing");
        }
        let hint = did_you_mean(name, self.regions.iter().map(String::as_str));
        let hint = if hint.is_empty() {
            format!("; `regions {{ {name} }}` before the rows declares it")
        } else {
            hint
        };
        fail(place, format!("there is no region `{name}`{hint}"))
    }
}

const BOTH: &str = "what never changes is apart from all that is written: `pure` needs no region";
