//! Sites: `cached`, which looks at the cases of a site, `case`, a field of the case at hand, `full`, whether there is room for more,
//! `outside`, what no case tells of, and sites as arguments of calls.
//!
//! In: the words after the form's name. Out: a [`Typed`] tree, or an error; and from that the steps. The condition and the body stand in the
//! tree once. They are lowered once for each case that the site has room for.

use super::ast::{Cached, CaseField, Kind, Typed};
use super::check::{Checked, Checker, fail, wrong_count};
use super::control::one_of;
use super::lower::{CaseAt, Lowering};
use super::signs::Sign;
use super::steps::{Access, Imm, SiteOffset, Step};
use crate::place::Place;
use crate::sexpr::Sexpr;
use crate::token::{Token, text};
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::ir::graph::Effect;
use azulejo_core::ir::template::Likelihood;
use azulejo_core::vocab::{Op, Scalar, Sig, Type};

/// The words of these forms.
pub(super) const FORMS: [&str; 6] = ["cached", "cachedv", "case", "full", "outside", "outsidev"];

/// What `(case field)` is about: the innermost `cached` whose condition or body is being checked.
pub(super) struct CaseAtHand {
    number: usize,
    site: usize,
    case: Vec<Token>,
}

impl Checker<'_> {
    /// Checks `(cached $site Struct condition body otherwise)`; `cachedv` is for what has no value.
    pub(super) fn cached(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let [site, case, condition, body, otherwise] = rest else {
            let usage = "a site, the struct of its cases, a flag, what there is for a case of which it holds, and what otherwise";
            return wrong_count(place, word, usage, rest);
        };
        let site = self.operand_of(Some(site), &[OperandKind::Site], "a `Site` operand", place)?;
        let Sexpr::Word(path, _, named) = case else {
            return fail(case.place(), "expected the struct of the site's cases");
        };
        self.is_told(&text(path), *named)?;
        let number = self.n_cached;
        self.n_cached += 1;
        let is_value = word == "cached";
        let arm = |checker: &mut Self, written: &Sexpr| match is_value {
            true => checker.expression(written, expect),
            false => checker.statement(written),
        };
        let (condition, body, looked) = self.perhaps(|checker| {
            checker.cases.push(CaseAtHand { number, site, case: path.clone() });
            let condition = checker.condition_for_each_case(condition)?;
            let looked = checker.has_effect;
            let body = arm(checker, body)?;
            checker.cases.pop();
            Ok((condition, body, looked))
        })?;
        let of_body = std::mem::replace(&mut self.has_effect, looked);
        let otherwise = self.perhaps(|checker| arm(checker, otherwise))?;
        let of_otherwise = self.has_effect;
        self.has_effect = looked || of_body && !body.leaves || of_otherwise && !otherwise.leaves;
        let choice = match is_value {
            true => self.choice(word, condition, [body, otherwise], place, expect)?,
            false => one_of(condition, [body, otherwise], place),
        };
        let Kind::If(condition, body, otherwise) = choice.kind else {
            unreachable!("a choice is a conditional")
        };
        let (condition, body, otherwise) = (*condition, *body, *otherwise);
        let cached = Cached { number, site, case: path.clone(), place: *named, condition, body, otherwise };
        Ok(Typed { kind: Kind::Cached(Box::new(cached)), ..choice })
    }

    /// Checks the condition of a `cached`. For a later case it is computed again, behind the effects that it had for an earlier one.
    fn condition_for_each_case(&mut self, written: &Sexpr) -> Checked<Typed> {
        let (had_effect, n_natives) = (self.has_effect, self.natives.len());
        let condition = self.flag(written)?;
        if had_effect || !self.has_effect {
            return Ok(condition);
        }
        self.natives.truncate(n_natives);
        self.flag(written)
    }

    /// Checks `(case field)`.
    pub(super) fn case_field(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [field] = rest else { return wrong_count(place, "case", "the name of a field", rest) };
        let Some(CaseAtHand { number, site, case }) = self.cases.last() else {
            return fail(
                place,
                "no case is at hand: `(case field)` stands in the condition or body of a `cached`",
            );
        };
        let (Sexpr::Word(name, ..) | Sexpr::Literal(name, _)) = field else {
            return fail(field.place(), "expected the name of a field of the case");
        };
        let scalar =
            self.scalar_of_field(&text(case), &text(name), field.place(), ": a template cannot read it")?;
        let (ty, sign) = (scalar.ty(), Sign::of(scalar));
        let field = CaseField { cached: *number, site: *site, case: case.clone(), field: name.clone() };
        Ok(Typed { kind: Kind::Case(field), ty, sign, leaves: false, is_loose: false, place })
    }

    /// Checks `(full $site)`.
    pub(super) fn full(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [site] = rest else { return wrong_count(place, "full", "a site", rest) };
        let site = self.operand_of(Some(site), &[OperandKind::Site], "a `Site` operand", place)?;
        let (ty, sign) = (Type::Flag, Sign::Unsigned);
        Ok(Typed { kind: Kind::Full(site), ty, sign, leaves: false, is_loose: false, place })
    }

    /// Checks `(outside $site body)`; `outsidev` is for what has no value.
    pub(super) fn outside(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let [site, body] = rest else {
            return wrong_count(place, word, "a site, and what is done outside of its cases", rest);
        };
        let site = self.operand_of(Some(site), &[OperandKind::Site], "a `Site` operand", place)?;
        self.stands_before_effects("what is outside of a site's cases", place)?;
        let body = match word {
            "outside" => self.expression(body, expect)?,
            _ => self.statement(body)?,
        };
        let (ty, sign, leaves, is_loose) = (body.ty, body.sign, body.leaves, body.is_loose);
        Ok(Typed { kind: Kind::Outside(site, Box::new(body)), ty, sign, leaves, is_loose, place })
    }

    /// The site, if an argument of a call is one.
    pub(super) fn site_argument(&self, written: &Sexpr) -> Option<usize> {
        let Sexpr::Operand(name, place) = written else { return None };
        if self.is_declared(name) {
            return None;
        }
        let at = self.find_operand(name, *place).ok()?;
        (self.opcode.operands[at].kind == OperandKind::Site).then_some(at)
    }

    /// Checks a site as an argument of a call. `is_native` says that a native function is called, which makes `Cases` of it.
    pub(super) fn site_passed(
        &mut self,
        at: usize,
        [written, ty]: [&Sexpr; 2],
        effect: Effect,
        is_native: bool,
    ) -> Checked<Typed> {
        let (name, place) = (&self.opcode.operands[at].name, written.place());
        if self.scalar(ty)? != Scalar::Ptr {
            return fail(ty.place(), format!("a site is passed as `ptr`: `(carg ${name} ptr)`"));
        }
        if !is_native {
            let message = "a function takes the `Cases` of a site, which are made on the way: name it, without a convention";
            return fail(place, message);
        }
        if effect == Effect::Pure {
            return fail(place, "a pure function only computes, and the cases of a site change");
        }
        if !self.is_slow {
            self.taught_anywhere.push(at);
        }
        let (ty, sign) = (Type::I64, Sign::Unsigned);
        Ok(Typed { kind: Kind::Site(at), ty, sign, leaves: false, is_loose: false, place })
    }
}

