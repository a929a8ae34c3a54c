//! `(quicken Enum::Opcode)`, by which a bytecode becomes another one with the same operands.
//!
//! In: the opcode as written. Out: a [`Typed`] tree with its number, or an error: there is no such opcode, or its operands are others. What
//! the two do with their operands is compared where both templates are known, by rustc.

use super::ast::{Kind, Opcode, Operand, Typed};
use super::check::{Checked, Checker, fail, void, wrong_count};
use crate::place::Place;
use crate::sexpr::Sexpr;
use crate::token::text;
use crate::words::did_you_mean;
use azulejo_core::ir::bytecode::OperandKind;

impl Checker<'_> {
    /// Checks `(quicken Enum::Opcode)`.
    pub(super) fn quicken(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [to] = rest else {
            return wrong_count(place, "quicken", "the opcode that this bytecode becomes", rest);
        };
        let Sexpr::Word(tokens, written, at) = to else {
            let path = text(self.of.path);
            return fail(to.place(), format!("expected an opcode of this enum: `{path}::Name`"));
        };
        let (path, name) = written.text.rsplit_once("::").unwrap_or(("", &written.text));
        if path != text(self.of.path) {
            let path = text(self.of.path);
            return fail(*at, format!("an opcode of this enum is written `{path}::{name}`"));
        }
        let Some(to) = self.of.opcodes.iter().position(|opcode| opcode.name == name) else {
            let hint = did_you_mean(name, self.of.opcodes.iter().map(|opcode| opcode.name.as_str()));
            return fail(*at, format!("the enum has no opcode `{name}`{hint}"));
        };
        self.demand_same_operands(&self.of.opcodes[to], *at)?;
        self.quickens = true;
        Ok(void(Kind::Quicken(to, tokens.clone()), place))
    }

    fn demand_same_operands(&self, to: &Opcode, place: Place) -> Checked<()> {
        let (from, name) = (&self.opcode.name, &to.name);
        let written = |operand: &Operand| {
            let of = match (operand.scalar, operand.kind) {
                (Some(scalar), _) => format!("<{}>", scalar.name()),
                (None, OperandKind::Site) => {
                    format!("<{}, {}>", operand.case.trim_matches('"'), operand.capacity)
                }
                (None, _) => String::new(),
            };
            format!("`{}: {}{of}`", operand.name, operand.kind.name())
        };
        let (own, others) = (&self.opcode.operands, &to.operands);
        let differing = std::iter::zip(own, others).find(|(own, other)| own != other);
        if let Some((own, other)) = differing {
            let (own, other) = (written(own), written(other));
            return fail(
                place,
                format!(
                    "`{from}` becomes an opcode with the same operands, and has {own} where `{name}` has {other}"
                ),
            );
        }
        let longer = if own.len() > others.len() { own } else { others };
        match longer.get(own.len().min(others.len())) {
            None => Ok(()),
            Some(more) => {
                let (has, lacks) = if own.len() > others.len() { (from, name) } else { (name, from) };
                let more = written(more);
                fail(
                    place,
                    format!(
                        "`{from}` becomes an opcode with the same operands, and `{lacks}` lacks {more} of `{has}`"
                    ),
                )
            }
        }
    }
}
