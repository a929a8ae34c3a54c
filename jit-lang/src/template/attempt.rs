//! Calls whose failures are values: `(try call otherwise)`.
//!
//! In: a call that may fail, and an expression for that case, in which `(trap_code)` is the code of the trap. Out: a [`Try`]; and
//! from that the steps of the call, which yields the code as another value, and a branch on it. So passes see a branch like any
//! other. A trap with which a program is to end is caught by nobody: behind the branch the function fails with it at once.

use super::ast::{Kind, Try, Typed};
use super::calls::as_number;
use super::check::{Checked, Checker, Variable, fail, void, wrong_count};
use super::lower::Lowering;
use super::signs::Sign;
use super::steps::{Code, Imm, Step};
use crate::place::Place;
use crate::sexpr::Sexpr;
use azulejo_core::ir::template::Likelihood;
use azulejo_core::vocab::{Op, Scalar, Sig, Trap, Type};

impl Checker<'_> {
    /// Checks `(try call otherwise)`, or `tryv` around a call without a value.
    pub(super) fn attempt(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [call, otherwise] = rest else {
            return wrong_count(place, word, "a call that may fail, and what is done if it does", rest);
        };
        let written = call.place();
        let call = self.expression(call, None)?;
        // A call whose result is a flag is a comparison of a number.
        let (call, is_flag) = match call.kind {
            Kind::Op { op: Op::NZ, mut args, .. } if matches!(&args[..], [arg] if may_fail(arg)) => {
                (args.remove(0), true)
            }
            _ => (call, false),
        };
        if !may_fail(&call) {
            return fail(
                written,
                format!("this cannot fail; `{word}` is for an `(invoke …)` or a `(call throws …)` itself"),
            );
        }
        match (word, call.ty) {
            ("try", Type::Void) => {
                return fail(call.place, "this call has no value; what is only done stands in a `tryv`");
            }
            ("tryv", ty) if ty != Type::Void => {
                return fail(call.place, "this call has a value that nobody takes; `try` does");
            }
            _ => {}
        }
        let is_its = |scalar: &Scalar| scalar.ty() == call.ty && Sign::of(*scalar) == call.sign;
        let scalar = Scalar::ALL.into_iter().find(is_its);
        self.variables.push(Variable { is_used: true, leads: super::ast::Leads::Elsewhere });
        let code = self.variables.len() - 1;
        self.caught.push(code);
        let otherwise = self.perhaps(|checker| match (scalar, is_flag) {
            (Some(_), true) => {
                checker.flag(otherwise).map(|flag| if flag.leaves { flag } else { as_number(flag) })
            }
            (Some(scalar), false) => {
                let value = checker.expression(otherwise, Some(scalar))?;
                match value.leaves {
                    true => Ok(value),
                    false if value.ty == Type::Void => fail(
                        value.place,
                        "what a `try` is if the call fails has a value; `tryv` is for what is only done",
                    ),
                    false => checker.coerce(value, scalar),
                }
            }
            (None, _) => checker.statement(otherwise),
        });
        self.caught.pop();
        let (ty, sign) = (call.ty, call.sign);
        let kind = Kind::Try(Box::new(Try { call, code, otherwise: otherwise? }));
        let result = Typed { ty, sign, ..void(kind, place) };
        Ok(if is_flag { super::calls::as_flag(result) } else { result })
    }

    /// Checks `(trap_code)`.
    pub(super) fn trap_code(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        if !rest.is_empty() {
            return wrong_count(place, "trap_code", "nothing", rest);
        }
        let Some(&code) = self.caught.last() else {
            return fail(
                place,
                "there is a `(trap_code)` where a `try` or `tryv` says what is done if its call fails",
            );
        };
        Ok(Typed { ty: Type::I32, ..void(Kind::Variable(code), place) })
    }
}

/// Whether it is a call that may fail.
fn may_fail(call: &Typed) -> bool {
    match &call.kind {
        Kind::Invoke(_) => true,
        Kind::Call(call) => call.throws,
        _ => false,
    }
}

impl Lowering<'_> {
    /// Emits a call, and on a cold path what is done if it fails.
    pub(super) fn attempt(&mut self, attempt: &Try, of: Type) -> u16 {
        let (value, function) = match &attempt.call.kind {
            Kind::Invoke(invoke) => {
                let (value, function) = self.invoke(invoke, of, true);
                (value, Some(function))
            }
            Kind::Call(call) => (self.call(call, true), None),
            other => unreachable!("{other:?} does not fail"),
        };
        let failure = value.wrapping_add(of.is_value() as u16);
        let [works, fails, ends, goes_on, join] = [(); 5].map(|()| self.block());
        let of_code = Sig { from: Type::I32, ty: Type::Flag };
        let has_failed = self.node(Op::NZ, of_code, &[failure], Imm::Known(0));
        self.branch(has_failed, fails, works, Likelihood::Unlikely);
        self.start(fails, &[], true);
        let code = match function {
            Some(function) => self.yields(Step::Caught { function, code: failure }),
            None => failure,
        };
        let end = self.constant(Type::I32, Imm::Known(Trap::Ended.code() as i64));
        let is_to_end = self.node(Op::EQ, of_code, &[code, end], Imm::Known(0));
        self.branch(is_to_end, ends, goes_on, Likelihood::Unlikely);
        self.start(ends, &[], true);
        self.leave(Step::Trap { code: Code::Known(Trap::Ended.code()) });
        self.start(goes_on, &[], true);
        self.variables.insert(attempt.code, code);
        let n_values = of.is_value() as usize;
        let other = [self.value(&attempt.otherwise)];
        if self.open {
            self.jump(join, &other[..n_values]);
        }
        self.start(works, &[], false);
        self.jump(join, &[value][..n_values]);
        self.start(join, &[of][..n_values], false)
    }
}
