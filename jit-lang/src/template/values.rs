//! Type checking of operators and their operands.
//!
//! In: the words after an operator's name. Out: a [`Typed`] tree, or an error. Operands of different widths
//! are extended here, according to their own signs. The signs also select signed or unsigned operators, as for `div`.

use super::ast::{Constant, Kind, Typed};
use super::check::{Checked, Checker, fail};
use super::fields;
use super::literals;
use super::of_kind::FORMS;
use super::signs::{self, Sign};
use super::sites;
use super::words::meant;
use crate::place::Place;
use crate::reader::Reader;
use crate::sexpr::Sexpr;
use crate::token::{Token, made};
use azulejo_core::ir::bytecode::OperandKind as Operand;
use azulejo_core::vocab::atomic::Order;
use azulejo_core::vocab::op::{Cast, Key, Kind as OperandKind, Param, Yields};
use azulejo_core::vocab::{Op, OpInfo, Props, Scalar, Sig, Type};

/// The meaning of integer operators on floats.
const OF_FLOATS: [(Op, &str); 2] = [(Op::NZ, "(ne $0 0.0)"), (Op::ZR, "(eq $0 0.0)")];

impl Checker<'_> {
    /// Checks a use of an operator from the vocabulary.
    pub(super) fn operator(
        &mut self,
        word: &str,
        head: Place,
        rest: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let vocab = self.vocab;
        let is_known = |info: &OpInfo| info.props.contains(Props::TEMPLATE);
        let Some((op, info)) = vocab.iter().find(|(_, info)| info.name == word && is_known(info)) else {
            let names = vocab.iter().filter(|(_, info)| is_known(info)).map(|(_, info)| info.name);
            let hint = match self.macros.contains_key(word) {
                true => format!("; the macro is `^{word}`"),
                false => {
                    let of_kinds = if self.kinds.boxed.is_some() { &FORMS[..] } else { &[] };
                    let has_site = self.opcode.operands.iter().any(|operand| operand.kind == Operand::Site);
                    let of_sites = if has_site { &sites::FORMS[..] } else { &[] };
                    let forms = ["let:", "letv:", "window", "length", "try", "tryv", "trap_code"];
                    let forms = forms.iter().chain(of_kinds).chain(of_sites).copied();
                    meant(word, names.chain(forms))
                }
            };
            return fail(head, format!("there is no operator `{word}`{hint}"));
        };
        if op == Op::KEPT {
            self.memory.asked = Some(place);
        }
        let (access, rest) = self.access(info, rest)?;
        let n_operands = info.operands.len();
        let n_params = info.params.len();
        if rest.len() != n_operands + n_params {
            let form = info.form();
            return fail(
                place,
                format!(
                    "`{word}` is written `{form}`; here are {} of its {}",
                    rest.len(),
                    n_operands + n_params
                ),
            );
        }
        if info.props.intersects(Props::READS | Props::WRITES | Props::ACCESS) {
            self.needs_unsafe(head, "reading and writing memory")?;
            self.has_effect |= info.props.contains(Props::WRITES);
        }
        let (operands, params) = rest.split_at(n_operands);
        let mut typed = self.apply(op, info, operands, params, place, expect)?;
        if let (Some(access), Kind::Op { imm, .. }) = (access, &mut typed.kind) {
            *imm = Some(access);
        }
        Ok(typed)
    }

    fn apply(
        &mut self,
        mut op: Op,
        mut info: &'static OpInfo,
        operands: &[Sexpr],
        params: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let params = self.params(info, operands, params)?;
        // The type expected of the result is also expected of operands that share it.
        let inner = match (info.key, info.yields) {
            (Key::Result, Yields::Same) => expect,
            (_, Yields::Void | Yields::Param) if info.operands.contains(&OperandKind::Same) => params.target,
            _ => None,
        };
        let (mut args, same) = self.typed_operands(info, operands, &params, inner)?;
        if let Some(scalar) = params.target {
            for &at in &same {
                args[at] = self.coerce(args[at].clone(), scalar)?;
            }
        } else if !same.is_empty() {
            let taken: Vec<Typed> = same.iter().map(|&at| args[at].clone()).collect();
            let agreed = self.agree(taken.clone(), info.cast, inner, place)?;
            (op, info) = signs::meant(self.vocab, op, &taken, &agreed[0], place)?;
            for (at, arg) in std::iter::zip(&same, agreed) {
                args[*at] = arg;
            }
            if let ([value, _count], true) = (&taken[..], info.props.contains(Props::COUNTS))
                && !value.is_loose
            {
                args[same[0]].sign = value.sign;
            }
        }
        let (from, ty, sign) = types(info, &args, &same, params.target);
        let sig = match info.key {
            Key::Result | Key::None => Sig { from: Type::Void, ty },
            Key::Operand | Key::Both { .. } => Sig { from, ty },
        };
        if matches!(info.key, Key::Both { .. }) && from == ty && from.is_int() {
            // A conversion between equal types only changes the sign, by which the value is extended later.
            let value = args.pop().expect("a conversion has an operand");
            return Ok(Typed { sign, place, is_loose: false, ..value });
        }
        if let Some((_, meaning)) = OF_FLOATS.iter().find(|(known, _)| *known == op && from.is_float()) {
            let written = Reader::new(made(meaning)).sexpr()?;
            let outer = std::mem::replace(&mut self.check_operands, args);
            let typed = self.expression(&written, None);
            self.check_operands = outer;
            return typed.map(|typed| Typed { place, ..typed });
        }
        if !info.allows(sig) {
            let from = signs::name(from, args.first().map_or(sign, |value| value.sign));
            let to = signs::name(ty, sign);
            let what = match sig.from {
                _ if info.yields == Yields::Flag || ty == Type::Void => from,
                Type::Void => to,
                _ => format!("{from} to {to}"),
            };
            return fail(place, format!("`{}` does not work on {what}", info.name));
        }
        let imm = self.immediate(params)?;
        let kind = match (op, imm) {
            (Op::CONST, imm) => {
                let constant = imm.expect("a constant has a value");
                literals::fits(&constant, ty, sign, place)?;
                Kind::Constant(constant)
            }
            (op, imm) => {
                self.writes_no_run(info, &args)?;
                let checks = self.checks(info, sig, &args)?;
                Kind::Op { op, sig, args, imm, checks }
            }
        };
        Ok(Typed { kind, ty, sign, leaves: false, is_loose: false, place })
    }

    /// Reads what follows an operator's operands.
    fn params<'a>(&mut self, info: &OpInfo, operands: &[Sexpr], params: &'a [Sexpr]) -> Checked<Params<'a>> {
        let mut found = Params { target: None, imm: None, order: None, field: None };
        for (param, written) in std::iter::zip(info.params, params) {
            match param {
                Param::Type => match self.field(written)? {
                    Some((scalar, of))
                        if info.props.intersects(Props::READS | Props::WRITES | Props::ACCESS) =>
                    {
                        found.target = Some(scalar);
                        found.field = Some(fields::address(&operands[0], of, written.place()));
                    }
                    Some(_) => return fields::misplaced(written.place()),
                    None => found.target = Some(self.scalar(written)?),
                },
                Param::Order => found.order = Some(order_of(info, written)?),
                _ => found.imm = Some(written),
            }
        }
        Ok(found)
    }

    /// Checks the operands; of those that share a type, which is expected to be `inner`, the positions are returned too.
    fn typed_operands(
        &mut self,
        info: &OpInfo,
        operands: &[Sexpr],
        params: &Params<'_>,
        inner: Option<Scalar>,
    ) -> Checked<(Vec<Typed>, Vec<usize>)> {
        let (mut args, mut same) = (Vec::new(), Vec::new());
        for (at, (kind, operand)) in std::iter::zip(info.operands, operands).enumerate() {
            let operand = params.field.as_ref().filter(|_| at == 0).unwrap_or(operand);
            let arg = match kind {
                OperandKind::Flag => self.flag(operand)?,
                OperandKind::Ptr | OperandKind::Word => {
                    let value = self.value(operand, Some(Scalar::Ptr))?;
                    self.coerce(value, Scalar::Ptr)?
                }
                OperandKind::Same => {
                    same.push(args.len());
                    let expect = inner.filter(|_| params.target.is_some() || !is_untyped(operand));
                    self.value(operand, expect)?
                }
                _ => self.value(operand, None)?,
            };
            args.push(arg);
        }
        Ok((args, same))
    }

    /// The constant of an operator.
    fn immediate(&mut self, params: Params<'_>) -> Checked<Option<Constant>> {
        Ok(match params.imm {
            None => params.order.map(Constant::Tokens),
            Some(Sexpr::Operand(name, place)) => {
                let at = self.find_operand(name, *place)?;
                if self.opcode.operands[at].kind != Operand::Imm {
                    return fail(*place, "expected a constant: a number, `(&…)`, or an `Imm` operand");
                }
                Some(Constant::Operand(at))
            }
            Some(written) => Some(Constant::Tokens(self.number(written)?)),
        })
    }

    /// Checks that an operator writes to no run of registers that is only read.
    fn writes_no_run(&self, info: &OpInfo, args: &[Typed]) -> Checked<()> {
        let mut address = args.first().filter(|_| info.props.contains(Props::WRITES));
        while let Some(Typed { kind, place, .. }) = address {
            address = match kind {
                Kind::Op { op: Op::ADDR | Op::IDX | Op::ADD, args, .. } => args.first(),
                Kind::Window(at) if self.opcode.operands[*at].kind == Operand::Regs => {
                    let message = "`Regs` are only read; `RegsMut` says that the opcode writes them";
                    return fail(*place, message);
                }
                _ => None,
            };
        }
        Ok(())
    }

    /// The conditions under which a trapping operator traps, over its operands as variables.
    fn checks(&mut self, info: &'static OpInfo, sig: Sig, args: &[Typed]) -> Checked<Vec<(Typed, u32)>> {
        let key = if matches!(info.key, Key::Result) { sig.ty } else { sig.from };
        let mut checks = Vec::new();
        for check in info.checks.iter().filter(|check| check.on.contains(key)) {
            let when = Reader::new(made(&super::words::fill(check.when, sig))).sexpr()?;
            // The operands stand for themselves. The lowering evaluates them before it emits the checks.
            let outer = std::mem::take(&mut self.check_operands);
            self.check_operands = args
                .iter()
                .enumerate()
                .map(|(at, arg)| Typed {
                    kind: Kind::Variable(usize::MAX - at),
                    is_loose: false,
                    ..arg.clone()
                })
                .collect();
            let flag = self.flag(&when);
            self.check_operands = outer;
            checks.push((flag?, check.trap.code()));
        }
        Ok(checks)
    }

    /// Converts values to one type and sign: the widest type of their class. Constants without a type adopt both.
    pub(super) fn agree(
        &mut self,
        values: Vec<Typed>,
        cast: Cast,
        expect: Option<Scalar>,
        place: Place,
    ) -> Checked<Vec<Typed>> {
        let firm: Vec<&Typed> = values.iter().filter(|value| !value.is_loose).collect();
        let ty = match firm.iter().map(|value| value.ty).max_by_key(|ty| ty.bits()) {
            Some(ty) => ty,
            None => expect.map_or(values[0].ty, Scalar::ty),
        };
        if firm.iter().any(|value| value.ty.is_float() != ty.is_float()) {
            let boxed =
                if self.kinds.boxed.is_some() { ", or put it into its box, `(box kind …)`" } else { "" };
            let help = "convert one of them, with `stof` or `ftos_sat`";
            return fail(place, format!("an integer and a float: {help}{boxed}"));
        }
        if let Some(odd) = firm.iter().find(|value| value.ty != ty) {
            if ty.is_float() {
                return fail(odd.place, format!("{} and {ty}: convert one of them with `fcast`", odd.ty));
            }
            if cast == Cast::None {
                let wide = firm.iter().find(|value| value.ty == ty).expect("it is one of theirs");
                let [narrow, wide] = [odd, wide].map(|value| signs::name(value.ty, value.sign));
                return fail(odd.place, format!("{narrow} and {wide}: widen it with `scast` or `ucast`"));
            }
        }
        let sign = Sign::common(firm.into_iter());
        let sign = sign.unwrap_or_else(|| expect.map_or(Sign::Signed, Sign::of));
        let unified = values.into_iter().map(|value| match value.is_loose {
            true if value.ty.is_float() != ty.is_float() && value.ty.is_float() => {
                fail(value.place, format!("a float literal where {ty} is wanted"))
            }
            true => literals::typed(value, ty, sign),
            false => Ok(Typed { sign, ..widen(value, ty)? }),
        });
        unified.collect()
    }

    /// Converts a value to a scalar type: a narrower integer is extended, a wider one is an error.
    pub(super) fn coerce(&mut self, value: Typed, scalar: Scalar) -> Checked<Typed> {
        let ty = scalar.ty();
        if let Kind::Constant(Constant::Tokens(_)) = value.kind
            && (value.ty.is_float() == ty.is_float() || ty.is_float())
        {
            return literals::typed(value, ty, Sign::of(scalar));
        }
        if value.ty == ty {
            return Ok(value);
        }
        if value.ty.is_int() && ty.is_int() && value.ty.bits() < ty.bits() {
            return widen(value, ty);
        }
        let (found, wanted) = (value.ty, scalar.name());
        let called = signs::name(value.ty, value.sign);
        if found == Type::Flag {
            let number = match ty.is_float() {
                true => format!("(stof (flagval … i64) {wanted})"),
                false => format!("(flagval … {wanted})"),
            };
            return fail(value.place, format!("a flag is no value; `{number}` makes it one or zero"));
        }
        let bits = format!("`(bitcast … {wanted})` takes its bits");
        let help = match (found.is_float(), ty.is_float()) {
            (false, false) => {
                if let Some(wide) = widest(&value) {
                    let message = format!(
                        "this is {called}, to which the other operand is widened, and {wanted} is wanted; \
                         `(ucast … {wanted})` takes its low bits"
                    );
                    return fail(wide, message);
                }
                format!("`(ucast … {wanted})` takes the low bits")
            }
            (true, true) => format!("`(fcast … {wanted})` rounds"),
            (true, false) if scalar == Scalar::Ptr && found.bits() == ty.bits() => bits,
            (true, false) if scalar == Scalar::Ptr => {
                "an address is no float; which integer is it to be?".to_string()
            }
            (true, false) if found.bits() == ty.bits() => {
                format!("`(ftos_sat … {wanted})` rounds toward zero, and {bits}")
            }
            (true, false) => format!("`(ftos_sat … {wanted})` rounds toward zero"),
            (false, true) if found.bits() == ty.bits() => {
                format!("`(stof … {wanted})` converts, and {bits}")
            }
            (false, true) => format!("`(stof … {wanted})` converts"),
        };
        fail(value.place, format!("{called} where {wanted} is wanted; {help}"))
    }
}

