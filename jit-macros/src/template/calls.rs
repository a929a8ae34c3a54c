//! Calls of Rust functions, of addresses, and of functions of bytecode.
//!
//! In: `(call pure f (arglist (carg value type) …) type)`. Out: the call with arguments of the types that it states.
//! Whether the function agrees is for rustc to say: a function that is written for the call calls it
//! ([`super::natives`]), or, where a convention is stated, the interpreter calls it by a pointer of that type.

use super::ast::{Arguments, Call, Callee, Invoke, Kind, Typed};
use super::check::{Checked, Checker, fail, leaving, wrong_count};
use super::natives::{Argument, Leads, Native};
use super::signs::Sign;
use crate::sexpr::{Name, Sexpr};
use azulejo_core::pass::build::MAX_ARGUMENTS;
use azulejo_core::vocab::{Op, Props, Scalar, Sig, Type};
use proc_macro2::Span;
use quote::quote;

/// The conventions that a call may state; a panic may pass through those that say so.
const CONVENTIONS: [&str; 6] = ["C", "sysv64", "win64", "C-unwind", "sysv64-unwind", "win64-unwind"];

/// A call's word, what stands behind it, and where.
type Written<'a> = (&'a str, &'a [Sexpr], Span);

impl Checker<'_> {
    /// What every call has: who is called, the arguments, and the result's type, unless the word ends with `v`.
    fn parts<'a>(
        &self,
        (word, rest, span): Written<'a>,
        usage: &str,
        arglist: &str,
    ) -> Checked<(&'a Sexpr, &'a [Sexpr], Option<Scalar>)> {
        let [callee, Sexpr::List(list, list_span), ret @ ..] = rest else {
            return wrong_count(span, word, usage, rest);
        };
        let ret = match (word.ends_with('v'), ret) {
            (false, [ty]) => Some(self.scalar(ty)?),
            (true, []) => None,
            _ => return wrong_count(span, word, usage, rest),
        };
        match list.split_first() {
            Some((head, args)) if head.word() == Some("arglist") => Ok((callee, args, ret)),
            _ => fail(*list_span, format!("the arguments stand in `{arglist}`")),
        }
    }

    /// `(invoke observes function (arglist value …) type)`, and `invokev` without a type.
    pub(super) fn invoke(&mut self, word: &str, rest: &[Sexpr], span: Span) -> Checked<Typed> {
        let usage = "a function's number, `(arglist value …)`, and for `invoke` the result's type";
        let (effect, rest) = match rest.split_first() {
            Some((first, others)) if first.word() == Some("observes") => ("Observes", others),
            _ => ("Memory", rest),
        };
        let (function, values, ret) = self.parts((word, rest, span), usage, "(arglist value …)")?;
        let function = self.value(function, Some(Scalar::U32))?;
        let function = self.coerce(function, Scalar::U32)?;
        let args = self.arguments(values, span)?;
        self.has_effect = true;
        let (ty, sign) = ret.map_or((Type::Void, Sign::Unsigned), |scalar| (scalar.ty(), Sign::of(scalar)));
        let kind = Kind::Invoke(Box::new(Invoke { function, args, effect }));
        Ok(Typed { kind, ty, sign, leaves: false, is_loose: false, span })
    }

    /// `(tail function (arglist value …))`.
    pub(super) fn tail(&mut self, rest: &[Sexpr], span: Span) -> Checked<Typed> {
        let [function, Sexpr::List(list, list_span)] = rest else {
            return wrong_count(span, "tail", "a function's number and `(arglist value …)`", rest);
        };
        let Some((Some("arglist"), values)) = list.split_first().map(|(head, rest)| (head.word(), rest))
        else {
            return fail(*list_span, "the arguments stand in `(arglist value …)`");
        };
        let function = self.value(function, Some(Scalar::U32))?;
        let function = self.coerce(function, Scalar::U32)?;
        let args = self.arguments(values, span)?;
        self.has_effect = true;
        Ok(leaving(Kind::Tail(Box::new(Invoke { function, args, effect: "Memory" })), span))
    }

    /// What a function of bytecode is given: values, or the registers of one run.
    fn arguments(&mut self, values: &[Sexpr], span: Span) -> Checked<Arguments> {
        let run = values.iter().position(|value| self.is_run(value));
        if let Some(run) = run {
            let at = self.operand_of(Some(&values[run]), &["Regs", "RegsMut"], "a run of registers", span)?;
            if values.len() > 1 {
                let why = "a run of registers is all the arguments of a call; put the others in the run, too";
                return fail(values[run].span(), why);
            }
            return Ok(Arguments::Run(at));
        }
        if values.len() > MAX_ARGUMENTS {
            return fail(
                span,
                format!("there are at most {MAX_ARGUMENTS} arguments; a run of registers may be longer"),
            );
        }
        let values = values.iter().map(|value| self.value(value, None));
        values.collect::<Checked<Vec<Typed>>>().map(Arguments::Values)
    }

    fn is_run(&self, value: &Sexpr) -> bool {
        let Sexpr::Operand(name, place) = value else { return false };
        let operand = self.find_operand(name, *place).ok().map(|at| &self.opcode.operands[at]);
        operand.is_some_and(|operand| matches!(operand.kind.as_str(), "Regs" | "RegsMut"))
    }

    pub(super) fn call(&mut self, word: &str, rest: &[Sexpr], span: Span) -> Checked<Typed> {
        let (mut abi, mut effect) = (None, "Memory");
        let mut rest = rest;
        while let Some((first, others)) = rest.split_first() {
            match (first, first.word()) {
                (_, Some("pure")) => effect = "Pure",
                (_, Some("observes")) => effect = "Observes",
                (Sexpr::Literal(text, place), _) => {
                    let stated = text.to_string();
                    let known = CONVENTIONS.into_iter().find(|known| stated.trim_matches('"') == *known);
                    let Some(known) = known else {
                        let known = CONVENTIONS.map(|known| format!("\"{known}\"")).join(", ");
                        return fail(
                            *place,
                            format!("conventions are {known}; without one any function can be called"),
                        );
                    };
                    abi = Some(known);
                }
                _ => break,
            }
            rest = others;
        }
        let usage = "a function, `(arglist (carg value type) …)`, and for `call` the result's type";
        // A `bool` is a byte on its way, and a flag in the template.
        let is_flag = rest.len() == 3 && is_bool(&rest[2]);
        let as_byte =
            [&rest[..rest.len().min(2)], &[Sexpr::Word(quote!(u8), Name::written("u8"), span)]].concat();
        let rest = if is_flag { &as_byte[..] } else { rest };
        let (callee, args, ret) = self.parts((word, rest, span), usage, "(arglist (carg value type) …)")?;
        let callee = match callee {
            Sexpr::Word(path, ..) => Callee::Path(path.clone()),
            value => {
                self.needs_unsafe(value.span(), "calling an address")?;
                let value = self.value(value, Some(Scalar::Ptr))?;
                Callee::Value(self.coerce(value, Scalar::Ptr)?)
            }
        };
        let (mut passed, mut kinds) = (Vec::new(), Vec::new());
        for arg in args {
            let parts = match arg {
                Sexpr::List(parts, _) if parts.first().and_then(Sexpr::word) == Some("carg") => &parts[1..],
                _ => return fail(arg.span(), "an argument is `(carg value type)`"),
            };
            let [value, ty] = parts else {
                return wrong_count(arg.span(), "carg", "a value and its type", parts);
            };
            let kind = |name: &str| syn::Ident::new(name, ty.span());
            if is_bool(ty) {
                let flag = self.flag(value)?;
                kinds.push(kind("bool"));
                passed.push((as_number(flag), kind("u8")));
                continue;
            }
            let scalar = self.scalar(ty)?;
            let value = self.value(value, Some(scalar))?;
            kinds.push(kind(scalar.name()));
            passed.push((self.coerce(value, scalar)?, kind(scalar.name())));
        }
        self.has_effect |= effect != "Pure";
        let (ty, sign) = ret.map_or((Type::Void, Sign::Unsigned), |scalar| (scalar.ty(), Sign::of(scalar)));
        let ret = ret.map(|scalar| syn::Ident::new(scalar.name(), span));
        let returns = if is_flag { Some(syn::Ident::new("bool", span)) } else { ret.clone() };
        let given = std::iter::zip(&passed, kinds).map(|((arg, _), kind)| Argument {
            kind,
            leads: self.leads(arg),
            span: arg.span,
        });
        let given: Vec<Argument> = given.collect();
        let callee = match (callee, abi) {
            (Callee::Path(path), None) => {
                let (args, ret, returns) = (given.clone(), ret.clone(), returns.clone());
                let is_unsafe = self.is_unsafe;
                self.natives.push(Native { path, args, ret, returns, is_unsafe, span });
                Callee::Native(self.natives.len() - 1)
            }
            (callee, _) => callee,
        };
        let abi = abi.unwrap_or("C");
        let is_unsafe = self.is_unsafe;
        let call = Call { callee, args: passed, given, ret, returns, abi, effect, is_unsafe };
        let kind = Kind::Call(Box::new(call));
        let result = Typed { kind, ty, sign, leaves: false, is_loose: false, span };
        Ok(if is_flag { as_flag(result) } else { result })
    }

    /// Whether a value is an address by which the context can be reached.
    pub(super) fn leads(&self, value: &Typed) -> Leads {
        let part_of = |parts: &[&Typed]| match parts.iter().any(|part| self.leads(part) != Leads::Elsewhere) {
            true => Leads::Into,
            false => Leads::Elsewhere,
        };
        match &value.kind {
            Kind::Op { op: Op::TC, .. } => Leads::To,
            Kind::Place(at) => match self.scalar_of(*at) {
                Scalar::Ptr => Leads::Elsewhere,
                scalar => Leads::Slot(scalar),
            },
            // What is loaded is another address.
            Kind::Op { op, args, .. } if !self.vocab.info(*op).props.contains(Props::READS) => {
                part_of(&args.iter().collect::<Vec<_>>())
            }
            Kind::Variable(variable) => self.variables[*variable].leads,
            Kind::Let(_, body) => self.leads(body),
            Kind::Sequence(steps) => steps.last().map_or(Leads::Elsewhere, |last| self.leads(last)),
            Kind::If(_, so, not) => part_of(&[&**so, &**not]),
            _ => Leads::Elsewhere,
        }
    }
}

fn is_bool(ty: &Sexpr) -> bool {
    ty.word() == Some("bool")
}

/// One for a flag that holds, and zero for one that does not.
pub(super) fn as_number(flag: Typed) -> Typed {
    let (span, sig) = (flag.span, Sig { from: Type::Void, ty: Type::I8 });
    let kind = Kind::Op { op: Op::FLAGVAL, sig, args: vec![flag], imm: None, checks: Vec::new() };
    Typed { kind, ty: Type::I8, sign: Sign::Unsigned, leaves: false, is_loose: false, span }
}

/// The flag that a number was made of.
fn as_flag(number: Typed) -> Typed {
    let (span, sig) = (number.span, Sig { from: Type::I8, ty: Type::Flag });
    let kind = Kind::Op { op: Op::NZ, sig, args: vec![number], imm: None, checks: Vec::new() };
    super::check::flag(kind, span)
}
