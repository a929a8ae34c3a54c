//! `(quicken Enum::Opcode)`, by which a bytecode becomes another one with the same operands.
//!
//! In: the opcode as written. Out: a [`Typed`] tree with its number, or an error: there is no such opcode, or its operands are others. What
//! the two do with their operands is compared where both templates are known, by rustc.

use super::ast::{Kind, Opcode, Operand, Typed};
use super::check::{Checked, Checker, fail, void, wrong_count};
use crate::place::Place;
use crate::sexpr::Sexpr;
use crate::token::{Token, text};
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
        let to = self.same_form_of(to);
        let opcode = &self.of.opcodes[to];
        self.demand_same_operands(opcode, *at)?;
        self.quickens = true;
        let mut tokens = tokens.clone();
        if let Some(Token::Word(last)) = tokens.last_mut() {
            *last = last.renamed(&opcode.name);
        }
        Ok(void(Kind::Quicken(to, tokens), place))
    }

    /// The form of an opcode in which the same operands are constants as in the opcode at hand, if it has one: forms share a row.
    fn same_form_of(&self, to: usize) -> usize {
        let (opcodes, form) = (self.of.opcodes, self.opcode.form());
        let is_same =
            |other: &Opcode| other.form_of.as_ref() == Some(&opcodes[to].name) && other.form() == form;
        opcodes.iter().position(is_same).unwrap_or(to)
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