impl Lowering<'_> {
    /// Goes on with what no case of a site tells of.
    pub(super) fn outside(&mut self, operand: usize) {
        self.step(Step::Outside { operand });
    }

    /// Emits what is done for each case of a site in turn, and what otherwise. `arm` emits it, and what follows.
    pub(super) fn each_case(&mut self, cached: &Cached, mut arm: impl FnMut(&mut Self, &Typed)) {
        let (none, capacity) = (self.block(), self.operands[cached.site].capacity);
        let knows = self.known_site == Some(cached.site);
        if knows {
            self.case(cached, CaseAt::Known, &mut arm);
            self.step(Step::General { none });
        }
        let one_by_one = match (self.is_compact, knows) {
            (true, true) if capacity > 1 => 0,
            (true, false) if capacity > 2 => 1,
            _ => capacity,
        };
        self.has_many_cases |= capacity > 2;
        for number in 0..one_by_one {
            let is_there = self.block();
            let ty = Type::I32;
            let count = self.site_value(cached.site, SiteOffset::Count, ty);
            let number_here = self.constant(ty, Imm::Known(number as i64));
            let of = Sig { from: ty, ty: Type::Flag };
            let flag = self.node(Op::UGT, of, &[count, number_here], Imm::Known(0));
            self.branch(flag, is_there, none, Likelihood::Even);
            self.start(is_there, &[], false);
            self.case(cached, CaseAt::Number(number), &mut arm);
            if self.is_too_long {
                return;
            }
        }
        match one_by_one < capacity {
            true => self.case_in_loop(cached, one_by_one, none, &mut arm),
            false => self.jump(none, &[]),
        }
        self.start(none, &[], false);
        arm(self, &cached.otherwise);
    }

    /// Emits what is done for one case, if the condition holds of it. What follows is where it does not.
    fn case(&mut self, cached: &Cached, case: CaseAt, arm: &mut impl FnMut(&mut Self, &Typed)) {
        let (holds, next) = (self.block(), self.block());
        self.cases.insert(cached.number, case);
        let likelihood = match case {
            CaseAt::Known | CaseAt::Number(0) => Likelihood::FirstCase,
            _ => Likelihood::Even,
        };
        self.decide(&cached.condition, holds, next, likelihood);
        self.start(holds, &[], false);
        arm(self, &cached.body);
        self.start(next, &[], false);
    }

    /// Emits what is done for each case from one on, in a loop, which leads to `none` behind the last. The loop itself is only the
    /// condition: what is done where it holds stands behind it.
    fn case_in_loop(
        &mut self,
        cached: &Cached,
        first: u16,
        none: u16,
        arm: &mut impl FnMut(&mut Self, &Typed),
    ) {
        let word = Sig { from: Type::Void, ty: Type::I64 };
        let case_bytes = || Imm::Offset(SiteOffset::CaseBytes(cached.case.clone()));
        let site = self.yields(Step::Constant { operand: cached.site, ty: Type::I64 });
        let count = self.site_value(cached.site, SiteOffset::Count, Type::I32);
        let count = self.node(Op::UCAST, Sig { from: Type::I32, ty: Type::I64 }, &[count], Imm::Known(0));
        let end = self.node(Op::IDX, word, &[site, count], case_bytes());
        let start = (0..first).fold(site, |at, _| self.node(Op::ADDR, word, &[at], case_bytes()));
        let (head, is_there, holds, next) = (self.block(), self.block(), self.block(), self.block());
        self.jump(head, &[start]);
        let at = self.start(head, &[Type::I64], false);
        let of = Sig { from: Type::I64, ty: Type::Flag };
        let flag = self.node(Op::ULT, of, &[at, end], Imm::Known(0));
        self.branch(flag, is_there, none, Likelihood::Even);
        self.start(is_there, &[], false);
        self.cases.insert(cached.number, CaseAt::Address(at));
        self.decide(&cached.condition, holds, next, Likelihood::Even);
        self.start(next, &[], false);
        let behind = self.node(Op::ADDR, word, &[at], case_bytes());
        self.jump(head, &[behind]);
        self.start(holds, &[], false);
        arm(self, &cached.body);
    }

    /// Emits the value for a case of a site, or for none.
    pub(super) fn choose_case(&mut self, cached: &Cached, of: Type) -> u16 {
        let (join, mut joined) = (self.block(), false);
        self.each_case(cached, |lowering, arm| {
            let value = lowering.value(arm);
            if lowering.open {
                joined = true;
                let args: &[u16] = if of.is_value() { &[value] } else { &[] };
                lowering.jump(join, args);
            }
        });
        let params: &[Type] = if of.is_value() { &[of] } else { &[] };
        if joined { self.start(join, params, false) } else { 0 }
    }

    /// The value of a field of the case at hand.
    pub(super) fn case_field(
        &mut self,
        CaseField { cached, site, case, field }: &CaseField,
        ty: Type,
    ) -> u16 {
        let of = |number| SiteOffset::Field { number, case: case.clone(), field: field.clone() };
        match self.cases[cached] {
            CaseAt::Known => self.yields(Step::KnownCase { operand: *site, offset: of(0), ty }),
            CaseAt::Number(number) => self.site_value(*site, of(number), ty),
            CaseAt::Address(at) => {
                let word = Sig { from: Type::Void, ty: Type::I64 };
                let address = self.node(Op::ADDR, word, &[at], Imm::Offset(of(0)));
                let access = Imm::Access { access: Access::Plain, region: 0 };
                self.node(Op::LOAD, Sig { from: Type::Void, ty }, &[address], access)
            }
        }
    }

    /// Whether a site has no room for another case.
    pub(super) fn is_full(&mut self, site: usize) -> u16 {
        let ty = Type::I32;
        let count = self.site_value(site, SiteOffset::Count, ty);
        let limit = self.site_value(site, SiteOffset::Limit, ty);
        self.node(Op::EQ, Sig { from: ty, ty: Type::Flag }, &[count, limit], Imm::Known(0))
    }

    fn site_value(&mut self, operand: usize, offset: SiteOffset, ty: Type) -> u16 {
        let learns_slowly = !self.taught_anywhere.contains(&operand);
        self.yields(Step::SiteValue { operand, offset, ty, learns_slowly })
    }
}

/// The error for a site that stands where a value is wanted.
pub(super) fn no_value<T>(name: &str, place: Place) -> Checked<T> {
    let message = format!(
        "`${name}` is a site, no value: `(cached ${name} Case …)` looks at its cases, `(full ${name})` says whether there is no room \
         for more, and `(carg ${name} ptr)` passes them to a function"
    );
    fail(place, message)
}
