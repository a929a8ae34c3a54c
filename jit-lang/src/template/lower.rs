//! Lowers a checked template to steps: conditionals become blocks, and trapping operators get explicit checks.
//!
//! In: a [`Typed`] tree. Out: a [`Template`]. Values are numbered in the order in which steps yield them,
//! blocks in the order in which they are created. Block 0 is the entry.

use super::ast::{Abi, Arguments, Call, Callee, Constant, Invoke, Kind, Operand, Typed};
use super::steps::{self, Access, Code, FormulaTerm, Imm, Step, Template};
use crate::token::Token;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::ir::template::{Likelihood, Resume};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};
use std::collections::HashMap;

/// Lowers a template, and its variants: for code in which accesses may fault, for shorter code, and for code that knows a case of the
/// opcode's first site.
/// Returns `None` if it has too many values or blocks to number them. `taught_anywhere` are the sites that get cases outside of slow
/// paths, too.
pub(super) fn lower(body: &Typed, operands: &[Operand], taught_anywhere: &[usize]) -> Option<Template> {
    let site = operands.iter().position(|operand| operand.kind == OperandKind::Site);
    let new = |faults| Lowering { taught_anywhere, ..Lowering::new(operands, faults) };
    let (mut plain, has) = form(body, new(false))?;
    if has.within {
        plain.guarded = Some(Box::new(form(body, new(true))?.0));
    }
    if has.many_cases {
        plain.compact = Some(Box::new(form(body, Lowering { is_compact: true, ..new(false) })?.0));
    }
    let knows = |site| form(body, Lowering { is_compact: true, known_site: Some(site), ..new(false) });
    plain.known = site.and_then(knows).filter(|(_, has)| has.known_case).map(|(known, _)| Box::new(known));
    Some(plain)
}

/// For which variants of a template there is a reason.
#[derive(Clone, Copy, Default)]
struct Has {
    /// Accesses of `(within …)`.
    within: bool,
    /// Fields of a case that is known.
    known_case: bool,
    /// Cases of a site that has room for many.
    many_cases: bool,
}

/// Lowers one of the variants of a template.
fn form(body: &Typed, mut lowering: Lowering<'_>) -> Option<(Template, Has)> {
    lowering.value(body);
    let Lowering { steps, n_blocks, has_within, has_many_cases, is_too_long, .. } = lowering;
    let known_case = steps.iter().any(|step| matches!(step, Step::KnownCase { .. }));
    let template = Template { steps, blocks: n_blocks, guarded: None, compact: None, known: None };
    (!is_too_long).then_some((template, Has { within: has_within, known_case, many_cases: has_many_cases }))
}

/// Lowers a formula of a kind, whose argument is variable 0. The argument is value 0, and the last value is the result.
pub(super) fn formula(body: &Typed) -> Vec<FormulaTerm> {
    let mut lowering = Lowering::new(&[], false);
    lowering.variables.insert(0, 0);
    lowering.n_values = 1;
    let result = lowering.value(body);
    // Every name is used for something, so that nothing is computed behind the result.
    assert_eq!(result + 1, lowering.n_values, "the last value is the result");
    let terms = lowering.steps.into_iter().map(|step| match step {
        Step::Node { op, sig, inputs, imm } => FormulaTerm { op, sig, inputs, imm },
        other => unreachable!("{other:?} does more than compute"),
    });
    terms.collect()
}

/// The case of a site that is being looked at.
#[derive(Clone, Copy)]
pub(super) enum CaseAt {
    /// The one that is known.
    Known,
    /// The one with this number.
    Number(u16),
    /// The one that is so far behind the first as this address is behind the site's.
    Address(u16),
}

