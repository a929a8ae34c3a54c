//! Lower a checked template to steps: conditionals become blocks, operators that trap get their checks.
//!
//! In: a [`Typed`] tree. Out: the tokens of a static `Template`. Values are numbered as the steps yield them;
//! blocks are numbered as they are opened, block 0 being where the template starts.

use super::ast::{Arguments, Call, Callee, Constant, Invoke, Kind, Operand, Typed};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use std::collections::HashMap;

/// The tokens of a `Template`, with what is made from it where accesses may fault.
pub(super) fn lower(body: &Typed, operands: &[Operand]) -> TokenStream {
    let none = quote!(::core::option::Option::None);
    let (compares, has_within) = form(body, operands, false, none.clone());
    if !has_within {
        return compares;
    }
    let (faults, _) = form(body, operands, true, none);
    form(body, operands, false, quote!(::core::option::Option::Some(&#faults))).0
}

/// A template in one of its two forms, and whether there are two.
fn form(body: &Typed, operands: &[Operand], faults: bool, guarded: TokenStream) -> (TokenStream, bool) {
    let mut lowering = Lowering {
        operands,
        faults,
        has_within: false,
        steps: Vec::new(),
        n_values: 0,
        n_blocks: 1,
        open: true,
        variables: HashMap::new(),
        marks: HashMap::new(),
    };
    lowering.value(body);
    let (steps, blocks) = (&lowering.steps, Literal::u16_unsuffixed(lowering.n_blocks));
    let template =
        quote! { __template::Template { steps: &[#(#steps),*], blocks: #blocks, guarded: #guarded } };
    (template, lowering.has_within)
}

struct Lowering<'a> {
    operands: &'a [Operand],
    /// Whether the accesses of `(within …)` may fault, so that nothing is compared.
    faults: bool,
    has_within: bool,
    steps: Vec<TokenStream>,
    n_values: u16,
    n_blocks: u16,
    /// Whether control can be here.
    open: bool,
    variables: HashMap<usize, u16>,
    /// The block of each mark, by the number of its sequence and its own.
    marks: HashMap<(usize, usize), u16>,
}

fn ty(ty: Type) -> TokenStream {
    let name = format_ident!("{ty:?}");
    quote!(__vocab::Type::#name)
}

pub(super) fn sig(sig: Sig) -> TokenStream {
    let (from, to) = (ty(sig.from), ty(sig.ty));
    quote!(__vocab::Sig { from: #from, ty: #to })
}

fn number(n: u16) -> Literal {
    Literal::u16_unsuffixed(n)
}

/// The constant of a load or store.
fn access(how: TokenStream) -> TokenStream {
    quote!(__template::Imm::Known(__graph::Access::#how.bits() as i64))
}

fn operand(at: usize) -> Literal {
    Literal::usize_unsuffixed(at)
}

/// Whether a flag can be expressed by branches only.
fn needs_branches(flag: &Typed) -> bool {
    match &flag.kind {
        Kind::All(_) | Kind::Any(_) => true,
        Kind::Not(inner) | Kind::Likely(inner, _) => needs_branches(inner),
        _ => false,
    }
}

impl Lowering<'_> {
    fn step(&mut self, step: TokenStream) {
        if self.open {
            self.steps.push(quote!(__template::Step::#step));
        }
    }

    /// A step that leaves: nothing can follow before a block starts.
    fn leave(&mut self, step: TokenStream) {
        self.step(step);
        self.open = false;
    }

    /// A step that yields a value; its number.
    fn yields(&mut self, step: TokenStream) -> u16 {
        self.step(step);
        self.n_values += self.open as u16;
        self.n_values.wrapping_sub(1)
    }

    fn node(&mut self, op: Op, of: Sig, inputs: &[u16], imm: TokenStream) -> u16 {
        let (op, of) = (Literal::u16_unsuffixed(op.0), sig(of));
        let inputs = inputs.iter().map(|input| number(*input));
        let step = quote! {
            Node { op: __vocab::Op(#op), sig: #of, inputs: &[#(#inputs),*], imm: #imm }
        };
        self.yields(step)
    }

    fn constant(&mut self, of: Type, bits: TokenStream) -> u16 {
        let imm = quote!(__template::Imm::Known(#bits));
        self.node(Op::CONST, Sig { from: Type::Void, ty: of }, &[], imm)
    }

    fn block(&mut self) -> u16 {
        self.n_blocks += 1;
        self.n_blocks - 1
    }

    /// Starts a block; the first of the values it yields.
    fn start(&mut self, block: u16, params: &[Type], cold: bool) -> u16 {
        self.open = true;
        let first = self.n_values;
        self.n_values += params.len() as u16;
        let (block, params) = (number(block), params.iter().map(|param| ty(*param)));
        self.step(quote!(Block { block: #block, params: &[#(#params),*], cold: #cold }));
        first
    }

    fn jump(&mut self, block: u16, args: &[u16]) {
        let (block, args) = (number(block), args.iter().map(|arg| number(*arg)));
        self.leave(quote!(Jump { block: #block, args: &[#(#args),*] }));
    }

    fn branch(&mut self, flag: u16, then: u16, otherwise: u16, likelihood: Option<bool>) {
        let (flag, then, otherwise) = (number(flag), number(then), number(otherwise));
        let likelihood = match likelihood {
            Some(true) => quote!(Likely),
            Some(false) => quote!(Unlikely),
            None => quote!(Even),
        };
        self.leave(quote! {
            Branch {
                flag: #flag, then: #then, otherwise: #otherwise,
                likelihood: __template::Likelihood::#likelihood,
            }
        });
    }

    /// Goes to one of two blocks; the second part of `all` and `any` is not computed if the first decides.
    fn decide(&mut self, flag: &Typed, then: u16, otherwise: u16, likelihood: Option<bool>) {
        match &flag.kind {
            Kind::Not(inner) => self.decide(inner, otherwise, then, likelihood.map(|likely| !likely)),
            Kind::Likely(inner, likely) => self.decide(inner, then, otherwise, Some(*likely)),
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
                self.decide(choice, block_so, block_not, None);
                for (block, arm) in [(block_so, so), (block_not, not)] {
                    self.start(block, &[], false);
                    match arm.leaves {
                        true => _ = self.value(arm),
                        false => self.decide(arm, then, otherwise, likelihood),
                    }
                }
            }
            _ => {
                let flag = self.value(flag);
                self.branch(flag, then, otherwise, likelihood);
            }
        }
    }

    /// A flag as a value: what only branches can express is made a number first.
    fn flag(&mut self, flag: &Typed) -> u16 {
        let number = self.one_or_zero(flag, Type::I8);
        let of = Sig { from: Type::I8, ty: Type::Flag };
        self.node(Op::NZ, of, &[number], quote!(__template::Imm::Known(0)))
    }

    /// What only branches can express, as one or zero of a type: each way brings its number.
    fn one_or_zero(&mut self, flag: &Typed, of: Type) -> u16 {
        let (so, not, join) = (self.block(), self.block(), self.block());
        self.decide(flag, so, not, None);
        self.start(so, &[], false);
        let one = self.constant(of, quote!(1));
        self.jump(join, &[one]);
        self.start(not, &[], false);
        let zero = self.constant(of, quote!(0));
        self.jump(join, &[zero]);
        self.start(join, &[of], false)
    }

    /// Emits what computes an expression; the number of its value, if it has one.
    fn value(&mut self, typed: &Typed) -> u16 {
        match &typed.kind {
            Kind::Op { op: Op::FLAGVAL, sig, args, .. } if needs_branches(&args[0]) => {
                self.one_or_zero(&args[0], sig.ty)
            }
            Kind::Op { op, sig, args, imm, checks } => {
                let inputs: Vec<u16> = args.iter().map(|arg| self.value(arg)).collect();
                self.check(&inputs, checks);
                let imm = match imm {
                    None => quote!(__template::Imm::Known(0)),
                    Some(Constant::Tokens(tokens)) => quote!(__template::Imm::Known((#tokens) as i64)),
                    Some(Constant::Operand(at)) => {
                        let at = operand(*at);
                        quote!(__template::Imm::Operand(#at))
                    }
                    Some(Constant::Address(_)) => unreachable!("an address is a value"),
                    Some(Constant::Pure) => access(quote!(Pure)),
                    Some(Constant::Within(code)) if self.faults => {
                        access(quote!(Within(__vocab::Trap::User(#code).code())))
                    }
                    Some(Constant::Within(_)) => access(quote!(Plain)),
                };
                if sig.ty == Type::Void {
                    let before = self.n_values;
                    self.node(*op, *sig, &inputs, imm);
                    self.n_values = before;
                    return 0;
                }
                self.node(*op, *sig, &inputs, imm)
            }
            Kind::Read(at) => {
                let (at, of) = (operand(*at), ty(typed.ty));
                self.yields(quote!(Read { operand: #at, ty: #of }))
            }
            Kind::Constant(Constant::Tokens(tokens)) => {
                let bits = match typed.ty {
                    Type::F32 => quote!(((#tokens) as f32).to_bits() as i64),
                    Type::F64 => quote!(((#tokens) as f64).to_bits() as i64),
                    _ => super::signs::bits(tokens, typed.sign),
                };
                self.constant(typed.ty, bits)
            }
            Kind::Constant(Constant::Operand(at)) => {
                let (at, of) = (operand(*at), ty(typed.ty));
                self.yields(quote!(Constant { operand: #at, ty: #of }))
            }
            Kind::Constant(Constant::Address(path)) => {
                let of = Sig { from: Type::Void, ty: typed.ty };
                let address = quote!(__template::Address((&raw const #path).cast()));
                self.node(Op::CONST, of, &[], quote!(__template::Imm::Address(#address)))
            }
            Kind::Constant(_) => unreachable!("only accesses have such constants"),
            Kind::Within(flag, code, access) => {
                self.has_within = true;
                if !self.faults {
                    self.trap_unless(flag, code);
                }
                self.value(access)
            }
            Kind::Variable(variable) => self.variables[variable],
            Kind::Let(bound, body) => {
                for (variable, value) in bound {
                    let value = self.value(value);
                    self.variables.insert(*variable, value);
                }
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
            Kind::If(..) if typed.ty == Type::Flag => self.flag(typed),
            Kind::If(flag, so, not) => self.choose(flag, so, not, typed.ty),
            Kind::All(_) | Kind::Any(_) => self.flag(typed),
            Kind::Not(inner) => {
                let inner = self.value(inner);
                let of = Sig { from: Type::Void, ty: Type::Flag };
                self.node(Op::NOTF, of, &[inner], quote!(__template::Imm::Known(0)))
            }
            Kind::Likely(inner, _) => self.value(inner),
            Kind::Cold(body) => {
                let block = self.block();
                self.jump(block, &[]);
                self.start(block, &[], true);
                self.value(body)
            }
            Kind::Call(call) => self.call(call),
            Kind::Invoke(invoke) => self.invoke(invoke, typed.ty),
            Kind::Window(at) => {
                let at = operand(*at);
                self.yields(quote!(Window { operand: #at }))
            }
            Kind::WindowLength(at) => {
                let at = operand(*at);
                self.yields(quote!(WindowLength { operand: #at }))
            }
            Kind::Place(at) => self.place(*at),
            _ => {
                self.effect(typed);
                0
            }
        }
    }

    /// The address of an output's slot, which has the output as it is there: above a narrow value are zeros, also when somebody has
    /// written one there.
    fn place(&mut self, at: usize) -> u16 {
        let (of, is_input) =
            (self.operands[at].scalar.unwrap_or(Scalar::I64).ty(), self.operands[at].kind == "InOut");
        let at = operand(at);
        let value = match is_input {
            true => {
                let of = ty(of);
                self.yields(quote!(Read { operand: #at, ty: #of }))
            }
            false => self.constant(of, quote!(0)),
        };
        let value = number(value);
        self.step(quote!(Write { operand: #at, value: #value }));
        // Whoever takes the address of the frame finds all VM registers in it, and may write there.
        let of = Sig { from: Type::Void, ty: Type::I64 };
        self.node(Op::LOCAL, of, &[], quote!(__template::Imm::Known(0)));
        self.yields(quote!(Window { operand: #at }))
    }

    fn effect(&mut self, typed: &Typed) {
        match &typed.kind {
            Kind::Set(at, value) => {
                let value = self.value(value);
                let (at, value) = (operand(*at), number(value));
                self.step(quote!(Write { operand: #at, value: #value }));
            }
            Kind::GoTo(sequence, mark) => {
                let block = self.marks[&(*sequence, *mark)];
                self.jump(block, &[]);
            }
            Kind::Goto(at) => {
                let at = operand(*at);
                self.leave(quote!(Goto { operand: #at }));
            }
            Kind::Switch(value, operands) => {
                let value = self.value(value);
                let (value, operands) = (number(value), operands.iter().map(|at| operand(*at)));
                self.leave(quote!(Switch { value: #value, operands: &[#(#operands),*] }));
            }
            Kind::Return(None) => self.leave(quote!(Return { value: ::core::option::Option::None })),
            Kind::Return(Some(value)) => {
                let value = self.value(value);
                let value = number(value);
                self.leave(quote!(Return { value: ::core::option::Option::Some(#value) }));
            }
            Kind::Tail(call) => {
                let function = self.value(&call.function);
                let (args, function) = (self.arguments(&call.args), number(function));
                self.leave(quote!(Tail { function: #function, args: __template::Arguments::#args }));
            }
            Kind::Exit(to) => {
                let to = match to {
                    Some(at) => {
                        let at = operand(*at);
                        quote!(Label(#at))
                    }
                    None => quote!(Next),
                };
                self.leave(quote!(Exit { to: __template::Resume::#to }));
            }
            Kind::Guard(flag, _) => {
                let (fails, goes_on) = (self.block(), self.block());
                self.decide(flag, goes_on, fails, Some(true));
                self.start(fails, &[], true);
                self.leave(quote!(Exit { to: __template::Resume::Here }));
                self.start(goes_on, &[], false);
            }
            Kind::Trap(code) => self.trap(code),
            other => unreachable!("{other:?} has a value"),
        }
    }

    fn trap(&mut self, code: &TokenStream) {
        self.leave(quote!(Trap { code: __vocab::Trap::User(#code).code() }));
    }

    fn trap_unless(&mut self, flag: &Typed, code: &TokenStream) {
        let (fails, goes_on) = (self.block(), self.block());
        self.decide(flag, goes_on, fails, Some(true));
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
            self.decide(flag, fails, goes_on, Some(false));
            self.start(fails, &[], true);
            let code = Literal::u32_unsuffixed(*code);
            self.leave(quote!(Trap { code: #code }));
            self.start(goes_on, &[], false);
        }
    }

    fn choose(&mut self, flag: &Typed, so: &Typed, not: &Typed, of: Type) -> u16 {
        let (block_so, block_not, join) = (self.block(), self.block(), self.block());
        self.decide(flag, block_so, block_not, None);
        let mut joined = false;
        for (block, arm) in [(block_so, so), (block_not, not)] {
            self.start(block, &[], false);
            let value = self.value(arm);
            if self.open {
                joined = true;
                let args: &[u16] = if of.is_value() { &[value] } else { &[] };
                self.jump(join, args);
            }
        }
        let params: &[Type] = if of.is_value() { &[of] } else { &[] };
        if joined { self.start(join, params, false) } else { 0 }
    }

    /// A step that calls; the number of its value, if it has one.
    fn call_step(&mut self, step: TokenStream, ret: Type) -> u16 {
        if ret == Type::Void {
            self.step(step);
            return 0;
        }
        self.yields(step)
    }

    fn invoke(&mut self, invoke: &Invoke, ret: Type) -> u16 {
        let function = self.value(&invoke.function);
        let args = self.arguments(&invoke.args);
        let function = number(function);
        let (returned, effect) = (ty(ret), format_ident!("{}", invoke.effect));
        let step = quote! {
            Invoke {
                function: #function,
                args: __template::Arguments::#args,
                ret: #returned,
                effect: __graph::Effect::#effect,
            }
        };
        self.call_step(step, ret)
    }

    fn arguments(&mut self, args: &Arguments) -> TokenStream {
        match args {
            Arguments::Values(values) => {
                let values: Vec<u16> = values.iter().map(|value| self.value(value)).collect();
                let values = values.into_iter().map(number);
                quote!(Values(&[#(#values),*]))
            }
            Arguments::Run(at) => {
                let at = operand(*at);
                quote!(Run(#at))
            }
        }
    }

    fn call(&mut self, call: &Call) -> u16 {
        let callee = match &call.callee {
            Callee::Native(number) => {
                let name = super::natives::name(*number);
                quote!(__template::Callee::Known(__template::Address(#name as *const ())))
            }
            Callee::Path(path) => {
                quote!(__template::Callee::Known(__template::Address(#path as *const ())))
            }
            Callee::Value(value) => {
                let value = self.value(value);
                let value = number(value);
                quote!(__template::Callee::Value(#value))
            }
        };
        let is_native = matches!(call.callee, Callee::Native(_));
        let scalar = |name: &syn::Ident| Scalar::from_name(&name.to_string());
        let mut passed = Vec::new();
        for (arg, name) in &call.args {
            let value = self.value(arg);
            // A function of these conventions may expect narrow arguments to fill 32 bits.
            passed.push(match scalar(name) {
                Some(scalar) if !is_native && scalar.ty().bits() < 32 => {
                    let op = if scalar.is_signed() { Op::SCAST } else { Op::UCAST };
                    let of = Sig { from: scalar.ty(), ty: Type::I32 };
                    (self.node(op, of, &[value], quote!(__template::Imm::Known(0))), Type::I32)
                }
                _ => (value, arg.ty),
            });
        }
        let args = passed.iter().map(|(value, _)| number(*value));
        let types = passed.iter().map(|(_, of)| ty(*of));
        let convention = match call.abi {
            "win64" | "win64-unwind" => quote!(Win64),
            "sysv64" | "sysv64-unwind" => quote!(SysV64),
            _ => quote!(C),
        };
        let ret = call.ret.as_ref().and_then(scalar).map_or(Type::Void, |scalar| scalar.ty());
        let (returned, effect) = (ty(ret), format_ident!("{}", call.effect));
        let step = quote! {
            Call {
                callee: #callee,
                args: &[#(#args),*],
                signature: __template::Signature {
                    convention: __template::Convention::#convention,
                    args: &[#(#types),*],
                    ret: #returned,
                },
                effect: __graph::Effect::#effect,
            }
        };
        self.call_step(step, ret)
    }
}