/// What follows an operator's operands.
struct Params<'a> {
    /// The type that is named.
    target: Option<Scalar>,
    imm: Option<&'a Sexpr>,
    /// The number of an atomic ordering.
    order: Option<Vec<Token>>,
    /// The address of a field, if one is accessed; it replaces that of the struct.
    field: Option<Sexpr>,
}

/// The type that an operator works on, the type of its result, and the sign of that.
fn types(info: &OpInfo, args: &[Typed], same: &[usize], target: Option<Scalar>) -> (Type, Type, Sign) {
    let model = same.first().or(if args.is_empty() { None } else { Some(&0) }).map(|&at| &args[at]);
    let (from, mut sign) = model.map_or((Type::Void, Sign::Signed), |model| (model.ty, model.sign));
    let mut ty = Type::Void;
    match info.yields {
        Yields::Same => ty = same.first().map_or(from, |&at| args[at].ty),
        Yields::Param => {
            let scalar = target.expect("an operator that yields a type's value names it");
            (ty, sign) = (scalar.ty(), Sign::of(scalar));
        }
        Yields::Ptr => (ty, sign) = (Type::I64, Sign::Unsigned),
        Yields::Flag => ty = Type::Flag,
        _ => {}
    }
    (from, ty, sign)
}

/// The number that encodes an atomic ordering.
fn order_of(info: &OpInfo, written: &Sexpr) -> Checked<Vec<Token>> {
    let fitting = || Order::ALL.into_iter().filter(|order| order.fits(info));
    match fitting().find(|order| written.word() == Some(order.name())) {
        Some(order) => Ok(made(&(order as u64).to_string())),
        None => {
            let names: Vec<&str> = fitting().map(Order::name).collect();
            fail(written.place(), format!("expected an ordering of `{}`: {}", info.name, names.join(" ")))
        }
    }
}

