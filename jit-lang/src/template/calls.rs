//! Calls of Rust functions, of addresses, and of functions of bytecode.
//!
//! In: `(call pure f (arglist (carg value type) …) type)`. Out: the call, with arguments of the types that it states. A call
//! that `throws` is one of a function that returns a `Result`.
//! Whether the function has that signature is left to rustc: either a native function ([`Native`]) contains the call, or,
//! where a convention is stated, the interpreter calls through a function pointer of that type.

use super::ast::{Abi, Argument, Arguments, Call, Callee, Invoke, Kind, Leads, Native, Passing, Typed};
use super::check::{Checked, Checker, fail, leaving, wrong_count};
use super::signs::Sign;
use crate::place::Place;
use crate::sexpr::{Name, Sexpr};
use crate::token::{made, text};
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::ir::graph::Effect;
use azulejo_core::pass::build::MAX_ARGUMENTS;
use azulejo_core::vocab::{Op, Props, Scalar, Sig, Type};

/// The operand kinds that are runs of registers.
pub(super) const RUNS: [OperandKind; 2] = [OperandKind::Regs, OperandKind::RegsMut];

/// The word of a call, the expressions after it, and the call's place.
type Written<'a> = (&'a str, &'a [Sexpr], Place);

/// Each argument of a call with its scalar, and how it is passed.
type Passed = (Vec<(Typed, Scalar)>, Vec<Passing>);

