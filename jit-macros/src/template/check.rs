//! Find out what a template's expressions are: operators, types, operands, names.
//!
//! In: an s-expression and the opcode it is for. Out: a [`Typed`] tree, or the first thing that is wrong with it,
//! on the token that is wrong. Operands of different widths are widened here: by the sign of their own Rust type
//! where they have one, else as the operator's row says.

use super::ast::{Constant, Kind, Opcode, Typed};
use super::macros::Macro;
use super::words::closest;
use crate::sexpr::Sexpr;
use azulejo_core::vocab::op::{Cast, Key, Kind as OperandKind, Param, Yields};
use azulejo_core::vocab::{Op, OpInfo, Props, Scalar, Sig, Type, Vocabulary};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::HashMap;
use syn::Error;

pub(super) type Checked<T> = Result<T, Error>;

/// What one template is checked against.
pub(super) struct Checker<'a> {
    pub(super) opcode: &'a Opcode,
    vocab: Vocabulary,
    pub(super) macros: &'a HashMap<String, Macro>,
    /// Whether the body was marked `unsafe`.
    pub(super) is_unsafe: bool,
    /// Whether the template stores its own result.
    pub(super) stores_itself: bool,
    scopes: Vec<(String, usize, Typed)>,
    n_variables: usize,
    /// Operands of the check of a trapping operator.
    check_operands: Vec<Typed>,
    depth: usize,
    /// Whether something was done that a guard's exit would do again.
    pub(super) has_effect: bool,
}

const MAX_DEPTH: usize = 64;