/// The place of the operand that determines the width of an operator's result, if the other operand is extended to it.
fn widest(value: &Typed) -> Option<Place> {
    let Kind::Op { args, .. } = &value.kind else { return None };
    let is_widened = |arg: &&Typed| match &arg.kind {
        Kind::Op { op: Op::SCAST | Op::UCAST, args, .. } => args[0].ty.bits() < arg.ty.bits(),
        _ => false,
    };
    let (widened, wide): (Vec<&Typed>, Vec<&Typed>) = args.iter().partition(is_widened);
    match (&widened[..], &wide[..]) {
        ([_, ..], [wide]) if wide.ty == value.ty => Some(wide.place),
        _ => None,
    }
}

/// Whether an expression is a constant without a type.
fn is_untyped(expr: &Sexpr) -> bool {
    matches!(expr, Sexpr::Literal(..) | Sexpr::Constant(..))
}

fn widen(value: Typed, ty: Type) -> Checked<Typed> {
    if value.ty == ty {
        return Ok(value);
    }
    let op = match value.sign {
        Sign::Signed => Op::SCAST,
        Sign::Unsigned => Op::UCAST,
        Sign::Mixed => {
            let (name, wide) = (signs::name(value.ty, value.sign), ty.name());
            let wide_unsigned = signs::name(ty, Sign::Unsigned);
            let message = format!(
                "this is {name}, computed from both, and has to be widened: \
                 `(scast … {wide})` does it with a sign, `(ucast … {wide_unsigned})` without one"
            );
            return fail(value.place, message);
        }
    };
    let sig = Sig { from: value.ty, ty };
    let (sign, place) = (value.sign, value.place);
    let kind = Kind::Op { op, sig, args: vec![value], imm: None, checks: Vec::new() };
    Ok(Typed { kind, ty, sign, leaves: false, is_loose: false, place })
}