impl Checker<'_> {
    /// Splits a call into callee, arguments and result type. There is no result type if the word ends with `v`.
    fn parts<'a>(
        &self,
        (word, rest, place): Written<'a>,
        usage: &str,
        arglist: &str,
    ) -> Checked<(&'a Sexpr, &'a [Sexpr], Option<Scalar>)> {
        let [callee, Sexpr::List(list, list_span), ret @ ..] = rest else {
            return wrong_count(place, word, usage, rest);
        };
        let ret = match (word.ends_with('v'), ret) {
            (false, [ty]) => Some(self.scalar(ty)?),
            (true, []) => None,
            _ => return wrong_count(place, word, usage, rest),
        };
        match list.split_first() {
            Some((head, args)) if head.word() == Some("arglist") => Ok((callee, args, ret)),
            _ => fail(*list_span, format!("the arguments stand in `{arglist}`")),
        }
    }

    /// Checks `(invoke observes function (arglist value …) type)`, or `invokev` without a type.
    pub(super) fn invoke(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let usage = &with_result(word, "a function's number or address, `(arglist value …)`");
        let (effect, rest) = match rest.split_first() {
            Some((first, others)) if first.word() == Some("observes") => (Effect::Observes, others),
            _ => (Effect::Memory, rest),
        };
        let (function, values, ret) = self.parts((word, rest, place), usage, "(arglist value …)")?;
        let function = self.function(function)?;
        let args = self.arguments(values, place)?;
        self.has_effect = true;
        let shown = self.shown(effect);
        let (ty, sign) = ret.map_or((Type::Void, Sign::Unsigned), |scalar| (scalar.ty(), Sign::of(scalar)));
        let kind = Kind::Invoke(Box::new(Invoke { function, args, effect, shown }));
        Ok(Typed { kind, ty, sign, leaves: false, is_loose: false, place })
    }

    /// Checks `(tail function (arglist value …))`.
    pub(super) fn tail(&mut self, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let [function, Sexpr::List(list, list_span)] = rest else {
            return wrong_count(
                place,
                "tail",
                "a function's number or address, and `(arglist value …)`",
                rest,
            );
        };
        let Some((Some("arglist"), values)) = list.split_first().map(|(head, rest)| (head.word(), rest))
        else {
            return fail(*list_span, "the arguments stand in `(arglist value …)`");
        };
        let function = self.function(function)?;
        let args = self.arguments(values, place)?;
        self.has_effect = true;
        Ok(leaving(
            Kind::Tail(Box::new(Invoke { function, args, effect: Effect::Memory, shown: None })),
            place,
        ))
    }

    /// The number of a function of bytecode, or its address.
    fn function(&mut self, function: &Sexpr) -> Checked<Typed> {
        let function = self.value(function, Some(Scalar::U32))?;
        match function.ty {
            Type::I64 if self.is_unsafe => Ok(function),
            Type::I64 => fail(
                function.place,
                format!(
                    "a function's number is a u32, and `(ucast … u32)` takes the low bits; 64 bits are the address of a function, \
                     and calling that is unsafe: `{} => unsafe (…)`",
                    self.opcode.name
                ),
            ),
            _ => self.coerce(function, Scalar::U32),
        }
    }

    /// The arguments of a call of a bytecode function: values, the registers of one run, or words in memory.
    fn arguments(&mut self, values: &[Sexpr], place: Place) -> Checked<Arguments> {
        if let Some(spread) = values.iter().find(|value| is_spread(value)) {
            if values.len() > 1 {
                let why = "what `spread` gives is all the arguments of a call; put the others in memory, too";
                return fail(spread.place(), why);
            }
            return self.spread(spread);
        }
        let run = values.iter().position(|value| self.is_run(value));
        if let Some(run) = run {
            let at = self.operand_of(Some(&values[run]), &RUNS, "a run of registers", place)?;
            if values.len() > 1 {
                let why = "a run of registers is all the arguments of a call; put the others in the run, too";
                return fail(values[run].place(), why);
            }
            return Ok(Arguments::Run(at));
        }
        if values.len() > MAX_ARGUMENTS {
            return fail(
                place,
                format!("there are at most {MAX_ARGUMENTS} arguments; a run of registers may be longer"),
            );
        }
        let values = values.iter().map(|value| self.value(value, None));
        values.collect::<Checked<Vec<Typed>>>().map(Arguments::Values)
    }

    /// Checks `(spread address count)`.
    fn spread(&mut self, spread: &Sexpr) -> Checked<Arguments> {
        let Sexpr::List(list, place) = spread else { unreachable!("`is_spread` has found a list") };
        let [_, address, count] = &list[..] else {
            return wrong_count(
                *place,
                "spread",
                "the address of the first argument, and their number",
                &list[1..],
            );
        };
        self.needs_unsafe(*place, "reading arguments from memory")?;
        let address = self.value(address, Some(Scalar::Ptr))?;
        let address = self.coerce(address, Scalar::Ptr)?;
        let count = self.value(count, Some(Scalar::U64))?;
        Ok(Arguments::Spread([address, self.coerce(count, Scalar::U64)?]))
    }

    fn is_run(&self, value: &Sexpr) -> bool {
        let Sexpr::Operand(name, place) = value else { return false };
        let operand = self.find_operand(name, *place).ok().map(|at| &self.opcode.operands[at]);
        operand.is_some_and(|operand| RUNS.contains(&operand.kind))
    }

    pub(super) fn call(&mut self, word: &str, rest: &[Sexpr], place: Place) -> Checked<Typed> {
        let (mut abi, mut effect) = (None, Effect::Memory);
        let (mut throws, mut is_tentative) = (None, false);
        let (mut makes, mut changes) = (None, None);
        let mut rest = rest;
        while let Some((first, others)) = rest.split_first() {
            match (first, first.word()) {
                (_, Some("pure" | "leaf" | "observes")) if effect != Effect::Memory => {
                    let message = "a call says one of `pure`, `leaf` and `observes`: what is pure is a leaf, and what observes may be one";
                    return fail(first.place(), message);
                }
                (_, Some("pure")) => effect = Effect::Pure,
                (_, Some("leaf")) => effect = Effect::Leaf,
                (_, Some("observes")) => effect = Effect::Observes,
                (_, Some("throws")) => throws = Some(first.place()),
                (_, Some("tentative")) => is_tentative = true,
                (_, Some("makes")) => makes = Some(first.place()),
                (Sexpr::List(list, place), _) if list.first().and_then(Sexpr::word) == Some("changes") => {
                    changes = Some((self.changed(&list[1..], *place)?, *place));
                }
                (Sexpr::Literal(stated, place), _) => {
                    let Some(known) = Abi::from_name(text(stated).trim_matches('"')) else {
                        let known = Abi::ALL.map(|known| format!("\"{}\"", known.name())).join(", ");
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
        if let Some(place) = throws {
            let why = match (effect, abi) {
                _ if makes.is_some() => "what makes memory does not fail",
                (Effect::Pure, _) => "a pure function only computes, and so it cannot fail",
                (_, Some(_)) => "a function that may fail is called without a convention",
                _ => "",
            };
            if !why.is_empty() {
                return fail(place, why);
            }
        }
        let memory = self.call_memory((word, rest, effect), makes, changes)?;
        let usage = with_result(word, "a function, `(arglist (carg value type) …)`");
        // A `bool` is passed as a byte, and is a flag in the template.
        let is_flag = rest.len() == 3 && is_bool(&rest[2]);
        let as_byte =
            [&rest[..rest.len().min(2)], &[Sexpr::Word(made("u8"), Name::written("u8"), place)]].concat();
        let rest = if is_flag { &as_byte[..] } else { rest };
        let (callee, args, ret) = self.parts((word, rest, place), &usage, "(arglist (carg value type) …)")?;
        let callee = match callee {
            Sexpr::Word(path, ..) => Callee::Path(path.clone()),
            _ if let Some(place) = throws => {
                return fail(place, "only a function that is named may fail, not one at an address");
            }
            written => {
                let value = self.value(written, Some(Scalar::Ptr))?;
                if value.ty != Scalar::Ptr.ty() {
                    let message = "`call` calls a function of Rust, by its name or at an address; `invoke` calls a function of \
                                   bytecode by its number";
                    return fail(written.place(), message);
                }
                self.needs_unsafe(written.place(), "calling an address")?;
                Callee::Value(self.coerce(value, Scalar::Ptr)?)
            }
        };
        let is_native = matches!((&callee, abi), (Callee::Path(_), None));
        let (passed, kinds) = self.passed(args, effect, is_native)?;
        // Where an opcode runs again from its start, what is tentative has done nothing, and nobody knows what was made.
        self.has_effect |= effect != Effect::Pure && !is_tentative && !memory.makes;
        let (ty, sign) = ret.map_or((Type::Void, Sign::Unsigned), |scalar| (scalar.ty(), Sign::of(scalar)));
        let returns = if is_flag { Some(Passing::Bool) } else { ret.map(Passing::Scalar) };
        let given = std::iter::zip(&passed, kinds).map(|((arg, _), passing)| Argument {
            passing,
            leads: self.leads(arg),
            place: arg.place,
        });
        let given: Vec<Argument> = given.collect();
        let callee = match (callee, abi) {
            (Callee::Path(path), None) => {
                let (args, is_unsafe, throws) = (given.clone(), self.is_unsafe, throws.is_some());
                self.natives.push(Native { path, args, ret, returns, throws, is_unsafe, place });
                Callee::Native(self.natives.len() - 1)
            }
            (callee, _) => callee,
        };
        let (is_unsafe, throws) = (self.is_unsafe, throws.is_some());
        let abi = abi.unwrap_or(if throws { Abi::OF_FALLIBLE } else { Abi::ALL[0] });
        let shown = self.shown(effect);
        let call =
            Call { callee, args: passed, given, ret, returns, abi, effect, memory, shown, throws, is_unsafe };
        let kind = Kind::Call(Box::new(call));
        let result = Typed { kind, ty, sign, leaves: false, is_loose: false, place };
        Ok(if is_flag { as_flag(result) } else { result })
    }

    /// Checks the arguments of a call of a Rust function or an address: each value with its scalar, and how it is passed. `is_native`
    /// says that they are passed to a native function.
    fn passed(&mut self, args: &[Sexpr], effect: Effect, is_native: bool) -> Checked<Passed> {
        let (mut passed, mut kinds) = (Vec::new(), Vec::new());
        for arg in args {
            let parts = match arg {
                Sexpr::List(parts, _) if parts.first().and_then(Sexpr::word) == Some("carg") => &parts[1..],
                _ => return fail(arg.place(), "an argument is `(carg value type)`"),
            };
            let [value, ty] = parts else {
                return wrong_count(arg.place(), "carg", "a value and its type", parts);
            };
            if is_bool(ty) {
                let flag = self.flag(value)?;
                kinds.push(Passing::Bool);
                passed.push((as_number(flag), Scalar::U8));
                continue;
            }
            let scalar = self.scalar(ty)?;
            if let Some(frames) = self.frames_passed([value, ty], effect, is_native)? {
                kinds.push(Passing::Scalar(scalar));
                passed.push((frames, scalar));
                continue;
            }
            if let Some(at) = self.site_argument(value) {
                let site = self.site_passed(at, [value, ty], effect, is_native)?;
                kinds.push(Passing::Scalar(scalar));
                passed.push((site, scalar));
                continue;
            }
            let value = self.value(value, Some(scalar))?;
            kinds.push(Passing::Scalar(scalar));
            passed.push((self.coerce(value, scalar)?, scalar));
        }
        self.goes_with_frames(&passed)?;
        Ok((passed, kinds))
    }

    /// Whether a value is an address through which the context can be reached.
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
            // An address loaded from memory is unrelated to the address it was loaded from.
            Kind::Op { op, args, .. } if !self.vocab.info(*op).props.contains(Props::READS) => {
                part_of(&args.iter().collect::<Vec<_>>())
            }
            Kind::OfKind { value, .. } => part_of(&[value]),
            Kind::Variable(variable) => self.variables[*variable].leads,
            Kind::Let(_, body) | Kind::Slow(body) | Kind::Outside(_, body) => self.leads(body),
            Kind::Sequence(steps) => steps.last().map_or(Leads::Elsewhere, |last| self.leads(last)),
            Kind::If(_, so, not) => part_of(&[&**so, &**not]),
            Kind::Try(attempt) => part_of(&[&attempt.otherwise]),
            Kind::Cached(cached) => part_of(&[&cached.body, &cached.otherwise]),
            Kind::Site(at) => Leads::Site(*at),
            Kind::Frames => Leads::Frames,
            _ => Leads::Elsewhere,
        }
    }
}

/// What a call takes, and its result: the word ends with `v` if there is none.
fn with_result(word: &str, takes: &str) -> String {
    let form = word.trim_end_matches('v');
    match word == form {
        true => format!("{takes} and the result's type, or is `{form}v` if there is no result"),
        false => format!("{takes}, or is `{form}` if there is a result"),
    }
}

fn is_spread(value: &Sexpr) -> bool {
    matches!(value, Sexpr::List(list, _) if list.first().and_then(Sexpr::word) == Some("spread"))
}

fn is_bool(ty: &Sexpr) -> bool {
    ty.word() == Some("bool")
}

/// Converts a flag to 1 or 0.
pub(super) fn as_number(flag: Typed) -> Typed {
    let (place, sig) = (flag.place, Sig { from: Type::Void, ty: Type::I8 });
    let kind = Kind::Op { op: Op::FLAGVAL, sig, args: vec![flag], imm: None, checks: Vec::new() };
    Typed { kind, ty: Type::I8, sign: Sign::Unsigned, leaves: false, is_loose: false, place }
}

/// Converts the number that a flag was converted to back to a flag.
pub(super) fn as_flag(number: Typed) -> Typed {
    let (place, sig) = (number.place, Sig { from: Type::I8, ty: Type::Flag });
    let kind = Kind::Op { op: Op::NZ, sig, args: vec![number], imm: None, checks: Vec::new() };
    super::check::flag(kind, place)
}