pub(super) fn fail<T>(span: Span, message: impl Into<String>) -> Checked<T> {
    Err(Error::new(span, message.into()))
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        opcode: &'a Opcode,
        vocab: Vocabulary,
        macros: &'a HashMap<String, Macro>,
        is_unsafe: bool,
        stores_itself: bool,
    ) -> Self {
        Checker {
            opcode,
            vocab,
            macros,
            is_unsafe,
            stores_itself,
            scopes: Vec::new(),
            n_variables: 0,
            check_operands: Vec::new(),
            depth: 0,
            has_effect: false,
        }
    }

    /// The whole body of a template; its value goes to the output, if there is one and it is not stored already.
    pub(super) fn template(&mut self, body: &Sexpr) -> Checked<Typed> {
        let outputs: Vec<usize> = (0..self.opcode.operands.len())
            .filter(|&at| matches!(self.opcode.operands[at].kind.as_str(), "Out" | "InOut" | "Push"))
            .collect();
        let name = &self.opcode.name;
        if self.stores_itself || outputs.is_empty() {
            let body = self.expression(body, None)?;
            if !self.stores_itself && body.ty != Type::Void && !body.leaves {
                return fail(
                    body.span,
                    format!("`{name}` has no output for this value; `(discard …)` drops it"),
                );
            }
            return Ok(body);
        }
        let [output] = outputs[..] else {
            let message =
                format!("`{name}` has several outputs: write `{name}! => …` and `(set $output value)`");
            return fail(body.span(), message);
        };
        let scalar = self.scalar_of(output);
        let value = self.expression(body, Some(scalar))?;
        if value.leaves {
            return Ok(value);
        }
        if value.ty == Type::Void {
            let operand = &self.opcode.operands[output].name;
            let message = format!(
                "this has no value for the output `{operand}`; a template that stores it itself is written `{name}! => …`"
            );
            return fail(value.span, message);
        }
        let span = value.span;
        let value = self.coerce(value, scalar)?;
        Ok(void(Kind::Set(output, Box::new(value)), span))
    }

    fn scalar_of(&self, operand: usize) -> Scalar {
        self.opcode.operands[operand].scalar.unwrap_or(Scalar::I64)
    }

    pub(super) fn expression(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        if self.depth >= MAX_DEPTH {
            return fail(expr.span(), "this is nested too deeply; does a macro use itself?");
        }
        self.depth += 1;
        let result = self.expression_inside(expr, expect);
        self.depth -= 1;
        result
    }

    fn expression_inside(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        match expr {
            Sexpr::Operand(name, span) => self.operand(name, *span),
            Sexpr::Literal(tokens, span) => literal(tokens, *span, expect),
            Sexpr::Constant(path, args, span) => {
                let scalar = expect.unwrap_or(Scalar::I64);
                Ok(constant(constant_tokens(path, args), scalar, *span))
            }
            Sexpr::Macro(name, span) => self.expand(name, &[], *span, expect),
            Sexpr::Param(name, span) => fail(*span, format!("`,{name}` is no parameter of a macro here")),
            Sexpr::Word(_, text, span) => {
                fail(*span, format!("`{text}` alone is no expression; write `({text} …)`"))
            }
            Sexpr::List(items, span) => self.list(items, *span, expect),
        }
    }

    fn operand(&mut self, name: &str, span: Span) -> Checked<Typed> {
        if let Some((_, variable, value)) = self.scopes.iter().rev().find(|(known, ..)| known == name) {
            let kind = Kind::Variable(*variable);
            return Ok(Typed { kind, span, ..value.clone() });
        }
        if let (Ok(at), false) = (name.parse::<usize>(), self.check_operands.is_empty()) {
            return Ok(self.check_operands[at].clone());
        }
        let at = self.find_operand(name, span)?;
        let scalar = self.scalar_of(at);
        let value =
            |kind| Typed { kind, ty: scalar.ty(), is_signed: scalar.is_signed(), leaves: false, span };
        let operand = &self.opcode.operands[at];
        match operand.kind.as_str() {
            "In" | "InOut" | "Pop" => Ok(value(Kind::Read(at))),
            "Imm" => Ok(value(Kind::Constant(Constant::Operand(at)))),
            "Out" | "Push" => fail(span, format!("`${name}` is an output and has no value yet")),
            "Label" | "Labels" => {
                fail(span, format!("`${name}` is a label, no value: `(branch ${name})` jumps there"))
            }
            _ => fail(span, format!("`${name}` is a run of registers: `(window ${name})` is its address")),
        }
    }

    fn find_operand(&self, name: &str, span: Span) -> Checked<usize> {
        let operands = &self.opcode.operands;
        let found = operands
            .iter()
            .position(|operand| operand.name == name)
            .or_else(|| name.parse().ok().filter(|at: &usize| *at < operands.len()));
        found.map_or_else(
            || {
                let names: Vec<String> =
                    operands.iter().map(|operand| format!("${}", operand.name)).collect();
                let opcode = &self.opcode.name;
                let known = match names.is_empty() {
                    true => "it has none".to_string(),
                    false => format!("there are {}", names.join(" ")),
                };
                fail(span, format!("`{opcode}` has no operand or name `${name}`; {known}"))
            },
            Ok,
        )
    }

    /// An operand that must be of one of some kinds.
    fn operand_of(&self, expr: Option<&Sexpr>, kinds: &[&str], what: &str, span: Span) -> Checked<usize> {
        let Some(Sexpr::Operand(name, place)) = expr else {
            return fail(expr.map_or(span, Sexpr::span), format!("here stands {what}"));
        };
        let at = self.find_operand(name, *place)?;
        if kinds.contains(&self.opcode.operands[at].kind.as_str()) {
            return Ok(at);
        }
        let kind = &self.opcode.operands[at].kind;
        fail(*place, format!("here stands {what}, and `${name}` is `{kind}`"))
    }

    fn list(&mut self, items: &[Sexpr], span: Span, expect: Option<Scalar>) -> Checked<Typed> {
        let Some((head, rest)) = items.split_first() else {
            return fail(span, "an empty list has no meaning");
        };
        if let Sexpr::Macro(name, place) = head {
            return self.expand(name, rest, *place, expect);
        }
        let Some(word) = head.word() else {
            return fail(head.span(), "a list starts with an operator");
        };
        match word {
            "let:" | "letv:" => self.bind(word, rest, span, expect),
            "do" | "dov" => self.sequence(word, rest, span, expect),
            "when" => {
                let [flag, body] = rest else {
                    return wrong_count(span, word, "a flag and what is done", rest);
                };
                let (flag, body) = (self.flag(flag)?, self.statement(body)?);
                let nothing = void(Kind::Sequence(Vec::new()), span);
                Ok(void(Kind::If(Box::new(flag), Box::new(body), Box::new(nothing)), span))
            }
            "ifv" => {
                let [flag, so, not] = rest else {
                    return wrong_count(span, word, "a flag and two things to do", rest);
                };
                let (flag, so, not) = (self.flag(flag)?, self.statement(so)?, self.statement(not)?);
                let leaves = so.leaves && not.leaves;
                let kind = Kind::If(Box::new(flag), Box::new(so), Box::new(not));
                Ok(Typed { leaves, ..void(kind, span) })
            }
            "if" => self.choice(rest, span, expect),
            "all" | "any" => {
                if rest.is_empty() {
                    return wrong_count(span, word, "flags", rest);
                }
                let flags = rest.iter().map(|flag| self.flag(flag)).collect::<Checked<Vec<_>>>()?;
                let kind = if word == "all" { Kind::All(flags) } else { Kind::Any(flags) };
                Ok(flag(kind, span))
            }
            "notf" => {
                let [operand] = rest else { return wrong_count(span, word, "a flag", rest) };
                let operand = self.flag(operand)?;
                Ok(flag(Kind::Not(Box::new(operand)), span))
            }
            "likely" | "unlikely" => {
                let [operand] = rest else { return wrong_count(span, word, "a flag", rest) };
                let operand = self.flag(operand)?;
                Ok(flag(Kind::Likely(Box::new(operand), word == "likely"), span))
            }
            "cold" => {
                let [body] = rest else { return wrong_count(span, word, "what is done", rest) };
                let body = self.statement(body)?;
                Ok(Typed { leaves: body.leaves, ..void(Kind::Cold(Box::new(body)), span) })
            }
            "discard" => {
                let [value] = rest else { return wrong_count(span, word, "a value", rest) };
                let value = self.value(value, None)?;
                Ok(void(Kind::Sequence(vec![value]), span))
            }
            "branch" => {
                let to = self.operand_of(rest.first(), &["Label"], "a `Label` operand", span)?;
                Ok(leaving(Kind::Goto(to), span))
            }
            "exit" => {
                let to = match rest {
                    [] => None,
                    _ => Some(self.operand_of(
                        rest.first(),
                        &["Label"],
                        "a `Label` operand, or nothing",
                        span,
                    )?),
                };
                Ok(leaving(Kind::Exit(to), span))
            }
            "return" => self.give_back(rest, span),
            "trap" => {
                let [code] = rest else { return wrong_count(span, word, "a number from 0 to 65535", rest) };
                let tokens = self.number(code)?;
                Ok(leaving(Kind::Trap(tokens), span))
            }
            "switch" => self.switch(rest, span),
            "set" => {
                let [_, value] = rest else {
                    return wrong_count(span, word, "an output and its value", rest);
                };
                if !self.stores_itself {
                    let name = &self.opcode.name;
                    return fail(
                        span,
                        format!("only a template written `{name}! => …` stores its outputs itself"),
                    );
                }
                let to = self.operand_of(rest.first(), &["Out", "InOut", "Push"], "an output", span)?;
                let scalar = self.scalar_of(to);
                let value = self.value(value, Some(scalar))?;
                let value = self.coerce(value, scalar)?;
                self.has_effect = true;
                Ok(void(Kind::Set(to, Box::new(value)), span))
            }
            "guard" => {
                let [flag, body] = rest else {
                    return wrong_count(span, word, "a flag, and what the interpreter does without it", rest);
                };
                if self.has_effect {
                    return fail(
                        span,
                        "a guard stands before all effects: if it fails, the interpreter runs the opcode from its start",
                    );
                }
                let (flag, body) = (self.flag(flag)?, self.statement(body)?);
                Ok(void(Kind::Guard(Box::new(flag), Box::new(body)), span))
            }
            "call" | "callv" => self.call(word, rest, span),
            "window" | "length" => {
                let at = self.operand_of(rest.first(), &["Regs", "RegsMut"], "a run of registers", span)?;
                let kind = if word == "window" { Kind::Window(at) } else { Kind::WindowLength(at) };
                Ok(Typed { kind, ty: Type::I64, is_signed: false, leaves: false, span })
            }
            _ => self.operator(word, head.span(), rest, span, expect),
        }
    }

    pub(super) fn bind(
        &mut self,
        word: &str,
        rest: &[Sexpr],
        span: Span,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let [Sexpr::List(names, _), body @ ..] = rest else {
            return fail(span, format!("`({word} (($name value) …) body)`"));
        };
        if body.is_empty() {
            return fail(span, format!("`({word} (($name value) …) body)`: the body is missing"));
        }
        let depth = self.scopes.len();
        let mut bound = Vec::new();
        for declared in names {
            let Sexpr::List(parts, place) = declared else {
                return fail(declared.span(), "a declaration is `($name value)`");
            };
            let [Sexpr::Operand(name, _), value] = &parts[..] else {
                return fail(*place, "a declaration is `($name value)`");
            };
            let value = self.value(value, None)?;
            self.scopes.push((name.clone(), self.n_variables, value.clone()));
            bound.push((self.n_variables, value));
            self.n_variables += 1;
        }
        let body = match (word, body) {
            ("let:", [body]) => self.expression(body, expect)?,
            ("letv:", _) => self.sequence("dov", body, span, None)?,
            _ => self.sequence("do", body, span, expect)?,
        };
        self.scopes.truncate(depth);
        let (ty, is_signed, leaves) = (body.ty, body.is_signed, body.leaves);
        Ok(Typed { kind: Kind::Let(bound, Box::new(body)), ty, is_signed, leaves, span })
    }

    fn sequence(&mut self, word: &str, rest: &[Sexpr], span: Span, expect: Option<Scalar>) -> Checked<Typed> {
        let Some((last, first)) = rest.split_last() else {
            return wrong_count(span, word, "what is done", rest);
        };
        let mut steps = first.iter().map(|step| self.statement(step)).collect::<Checked<Vec<_>>>()?;
        if let Some(step) = steps.iter().find(|step| step.leaves) {
            return fail(step.span, "what follows this is never reached");
        }
        steps.push(if word == "do" { self.expression(last, expect)? } else { self.statement(last)? });
        let last = steps.last().expect("one was just pushed");
        let (ty, is_signed, leaves) = (last.ty, last.is_signed, last.leaves);
        Ok(Typed { kind: Kind::Sequence(steps), ty, is_signed, leaves, span })
    }

    fn choice(&mut self, rest: &[Sexpr], span: Span, expect: Option<Scalar>) -> Checked<Typed> {
        let [condition, so, not] = rest else {
            return wrong_count(span, "if", "a flag and two values", rest);
        };
        let condition = self.flag(condition)?;
        let (so, not) = (self.expression(so, expect)?, self.expression(not, expect)?);
        for arm in [&so, &not] {
            if !arm.leaves && !arm.ty.is_value() {
                return fail(arm.span, "both ways of an `if` have a value; `ifv` is for what is done");
            }
        }
        let (so, not) = match (so.leaves, not.leaves) {
            (false, false) => {
                let mut arms = self.agree(vec![so, not], Cast::Signed, expect, span)?;
                let not = arms.pop().expect("there are two");
                (arms.pop().expect("there are two"), not)
            }
            _ => (so, not),
        };
        let model = if so.leaves { &not } else { &so };
        let (ty, is_signed, leaves) = (model.ty, model.is_signed, so.leaves && not.leaves);
        let kind = Kind::If(Box::new(condition), Box::new(so), Box::new(not));
        Ok(Typed { kind, ty, is_signed, leaves, span })
    }

    fn give_back(&mut self, rest: &[Sexpr], span: Span) -> Checked<Typed> {
        match rest {
            [] => Ok(leaving(Kind::Return(None), span)),
            [value] => {
                let value = self.value(value, None)?;
                Ok(leaving(Kind::Return(Some(Box::new(value))), span))
            }
            _ => wrong_count(span, "return", "one value or none", rest),
        }
    }

    fn switch(&mut self, rest: &[Sexpr], span: Span) -> Checked<Typed> {
        let Some((value, labels)) = rest.split_first() else {
            return wrong_count(span, "switch", "a number and labels, the last for all others", rest);
        };
        if labels.is_empty() {
            return wrong_count(span, "switch", "a number and labels, the last for all others", rest);
        }
        let value = self.value(value, Some(Scalar::U64))?;
        let value = self.coerce(value, Scalar::U64)?;
        let mut operands = Vec::new();
        for label in labels {
            operands.push(self.operand_of(Some(label), &["Label", "Labels"], "a label", span)?);
        }
        let lists = operands.iter().filter(|&&at| self.opcode.operands[at].kind == "Labels").count();
        if lists > 0 && operands.len() > 1 {
            return fail(span, "a `Labels` operand is the whole list, the default included");
        }
        Ok(leaving(Kind::Switch(Box::new(value), operands), span))
    }

    pub(super) fn needs_unsafe(&self, span: Span, what: &str) -> Checked<()> {
        if self.is_unsafe {
            return Ok(());
        }
        let name = &self.opcode.name;
        fail(
            span,
            format!("{what} is unsafe: write `{name} => unsafe (…)` and see to it that the address is right"),
        )
    }

    /// An operator of the vocabulary.
    fn operator(
        &mut self,
        word: &str,
        head: Span,
        rest: &[Sexpr],
        span: Span,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let vocab = self.vocab;
        let is_known = |info: &OpInfo| info.props.contains(Props::TEMPLATE);
        let Some((op, info)) = vocab.iter().find(|(_, info)| info.name == word && is_known(info)) else {
            let names = vocab.iter().filter(|(_, info)| is_known(info)).map(|(_, info)| info.name);
            let hint = closest(word, names.chain(["let:", "letv:", "window", "length"]));
            return fail(head, format!("there is no operator `{word}`{hint}"));
        };
        let n_operands = info.operands.len();
        let n_params = info.params.len();
        if rest.len() != n_operands + n_params {
            let message =
                format!("`{word}` takes {n_operands} operands and {n_params} constants, not {}", rest.len());
            return fail(span, message);
        }
        if info.props.intersects(Props::READS | Props::WRITES) {
            self.needs_unsafe(head, "reading and writing memory")?;
            self.has_effect |= info.props.contains(Props::WRITES);
        }
        let (operands, params) = rest.split_at(n_operands);
        self.apply(op, info, operands, params, span, expect)
    }

    fn apply(
        &mut self,
        op: Op,
        info: &'static OpInfo,
        operands: &[Sexpr],
        params: &[Sexpr],
        span: Span,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let mut target = None;
        let mut imm = None;
        for (param, written) in std::iter::zip(info.params, params) {
            match param {
                Param::Type => target = Some(self.scalar(written)?),
                _ => imm = Some(written),
            }
        }
        // What is expected of the result is expected of operands of its type.
        let inner = match (info.key, info.yields) {
            (Key::Result, Yields::Same) => expect,
            (Key::Operand, Yields::Void) => target,
            _ => None,
        };
        let mut args = Vec::new();
        let mut same = Vec::new();
        for (kind, operand) in std::iter::zip(info.operands, operands) {
            let arg = match kind {
                OperandKind::Flag => self.flag(operand)?,
                OperandKind::Ptr | OperandKind::Word => {
                    let value = self.value(operand, Some(Scalar::Ptr))?;
                    self.coerce(value, Scalar::Ptr)?
                }
                OperandKind::Same => {
                    same.push(args.len());
                    self.loose_value(operand, inner)?
                }
                _ => self.value(operand, None)?,
            };
            args.push(arg);
        }
        if let (Some(scalar), true) = (target, info.key_is_operand()) {
            for &at in &same {
                args[at] = self.coerce(args[at].clone(), scalar)?;
            }
        } else if !same.is_empty() {
            let taken = same.iter().map(|&at| args[at].clone()).collect();
            let agreed = self.agree(taken, info.cast, inner, span)?;
            for (at, arg) in std::iter::zip(&same, agreed) {
                args[*at] = arg;
            }
        }
        let (mut from, mut ty) = (Type::Void, Type::Void);
        let model = same.first().or(if args.is_empty() { None } else { Some(&0) }).map(|&at| &args[at]);
        let mut is_signed = info.cast == Cast::Signed;
        if let Some(model) = model {
            from = model.ty;
            if same.iter().all(|&at| args[at].is_signed == model.is_signed) {
                is_signed = model.is_signed;
            }
        }
        match info.yields {
            Yields::Same => ty = if same.is_empty() { from } else { args[same[0]].ty },
            Yields::Param => {
                let scalar = target.expect("an operator that yields a type's value names it");
                (ty, is_signed) = (scalar.ty(), scalar.is_signed());
            }
            Yields::Ptr => (ty, is_signed) = (Type::I64, false),
            Yields::Flag => ty = Type::Flag,
            _ => {}
        }
        let sig = match info.key {
            Key::Result => Sig { from: Type::Void, ty },
            Key::None => Sig { from: Type::Void, ty },
            Key::Operand | Key::Both { .. } => Sig { from, ty },
        };
        if matches!(info.key, Key::Both { .. }) && from == ty && from.is_int() {
            // A conversion to the type it has: only the sign by which it is widened changes.
            let value = args.pop().expect("a conversion has an operand");
            return Ok(Typed { is_signed, span, ..value });
        }
        if !info.allows(sig) {
            let what = if sig.from == Type::Void { format!("{ty}") } else { format!("{from} to {ty}") };
            let what = if info.yields == Yields::Flag || ty == Type::Void { format!("{from}") } else { what };
            return fail(span, format!("`{}` does not work on {what}", info.name));
        }
        let imm = match imm {
            None => None,
            Some(Sexpr::Operand(name, place)) => {
                let at = self.find_operand(name, *place)?;
                if self.opcode.operands[at].kind != "Imm" {
                    return fail(*place, "here stands a constant: a number, `(&…)`, or an `Imm` operand");
                }
                Some(Constant::Operand(at))
            }
            Some(written) => Some(Constant::Tokens(self.number(written)?)),
        };
        if op == Op::CONST {
            let value = imm.expect("a constant has a value");
            return Ok(Typed { kind: Kind::Constant(value), ty, is_signed, leaves: false, span });
        }
        let checks = self.checks(info, sig, &args)?;
        Ok(Typed { kind: Kind::Op { op, sig, args, imm, checks }, ty, is_signed, leaves: false, span })
    }

    /// The conditions under which a trapping operator traps, over its operands as variables.
    fn checks(&mut self, info: &'static OpInfo, sig: Sig, args: &[Typed]) -> Checked<Vec<(Typed, u32)>> {
        let key = if matches!(info.key, Key::Result) { sig.ty } else { sig.from };
        let mut checks = Vec::new();
        for check in info.checks.iter().filter(|check| check.on.contains(key)) {
            let text = super::words::fill(check.when, info, sig);
            let tokens: TokenStream = text.parse().expect("a check is written in the template language");
            let when = crate::sexpr::Reader::new(tokens).sexpr()?;
            // The operands stand for themselves: the lowering binds them before it asks.
            let outer = std::mem::take(&mut self.check_operands);
            self.check_operands = args
                .iter()
                .enumerate()
                .map(|(at, arg)| Typed { kind: Kind::Variable(usize::MAX - at), ..arg.clone() })
                .collect();
            let flag = self.flag(&when);
            self.check_operands = outer;
            checks.push((flag?, check.trap.code()));
        }
        Ok(checks)
    }

    fn flag(&mut self, expr: &Sexpr) -> Checked<Typed> {
        let typed = self.expression(expr, None)?;
        match typed.ty {
            Type::Flag => Ok(typed),
            _ => fail(typed.span, "here stands a flag: a comparison, or `(nz value)`"),
        }
    }

    fn statement(&mut self, expr: &Sexpr) -> Checked<Typed> {
        let typed = self.expression(expr, None)?;
        match typed.ty {
            Type::Void => Ok(typed),
            _ => fail(typed.span, "this has a value that nobody takes; `(discard …)` drops it"),
        }
    }

    pub(super) fn value(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        let typed = self.expression(expr, expect)?;
        match typed.ty {
            ty if ty.is_value() => Ok(typed),
            Type::Flag => fail(typed.span, "a flag is no value; `(flagval … i64)` makes it one or zero"),
            _ => fail(typed.span, "this has no value"),
        }
    }

    /// A value whose type may still follow from its fellows': a literal keeps no type of its own.
    fn loose_value(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        match expr {
            Sexpr::Literal(..) | Sexpr::Constant(..) if expect.is_none() => {
                let typed = self.expression(expr, None)?;
                Ok(Typed { leaves: true, ..typed })
            }
            _ => self.value(expr, expect),
        }
    }

    /// Gives values one type: the widest, of their class. Constants without a type take it over.
    fn agree(
        &mut self,
        values: Vec<Typed>,
        cast: Cast,
        expect: Option<Scalar>,
        span: Span,
    ) -> Checked<Vec<Typed>> {
        let is_loose = |value: &Typed| value.leaves && matches!(value.kind, Kind::Constant(_));
        let firm: Vec<&Typed> = values.iter().filter(|value| !is_loose(value)).collect();
        let ty = match firm.iter().map(|value| value.ty).max_by_key(|ty| ty.bits()) {
            Some(ty) => ty,
            None => expect.map_or(values[0].ty, Scalar::ty),
        };
        if firm.iter().any(|value| value.ty.is_float() != ty.is_float()) {
            return fail(span, "an integer and a float: convert one of them, with `stof` or `ftos_sat`");
        }
        if let Some(odd) = firm.iter().find(|value| value.ty != ty) {
            if ty.is_float() {
                return fail(odd.span, format!("{} and {ty}: convert one of them with `fcast`", odd.ty));
            }
            if cast == Cast::None {
                return fail(odd.span, format!("{} and {ty}: widen it with `scast` or `ucast`", odd.ty));
            }
        }
        let is_signed = firm.first().is_none_or(|value| value.is_signed);
        let unified = values.into_iter().map(|value| match is_loose(&value) {
            true if value.ty.is_float() != ty.is_float() && value.ty.is_float() => {
                fail(value.span, format!("a float literal where {ty} is wanted"))
            }
            true => Ok(Typed { ty, is_signed, leaves: false, ..value }),
            false => Ok(widen(value, ty)),
        });
        unified.collect()
    }

    /// Makes a value what a scalar holds: a narrower integer is widened, a wider one refused.
    pub(super) fn coerce(&mut self, value: Typed, scalar: Scalar) -> Checked<Typed> {
        let ty = scalar.ty();
        if let Kind::Constant(Constant::Tokens(_)) = value.kind
            && (value.ty.is_float() == ty.is_float() || ty.is_float())
        {
            return Ok(Typed { ty, is_signed: scalar.is_signed(), leaves: false, ..value });
        }
        if value.ty == ty {
            return Ok(value);
        }
        if value.ty.is_int() && ty.is_int() && value.ty.bits() < ty.bits() {
            return Ok(widen(value, ty));
        }
        let (found, wanted) = (value.ty, scalar.name());
        let help = match (found.is_float(), ty.is_float()) {
            (false, false) => format!("`(ucast … {wanted})` takes the low bits"),
            (true, true) => format!("`(fcast … {wanted})` rounds"),
            (true, false) => format!("`(ftos_sat … {wanted})` rounds toward zero"),
            (false, true) => format!("`(stof … {wanted})` converts"),
        };
        fail(value.span, format!("{found} where {wanted} is wanted; {help}"))
    }

    /// A type, as a parameter.
    pub(super) fn scalar(&self, written: &Sexpr) -> Checked<Scalar> {
        let found = written.word().and_then(Scalar::from_name);
        found.map_or_else(
            || {
                let names: Vec<&str> = Scalar::ALL.iter().map(|scalar| scalar.name()).collect();
                fail(written.span(), format!("here stands a type: {}", names.join(" ")))
            },
            Ok,
        )
    }

    /// A constant, as a parameter.
    fn number(&self, written: &Sexpr) -> Checked<TokenStream> {
        match written {
            Sexpr::Literal(tokens, _) => Ok(tokens.clone()),
            Sexpr::Constant(path, args, _) => Ok(constant_tokens(path, args)),
            other => fail(other.span(), "here stands a constant: a number, or `(&…)`"),
        }
    }
}

