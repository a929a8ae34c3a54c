//! Operators and the types of their operands.
//!
//! In: the words after an operator's name. Out: a [`Typed`] tree, or what is wrong with it. Operands of different widths
//! are widened here: by the sign of their own Rust type where they have one, else as the operator's row says.

use super::ast::{Constant, Kind, Typed};
use super::check::{Checked, Checker, fail};
use super::words::closest;
use crate::sexpr::Sexpr;
use azulejo_core::vocab::op::{Cast, Key, Kind as OperandKind, Param, Yields};
use azulejo_core::vocab::{Op, OpInfo, Props, Scalar, Sig, Type};
use proc_macro2::{Span, TokenStream};

impl Checker<'_> {
    /// An operator of the vocabulary.
    pub(super) fn operator(
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
            let hint = match self.macros.contains_key(word) {
                true => format!("; the macro is `^{word}`"),
                false => closest(word, names.chain(["let:", "letv:", "window", "length"])),
            };
            return fail(head, format!("there is no operator `{word}`{hint}"));
        };
        let is_load = info.props.contains(Props::ACCESS | Props::READS);
        let (is_pure, rest) = match rest.split_first() {
            Some((first, others)) if is_load && first.word() == Some("pure") => (true, others),
            _ => (false, rest),
        };
        let n_operands = info.operands.len();
        let n_params = info.params.len();
        if rest.len() != n_operands + n_params {
            let form = super::words::form(info);
            return fail(
                span,
                format!(
                    "`{word}` is written `{form}`; here are {} of its {}",
                    rest.len(),
                    n_operands + n_params
                ),
            );
        }
        if info.props.intersects(Props::READS | Props::WRITES) {
            self.needs_unsafe(head, "reading and writing memory")?;
            self.has_effect |= info.props.contains(Props::WRITES);
        }
        let (operands, params) = rest.split_at(n_operands);
        let mut typed = self.apply(op, info, operands, params, span, expect)?;
        if let (true, Kind::Op { imm, .. }) = (is_pure, &mut typed.kind) {
            *imm = Some(Constant::Pure);
        }
        Ok(typed)
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
        if let (Some(scalar), true) = (target, matches!(info.key, Key::Operand)) {
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
                    return fail(*place, "expected a constant: a number, `(&…)`, or an `Imm` operand");
                }
                Some(Constant::Operand(at))
            }
            Some(written) => Some(Constant::Tokens(self.number(written)?)),
        };
        if op == Op::CONST {
            let value = imm.expect("a constant has a value");
            return Ok(Typed {
                kind: Kind::Constant(value),
                ty,
                is_signed,
                leaves: false,
                is_loose: false,
                span,
            });
        }
        let checks = self.checks(info, sig, &args)?;
        Ok(Typed {
            kind: Kind::Op { op, sig, args, imm, checks },
            ty,
            is_signed,
            leaves: false,
            is_loose: false,
            span,
        })
    }

    /// The conditions under which a trapping operator traps, over its operands as variables.
    fn checks(&mut self, info: &'static OpInfo, sig: Sig, args: &[Typed]) -> Checked<Vec<(Typed, u32)>> {
        let key = if matches!(info.key, Key::Result) { sig.ty } else { sig.from };
        let mut checks = Vec::new();
        for check in info.checks.iter().filter(|check| check.on.contains(key)) {
            let text = super::words::fill(check.when, sig);
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

    /// A value whose type may still follow from its fellows': a literal keeps no type of its own.
    fn loose_value(&mut self, expr: &Sexpr, expect: Option<Scalar>) -> Checked<Typed> {
        match expr {
            Sexpr::Literal(..) | Sexpr::Constant(..) if expect.is_none() => {
                let typed = self.expression(expr, None)?;
                Ok(Typed { is_loose: true, ..typed })
            }
            _ => self.value(expr, expect),
        }
    }

    /// Gives values one type: the widest, of their class. Constants without a type take it over.
    pub(super) fn agree(
        &mut self,
        values: Vec<Typed>,
        cast: Cast,
        expect: Option<Scalar>,
        span: Span,
    ) -> Checked<Vec<Typed>> {
        let firm: Vec<&Typed> = values.iter().filter(|value| !value.is_loose).collect();
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
        let unified = values.into_iter().map(|value| match value.is_loose {
            true if value.ty.is_float() != ty.is_float() && value.ty.is_float() => {
                fail(value.span, format!("a float literal where {ty} is wanted"))
            }
            true => Ok(Typed { ty, is_signed, is_loose: false, ..value }),
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
            return Ok(Typed { ty, is_signed: scalar.is_signed(), is_loose: false, ..value });
        }
        if value.ty == ty {
            return Ok(value);
        }
        if value.ty.is_int() && ty.is_int() && value.ty.bits() < ty.bits() {
            return Ok(widen(value, ty));
        }
        let (found, wanted) = (value.ty, scalar.name());
        if found == Type::Flag {
            return fail(
                value.span,
                format!("a flag is no value; `(flagval … {wanted})` makes it one or zero"),
            );
        }
        let help = match (found.is_float(), ty.is_float()) {
            (false, false) => format!("`(ucast … {wanted})` takes the low bits"),
            (true, true) => format!("`(fcast … {wanted})` rounds"),
            (true, false) => format!("`(ftos_sat … {wanted})` rounds toward zero"),
            (false, true) => format!("`(stof … {wanted})` converts"),
        };
        fail(value.span, format!("{found} where {wanted} is wanted; {help}"))
    }
}

fn widen(value: Typed, ty: Type) -> Typed {
    if value.ty == ty {
        return value;
    }
    let op = if value.is_signed { Op::SCAST } else { Op::UCAST };
    let sig = Sig { from: value.ty, ty };
    let (is_signed, span) = (value.is_signed, value.span);
    let kind = Kind::Op { op, sig, args: vec![value], imm: None, checks: Vec::new() };
    Typed { kind, ty, is_signed, leaves: false, is_loose: false, span }
}