pub(super) struct Lowering<'a> {
    pub(super) operands: &'a [Operand],
    /// Whether the accesses of `(within …)` may fault, so that their flags are not computed.
    faults: bool,
    has_within: bool,
    steps: Vec<Step>,
    n_values: u16,
    n_blocks: u16,
    /// Whether there are too many values or blocks.
    pub(super) is_too_long: bool,
    /// Whether the current point is reachable.
    pub(super) open: bool,
    pub(super) variables: HashMap<usize, u16>,
    /// The block of each mark, by the number of its sequence and the number of the mark.
    marks: HashMap<(usize, usize), u16>,
    /// The case for which each enclosing `cached` is being lowered.
    pub(super) cases: HashMap<usize, CaseAt>,
    /// Whether cases but the first are looked at in a loop, if there is room for many; and whether one is.
    pub(super) is_compact: bool,
    pub(super) has_many_cases: bool,
    /// The site of which a case is known.
    pub(super) known_site: Option<usize>,
    /// The sites that get cases outside of slow paths, too.
    pub(super) taught_anywhere: &'a [usize],
}

/// Whether a flag can be expressed by branches only.
fn needs_branches(flag: &Typed) -> bool {
    match &flag.kind {
        Kind::All(_) | Kind::Any(_) => true,
        Kind::Not(inner) | Kind::Likely(inner, _) => needs_branches(inner),
        _ => false,
    }
}

impl<'a> Lowering<'a> {
    fn new(operands: &'a [Operand], faults: bool) -> Self {
        Lowering {
            operands,
            faults,
            has_within: false,
            steps: Vec::new(),
            n_values: 0,
            n_blocks: 1,
            is_too_long: false,
            open: true,
            variables: HashMap::new(),
            marks: HashMap::new(),
            cases: HashMap::new(),
            is_compact: false,
            has_many_cases: false,
            known_site: None,
            taught_anywhere: &[],
        }
    }
}