trait KeyIsOperand {
    fn key_is_operand(&self) -> bool;
}

impl KeyIsOperand for OpInfo {
    fn key_is_operand(&self) -> bool {
        matches!(self.key, Key::Operand)
    }
}

fn void(kind: Kind, span: Span) -> Typed {
    Typed { kind, ty: Type::Void, is_signed: false, leaves: false, span }
}

fn leaving(kind: Kind, span: Span) -> Typed {
    Typed { leaves: true, ..void(kind, span) }
}

fn flag(kind: Kind, span: Span) -> Typed {
    Typed { ty: Type::Flag, ..void(kind, span) }
}

fn constant(tokens: TokenStream, scalar: Scalar, span: Span) -> Typed {
    let kind = Kind::Constant(Constant::Tokens(tokens));
    Typed { kind, ty: scalar.ty(), is_signed: scalar.is_signed(), leaves: false, span }
}

fn literal(tokens: &TokenStream, span: Span, expect: Option<Scalar>) -> Checked<Typed> {
    let text = tokens.to_string();
    let is_float = text.contains('.') || (text.contains('e') && !text.contains("0x"));
    if text.starts_with('"') {
        return fail(span, "text is no value");
    }
    let scalar = match expect {
        Some(scalar) if !is_float || scalar.ty().is_float() => scalar,
        Some(scalar) => return fail(span, format!("a float literal where {scalar} is wanted")),
        None if is_float => Scalar::F64,
        None => Scalar::I64,
    };
    Ok(constant(tokens.clone(), scalar, span))
}

fn widen(value: Typed, ty: Type) -> Typed {
    if value.ty == ty {
        return value;
    }
    let op = if value.is_signed { Op::SCAST } else { Op::UCAST };
    let sig = Sig { from: value.ty, ty };
    let (is_signed, span) = (value.is_signed, value.span);
    let kind = Kind::Op { op, sig, args: vec![value], imm: None, checks: Vec::new() };
    Typed { kind, ty, is_signed, leaves: false, span }
}

pub(super) fn wrong_count<T>(span: Span, word: &str, usage: &str, rest: &[Sexpr]) -> Checked<T> {
    fail(span, format!("`{word}` takes {usage}; there are {} things", rest.len()))
}

/// `(&sizeof T)`, `(&offset_of T, field)` and `(&path args…)` as Rust.
fn constant_tokens(path: &TokenStream, args: &Option<TokenStream>) -> TokenStream {
    let Some(args) = args else { return quote!(#path) };
    match path.to_string().as_str() {
        "sizeof" => quote!(::core::mem::size_of::<#args>()),
        "offset_of" => quote!(::core::mem::offset_of!(#args)),
        _ => quote!(#path(#args)),
    }
}
