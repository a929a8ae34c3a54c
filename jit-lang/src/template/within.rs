//! `(within flag code access)`: an access that traps if the flag is false, or that may fault instead of testing the flag.
//!
//! In: the words after `within`. Out: a [`Typed`] tree in which the access is marked, or an error.
//! Code in which accesses may fault does not compute the flag, and evaluates all else in the same order. So nothing
//! besides the access may have an effect whose order or absence could be observed.

use super::ast::{Constant, Kind, Typed};
use super::check::{Checked, Checker, fail, wrong_count};
use super::steps::Access;
use crate::place::Place;
use crate::sexpr::Sexpr;
use crate::token::Token;
use azulejo_core::ir::graph::Effect;
use azulejo_core::vocab::{Op, Props, Scalar, Vocabulary};

const ONE_ACCESS: &str = "expected a load or a store, or a value computed from one";
const QUIET: &str =
    "beside its access a `within` only computes: no calls but pure ones, no traps, no other stores";

impl Checker<'_> {
    pub(super) fn within(&mut self, rest: &[Sexpr], place: Place, expect: Option<Scalar>) -> Checked<Typed> {
        let [condition, code, access] = rest else {
            return wrong_count(place, "within", "a flag, a trap's code, and a load or store", rest);
        };
        let (condition, code) = (self.flag(condition)?, self.number(code)?);
        let mut access = self.expression(access, expect)?;
        if let Some(noise) = noise(&condition, self.vocab) {
            return fail(noise, QUIET);
        }
        mark(&mut access, &code, self.vocab)?;
        let (ty, sign) = (access.ty, access.sign);
        let kind = Kind::Within(Box::new(condition), code, Box::new(access));
        Ok(Typed { kind, ty, sign, leaves: false, is_loose: false, place })
    }
}

/// Marks the outermost access. Exactly one must exist.
fn mark(typed: &mut Typed, code: &[Token], vocab: Vocabulary) -> Checked<()> {
    let place = typed.place;
    match &mut typed.kind {
        Kind::Op { op, args, imm, checks, .. } if checks.is_empty() => {
            if is_access(*op, imm, vocab) {
                let region = match imm {
                    Some(Constant::Access { region, .. }) => *region,
                    _ => 0,
                };
                *imm = Some(Constant::Access { access: Access::Within(code.to_vec()), region });
                return args
                    .iter()
                    .find_map(|arg| noise(arg, vocab))
                    .map_or(Ok(()), |noise| fail(noise, QUIET));
            }
            one_of(args.iter_mut(), place, code, vocab)
        }
        Kind::OfKind { value, .. } => mark(value, code, vocab),
        Kind::Let(bound, body) => {
            one_of(bound.iter_mut().map(|(_, value)| value).chain([&mut **body]), place, code, vocab)
        }
        _ => fail(place, ONE_ACCESS),
    }
}

/// Marks the access in one of these expressions, of which only one may contain an access.
fn one_of<'a>(
    parts: impl Iterator<Item = &'a mut Typed>,
    place: Place,
    code: &[Token],
    vocab: Vocabulary,
) -> Checked<()> {
    let (mut with, without): (Vec<&mut Typed>, Vec<&mut Typed>) =
        parts.partition(|part| touches(part, vocab));
    if let Some(noise) = without.iter().find_map(|part| noise(part, vocab)) {
        return fail(noise, QUIET);
    }
    match &mut with[..] {
        [only] => mark(only, code, vocab),
        [] => fail(place, ONE_ACCESS),
        [_, second, ..] => fail(second.place, "one `within` is about one access; write one for each"),
    }
}

/// Whether an expression contains an access.
fn touches(typed: &Typed, vocab: Vocabulary) -> bool {
    let touches_itself = match &typed.kind {
        Kind::Op { op, imm, .. } => is_access(*op, imm, vocab),
        Kind::Within(..) => true,
        _ => false,
    };
    touches_itself || parts(typed).iter().any(|part| touches(part, vocab))
}

/// Whether an operator with this constant accesses memory that may change.
fn is_access(op: Op, imm: &Option<Constant>, vocab: Vocabulary) -> bool {
    let is_pure = matches!(imm, Some(Constant::Access { access: Access::Pure, .. }));
    vocab.info(op).props.contains(Props::ACCESS) && op != Op::HOLDS && !is_pure
}

/// The place of the first part of an expression that has an effect, if any.
fn noise(typed: &Typed, vocab: Vocabulary) -> Option<Place> {
    let is_quiet = match &typed.kind {
        Kind::Op { op, checks, .. } => checks.is_empty() && !vocab.info(*op).props.contains(Props::WRITES),
        Kind::Call(call) => call.effect == Effect::Pure,
        Kind::OfKind { .. } => true,
        Kind::Read(_) | Kind::Constant(_) | Kind::Variable(_) | Kind::Case(_) => true,
        Kind::Window(_) | Kind::WindowLength(_) => true,
        Kind::Let(..) | Kind::If(..) | Kind::All(_) | Kind::Any(_) | Kind::Not(_) | Kind::Likely(..) => true,
        _ => false,
    };
    match is_quiet {
        true => parts(typed).into_iter().find_map(|part| noise(part, vocab)),
        false => Some(typed.place),
    }
}

/// The operands of an expression without effects.
fn parts(typed: &Typed) -> Vec<&Typed> {
    match &typed.kind {
        Kind::Op { args, .. } | Kind::All(args) | Kind::Any(args) => args.iter().collect(),
        Kind::Call(call) => call.args.iter().map(|(arg, _)| arg).collect(),
        Kind::Let(bound, body) => bound.iter().map(|(_, value)| value).chain([&**body]).collect(),
        Kind::If(flag, so, not) => vec![flag, so, not],
        Kind::OfKind { value: inner, .. } | Kind::Not(inner) | Kind::Likely(inner, _) => vec![inner],
        _ => Vec::new(),
    }
}