impl Lowering<'_> {
    pub(super) fn step(&mut self, step: Step) {
        if self.open {
            self.steps.push(step);
        }
    }

    /// Emits a step that leaves. Nothing can follow it before the next block starts.
    pub(super) fn leave(&mut self, step: Step) {
        self.step(step);
        self.open = false;
    }

    /// Emits a step that yields a value. Returns the value's number.
    pub(super) fn yields(&mut self, step: Step) -> u16 {
        self.step(step);
        self.count_values(self.open as usize);
        self.n_values.wrapping_sub(1)
    }

    /// Counts values. If there are too many, the numbers mean nothing any more.
    fn count_values(&mut self, more: usize) {
        let n_values = u16::try_from(self.n_values as usize + more);
        self.is_too_long |= n_values.is_err();
        self.n_values = n_values.unwrap_or(0);
    }

    pub(super) fn node(&mut self, op: Op, sig: Sig, inputs: &[u16], imm: Imm) -> u16 {
        self.yields(Step::Node { op, sig, inputs: inputs.to_vec(), imm })
    }

    pub(super) fn constant(&mut self, of: Type, imm: Imm) -> u16 {
        self.node(Op::CONST, Sig { from: Type::Void, ty: of }, &[], imm)
    }

    pub(super) fn block(&mut self) -> u16 {
        self.is_too_long |= self.n_blocks == u16::MAX;
        self.n_blocks = self.n_blocks.wrapping_add(1);
        self.n_blocks.wrapping_sub(1)
    }

    /// Starts a block. Returns the number of its first parameter.
    pub(super) fn start(&mut self, block: u16, params: &[Type], cold: bool) -> u16 {
        self.open = true;
        let first = self.n_values;
        self.count_values(params.len());
        self.step(Step::Block { block, params: params.to_vec(), cold });
        first
    }

    /// Continues in a cold block.
    fn turn_cold(&mut self) {
        let block = self.block();
        self.jump(block, &[]);
        self.start(block, &[], true);
    }

    pub(super) fn jump(&mut self, block: u16, args: &[u16]) {
        self.leave(Step::Jump { block, args: args.to_vec() });
    }

    pub(super) fn branch(&mut self, flag: u16, then: u16, otherwise: u16, likelihood: Likelihood) {
        self.leave(Step::Branch { flag, then, otherwise, likelihood });
    }

    /// Branches to one of two blocks on a flag. `all` and `any` short-circuit.
    pub(super) fn decide(&mut self, flag: &Typed, then: u16, otherwise: u16, likelihood: Likelihood) {
        match &flag.kind {
            Kind::Not(inner) => self.decide(inner, otherwise, then, likelihood.of_opposite()),
            Kind::Likely(inner, true) => self.decide(inner, then, otherwise, Likelihood::Likely),
            Kind::Likely(inner, false) => self.decide(inner, then, otherwise, Likelihood::Unlikely),
            Kind::All(parts) | Kind::Any(parts) => {
                let is_all = matches!(flag.kind, Kind::All(_));
                let (last, first) = parts.split_last().expect("there is at least one part");
                for part in first {
                    let next = self.block();
                    let (so, not) = if is_all { (next, otherwise) } else { (then, next) };
                    self.decide(part, so, not, likelihood);
                    self.start(next, &[], false);
                }
                self.decide(last, then, otherwise, likelihood);
            }
            Kind::If(choice, so, not) => {
                let (block_so, block_not) = (self.block(), self.block());
                self.decide(choice, block_so, block_not, Likelihood::Even);
                for (block, arm) in [(block_so, so), (block_not, not)] {
                    self.start(block, &[], false);
                    match arm.leaves {
                        true => _ = self.value(arm),
                        false => self.decide(arm, then, otherwise, likelihood),
                    }
                }
            }
            Kind::Let(bound, body) => {
                self.bind(bound);
                self.decide(body, then, otherwise, likelihood)
            }
            Kind::Outside(site, body) => {
                self.outside(*site);
                self.decide(body, then, otherwise, likelihood)
            }
            Kind::Cached(cached) => self.each_case(cached, |lowering, arm| match arm.leaves {
                true => _ = lowering.value(arm),
                false => lowering.decide(arm, then, otherwise, likelihood),
            }),
            _ => {
                let flag = self.value(flag);
                self.branch(flag, then, otherwise, likelihood);
            }
        }
    }

    /// Gives names their values.
    fn bind(&mut self, bound: &[(usize, Typed)]) {
        for (variable, value) in bound {
            let value = self.value(value);
            self.variables.insert(*variable, value);
        }
    }

    /// The value of a flag. A flag that only branches can express is converted to a number first.
    fn flag(&mut self, flag: &Typed) -> u16 {
        let number = self.one_or_zero(flag, Type::I8);
        let of = Sig { from: Type::I8, ty: Type::Flag };
        self.node(Op::NZ, of, &[number], Imm::Known(0))
    }

    /// Materializes a flag that only branches can express as 1 or 0, through a block parameter.
    fn one_or_zero(&mut self, flag: &Typed, of: Type) -> u16 {
        let (so, not, join) = (self.block(), self.block(), self.block());
        self.decide(flag, so, not, Likelihood::Even);
        for (block, number) in [(so, 1), (not, 0)] {
            self.start(block, &[], false);
            let number = self.constant(of, Imm::Known(number));
            self.jump(join, &[number]);
        }
        self.start(join, &[of], false)
    }

    /// Emits the steps of an expression. Returns the number of its value, if it has one.
    pub(super) fn value(&mut self, typed: &Typed) -> u16 {
        match &typed.kind {
            Kind::Op { op: Op::FLAGVAL, sig, args, .. } if needs_branches(&args[0]) => {
                self.one_or_zero(&args[0], sig.ty)
            }
            Kind::Op { op, sig, args, imm, checks } => {
                let inputs: Vec<u16> = args.iter().map(|arg| self.value(arg)).collect();
                self.check(&inputs, checks);
                let imm = match imm {
                    None => Imm::Known(0),
                    Some(Constant::Tokens(tokens)) => Imm::Rust(tokens.clone()),
                    Some(Constant::Operand(at)) => Imm::Operand(*at),
                    Some(Constant::Address(_)) => unreachable!("an address is a value"),
                    Some(Constant::Access { access: Access::Within(_), region }) if !self.faults => {
                        Imm::Access { access: Access::Plain, region: *region }
                    }
                    Some(Constant::Access { access, region }) => {
                        Imm::Access { access: access.clone(), region: *region }
                    }
                };
                if sig.ty == Type::Void {
                    let before = self.n_values;
                    self.node(*op, *sig, &inputs, imm);
                    self.n_values = before;
                    return 0;
                }
                self.node(*op, *sig, &inputs, imm)
            }
            Kind::OfKind { op, kind, value, .. } => self.of_kind(*op, *kind, value, typed.ty),
            Kind::Constant(Constant::Tokens(tokens)) => {
                let (ty, sign) = (typed.ty, typed.sign);
                self.constant(ty, Imm::Value { tokens: tokens.clone(), ty, sign })
            }
            Kind::Read(at)
            | Kind::Constant(Constant::Operand(at))
            | Kind::Site(at)
            | Kind::Window(at)
            | Kind::WindowLength(at) => self.of_operand(typed, *at),
            Kind::Constant(Constant::Address(path)) => self.constant(typed.ty, Imm::Address(path.clone())),
            Kind::Constant(_) => unreachable!("only accesses have such constants"),
            Kind::Within(flag, code, access) => {
                self.has_within = true;
                if !self.faults {
                    self.trap_unless(flag, code);
                }
                self.value(access)
            }
            Kind::Variable(variable) => self.variables[variable],
            Kind::Case(field) => self.case_field(field, typed.ty),
            Kind::Full(site) => self.is_full(*site),
            Kind::Let(bound, body) => {
                self.bind(bound);
                self.value(body)
            }
            Kind::Sequence(steps) => steps.iter().fold(0, |_, step| self.value(step)),
            Kind::Marked(sequence, runs) => {
                for mark in 1..runs.len() {
                    let block = self.block();
                    self.marks.insert((*sequence, mark), block);
                }
                let mut last = 0;
                for (mark, run) in runs.iter().enumerate() {
                    if mark > 0 {
                        let block = self.marks[&(*sequence, mark)];
                        if self.open {
                            self.jump(block, &[]);
                        }
                        self.start(block, &[], false);
                    }
                    last = run.iter().fold(0, |_, step| self.value(step));
                }
                last
            }
            Kind::If(..) | Kind::Cached(_) if typed.ty == Type::Flag => self.flag(typed),
            Kind::If(flag, so, not) => self.choose(flag, so, not, typed.ty),
            Kind::Cached(cached) => self.choose_case(cached, typed.ty),
            Kind::All(_) | Kind::Any(_) => self.flag(typed),
            Kind::Not(inner) => {
                let inner = self.value(inner);
                let of = Sig { from: Type::Void, ty: Type::Flag };
                self.node(Op::NOTF, of, &[inner], Imm::Known(0))
            }
            Kind::Likely(inner, _) => self.value(inner),
            Kind::Cold(body) => self.value_in_cold(body, false),
            Kind::Slow(body) => self.value_in_cold(body, true),
            Kind::Outside(site, body) => {
                self.outside(*site);
                self.value(body)
            }
            Kind::Call(call) => self.call(call, false),
            Kind::Invoke(_) | Kind::Try(_) => self.of_bytecode(typed),
            Kind::Place(at) => self.place(*at),
            Kind::Frames => self.yields(Step::Frames),
            _ => {
                self.effect(typed);
                0
            }
        }
    }

    /// Emits the steps of an expression on a cold way.
    fn value_in_cold(&mut self, body: &Typed, is_slow: bool) -> u16 {
        self.turn_cold();
        if is_slow {
            self.step(Step::Slow);
        }
        self.value(body)
    }

    /// Emits the value that an operand is, or has.
    fn of_operand(&mut self, typed: &Typed, operand: usize) -> u16 {
        let ty = typed.ty;
        self.yields(match &typed.kind {
            Kind::Read(_) => Step::Read { operand, ty },
            Kind::Window(_) => Step::Window { operand },
            Kind::WindowLength(_) => Step::WindowLength { operand },
            // A site is an address.
            _ => Step::Constant { operand, ty },
        })
    }

    /// Emits an operator on a value of a kind.
    fn of_kind(&mut self, op: Op, kind: usize, value: &Typed, ty: Type) -> u16 {
        let from = if op == Op::BOX { value.ty } else { Type::Void };
        let value = self.value(value);
        self.node(op, Sig { from, ty }, &[value], Imm::Known(kind as i64))
    }

    /// The address of an output's slot. The slot is written first, with the operand's value if it is also an input and with zero
    /// otherwise, so the bits above a narrow value are zero whatever the slot held before.
    fn place(&mut self, at: usize) -> u16 {
        let (of, is_input) = (
            self.operands[at].scalar.unwrap_or(Scalar::I64).ty(),
            self.operands[at].kind == OperandKind::InOut,
        );
        let value = match is_input {
            true => self.yields(Step::Read { operand: at, ty: of }),
            false => self.constant(of, Imm::Known(0)),
        };
        self.step(Step::Write { operand: at, value });
        // Whoever takes the address of the frame finds all VM registers in it, and may write there.
        let of = Sig { from: Type::Void, ty: Type::I64 };
        self.node(Op::LOCAL, of, &[], Imm::Known(0));
        self.yields(Step::Window { operand: at })
    }

    fn effect(&mut self, typed: &Typed) {
        match &typed.kind {
            Kind::Set(at, value) => {
                let value = self.value(value);
                self.step(Step::Write { operand: *at, value });
            }
            Kind::GoTo(sequence, mark) => {
                let block = self.marks[&(*sequence, *mark)];
                self.jump(block, &[]);
            }
            Kind::Goto(at) => self.leave(Step::Goto { operand: *at }),
            Kind::Switch(value, operands) => {
                let value = self.value(value);
                self.leave(Step::Switch { value, operands: operands.clone() });
            }
            Kind::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value));
                self.leave(Step::Return { value });
            }
            Kind::Tail(call) => {
                let function = self.value(&call.function);
                let args = self.arguments(&call.args);
                self.leave(Step::Tail { function, args });
            }
            Kind::Exit(to) => {
                let to = to.map_or(Resume::Next, |at| Resume::Label(at as u8));
                self.leave(Step::Exit { to });
            }
            Kind::Guard(flag, _) => {
                let (fails, goes_on) = (self.block(), self.block());
                self.decide(flag, goes_on, fails, Likelihood::Likely);
                self.start(fails, &[], true);
                self.leave(Step::Exit { to: Resume::Here });
                self.start(goes_on, &[], false);
            }
            Kind::Trap(code) => self.trap(code),
            Kind::Quicken(opcode, _) => self.step(Step::Quicken { opcode: *opcode }),
            other => unreachable!("{other:?} has a value"),
        }
    }

    fn trap(&mut self, code: &[Token]) {
        self.leave(Step::Trap { code: Code::User(code.to_vec()) });
    }

    fn trap_unless(&mut self, flag: &Typed, code: &[Token]) {
        let (fails, goes_on) = (self.block(), self.block());
        self.decide(flag, goes_on, fails, Likelihood::Likely);
        self.start(fails, &[], true);
        self.trap(code);
        self.start(goes_on, &[], false);
    }

    /// Branches to a trap for each condition under which the operator traps.
    fn check(&mut self, inputs: &[u16], checks: &[(Typed, u32)]) {
        if checks.is_empty() {
            return;
        }
        for (at, input) in inputs.iter().enumerate() {
            self.variables.insert(usize::MAX - at, *input);
        }
        for (flag, code) in checks {
            let (fails, goes_on) = (self.block(), self.block());
            self.decide(flag, fails, goes_on, Likelihood::Unlikely);
            self.start(fails, &[], true);
            self.leave(Step::Trap { code: Code::Known(*code) });
            self.start(goes_on, &[], false);
        }
    }

    fn choose(&mut self, flag: &Typed, so: &Typed, not: &Typed, of: Type) -> u16 {
        let (block_so, block_not, join) = (self.block(), self.block(), self.block());
        self.decide(flag, block_so, block_not, Likelihood::Even);
        let mut joined = false;
        for (block, arm) in [(block_so, so), (block_not, not)] {
            let value = self.arm(block, arm);
            if self.open {
                joined = true;
                let args: &[u16] = if of.is_value() { &[value] } else { &[] };
                self.jump(join, args);
            }
        }
        let params: &[Type] = if of.is_value() { &[of] } else { &[] };
        if joined { self.start(join, params, false) } else { 0 }
    }

    /// Starts a block with one of the ways of a conditional. One that is cold as a whole needs no block of its own behind that.
    fn arm(&mut self, block: u16, arm: &Typed) -> u16 {
        match &arm.kind {
            Kind::Cold(body) | Kind::Slow(body) => {
                self.start(block, &[], true);
                if matches!(arm.kind, Kind::Slow(_)) {
                    self.step(Step::Slow);
                }
                self.value(body)
            }
            // A function ends by a trap once.
            _ => {
                self.start(block, &[], matches!(arm.kind, Kind::Trap(_)));
                self.value(arm)
            }
        }
    }

    /// Emits a call. Returns the number of its result, if it has one. If failures are caught, the next number is that of the trap's
    /// code.
    fn call_step(&mut self, step: Step, ret: Type, catches: bool) -> u16 {
        let first = self.n_values;
        self.step(step);
        let n_values = ret.is_value() as usize + catches as usize;
        self.count_values(if self.open { n_values } else { 0 });
        first
    }

    /// Emits a call of a function of bytecode, or any call whose failure is caught.
    fn of_bytecode(&mut self, typed: &Typed) -> u16 {
        match &typed.kind {
            Kind::Invoke(invoke) => self.invoke(invoke, typed.ty, false).0,
            Kind::Try(attempt) => self.attempt(attempt, typed.ty),
            other => unreachable!("{other:?} is no such call"),
        }
    }

    /// Emits a call of a function of bytecode. Returns the number of its result, as for all calls, and that of the function's number.
    pub(super) fn invoke(&mut self, invoke: &Invoke, ret: Type, catches: bool) -> (u16, u16) {
        let function = self.value(&invoke.function);
        let args = self.arguments(&invoke.args);
        self.show(invoke.shown);
        let step = Step::Invoke { function, args, ret, catches, effect: invoke.effect };
        (self.call_step(step, ret, catches), function)
    }

    /// Shows the frame to the call that is emitted next, if that observes.
    fn show(&mut self, call: Option<u32>) {
        if let Some(call) = call {
            self.step(Step::Show { call });
        }
    }

    fn arguments(&mut self, args: &Arguments) -> steps::StepArguments {
        match args {
            Arguments::Values(values) => {
                steps::StepArguments::Values(values.iter().map(|value| self.value(value)).collect())
            }
            Arguments::Run(at) => steps::StepArguments::Run(*at),
            Arguments::Spread(spread) => {
                steps::StepArguments::Spread(spread.each_ref().map(|value| self.value(value)))
            }
        }
    }

    /// Emits a call of a Rust function or an address.
    pub(super) fn call(&mut self, call: &Call, catches: bool) -> u16 {
        let callee = match &call.callee {
            Callee::Native(number) => steps::StepCallee::Native(*number),
            Callee::Path(path) => steps::StepCallee::Path(path.clone()),
            Callee::Value(value) => steps::StepCallee::Value(self.value(value)),
        };
        let is_native = matches!(call.callee, Callee::Native(_));
        let mut args = Vec::new();
        for (arg, scalar) in &call.args {
            let value = self.value(arg);
            // In these conventions the callee may expect narrow arguments to be extended to 32 bits.
            args.push(match scalar.ty().bits() < 32 && !is_native {
                true => {
                    let op = if scalar.is_signed() { Op::SCAST } else { Op::UCAST };
                    let of = Sig { from: scalar.ty(), ty: Type::I32 };
                    (self.node(op, of, &[value], Imm::Known(0)), Type::I32)
                }
                false => (value, arg.ty),
            });
        }
        let ret = call.ret.map_or(Type::Void, Scalar::ty);
        let Call { abi: Abi { convention, .. }, throws, effect, memory, .. } = *call;
        self.show(call.shown);
        let step = Step::Call { callee, convention, args, ret, throws, catches, effect, memory };
        self.call_step(step, ret, catches)
    }
}
