//! Generates the interpreter's Rust for a checked template.
//!
//! In: a [`Typed`] tree. Out: a Rust expression. It is generated from the tree alone and not from the lowered steps, so that
//! rustc's reading of a template and the compilers' are independent of each other.

use super::print::{bits, sig};
use crate::kept::Kept;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::vocab::op::{Key, Yields};
use azulejo_core::vocab::{Op, Scalar, Type, Vocabulary};
use azulejo_lang::Token;
use azulejo_lang::template::ast::{
    Arguments, Cached, Call, Callee, Constant, Invoke, Kind, Opcode, Passing, Try, Typed,
};
use azulejo_lang::template::signs::Sign;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// The body of an opcode's arm. The opcode is one of the enum at a path, with this number.
pub(super) fn interpret(
    (path, number, opcode, members): (&TokenStream, usize, &Opcode, &[TokenStream]),
    vocab: Vocabulary,
    operators: Option<&TokenStream>,
    body: &Typed,
    kept: &Kept,
) -> TokenStream {
    let writer = Writer { path, number, opcode, members, vocab, operators, kept };
    let body_tokens = writer.expression(body);
    if body.leaves { quote!({ #body_tokens }) } else { quote!({ #body_tokens; __bytecode::Flow::Next }) }
}

struct Writer<'a> {
    /// The enum.
    path: &'a TokenStream,
    /// The opcode's number.
    number: usize,
    opcode: &'a Opcode,
    /// The operands' fields.
    members: &'a [TokenStream],
    vocab: Vocabulary,
    /// The module of the user's operators.
    operators: Option<&'a TokenStream>,
    kept: &'a Kept,
}

/// The Rust type that represents a type.
fn rust(ty: Type) -> TokenStream {
    match ty {
        Type::Flag => quote!(bool),
        Type::Void => quote!(()),
        other => {
            let name = format_ident!("{}", other.name());
            quote!(#name)
        }
    }
}

fn variable(number: usize) -> syn::Ident {
    format_ident!("value{number}")
}

/// The case at hand in the `cached` of this number.
fn case(number: usize) -> syn::Ident {
    format_ident!("case{number}")
}

/// The label of the loop for a sequence with marks, and the variable that selects the next run.
fn marks(sequence: usize) -> (syn::Lifetime, syn::Ident) {
    (syn::Lifetime::new(&format!("'sequence{sequence}"), Span::call_site()), format_ident!("from{sequence}"))
}

impl Writer<'_> {
    fn trap(&self, code: &[Token]) -> TokenStream {
        let code = self.kept.print(code);
        quote!(return __bytecode::Flow::Trap(__vocab::Trap::User(#code)))
    }

    fn field(&self, at: usize) -> syn::Ident {
        format_ident!("operand{at}")
    }

    /// The slot of a register operand.
    fn slot(&self, at: usize) -> TokenStream {
        let kind = self.opcode.operands[at].kind;
        if matches!(kind, OperandKind::Pop | OperandKind::Push) {
            let before = self.opcode.operands[..at].iter().filter(|operand| operand.kind == kind).count();
            return quote!(*stack.add(#before));
        }
        let field = self.field(at);
        quote!(*machine.frame.add(#field.index as usize))
    }

    fn expression(&self, typed: &Typed) -> TokenStream {
        match &typed.kind {
            Kind::Op { .. } => self.operator(typed),
            Kind::OfKind { value, meaning, .. } => {
                // The formula's names are its own, and the value is the first of them.
                let (value, argument, meaning) =
                    (self.expression(value), variable(0), self.expression(meaning));
                quote!({ let #argument = #value; #meaning })
            }
            Kind::Read(at) => {
                let (slot, ty) = (self.slot(*at), rust(typed.ty));
                quote!(<#ty as __meaning::Num>::from_bits(#slot))
            }
            Kind::Constant(constant) => self.constant(constant, typed.ty, typed.sign),
            Kind::Variable(number) => {
                let name = variable(*number);
                quote!(#name)
            }
            Kind::Let(bound, body) => {
                let names = bound.iter().map(|(number, _)| variable(*number));
                let values = bound.iter().map(|(_, value)| self.expression(value));
                let body = self.expression(body);
                quote!({ #(let #names = #values;)* #body })
            }
            Kind::Sequence(steps) => {
                let Some((last, first)) = steps.split_last() else { return quote!({}) };
                let first = first.iter().map(|step| self.expression(step));
                let value = self.expression(last);
                match typed.ty {
                    Type::Void => quote!({ #(#first;)* #value; }),
                    _ => quote!({ #(#first;)* #value }),
                }
            }
            Kind::Marked(sequence, runs) => self.marked(*sequence, runs, typed),
            Kind::If(flag, so, not) => {
                let (flag, so, not) = (self.expression(flag), self.expression(so), self.expression(not));
                quote!(if #flag { #so } else { #not })
            }
            Kind::Cached(cached) => self.cached(cached),
            Kind::Case(field) => {
                let (case, name, ty) = (case(field.cached), self.kept.print(&field.field), rust(typed.ty));
                quote!((#case.#name as #ty))
            }
            Kind::Full(at) => {
                let field = self.field(*at);
                quote!(__sites::Cases::<'_, ()>::at(#field.address()).is_full())
            }
            Kind::All(parts) => {
                let parts = parts.iter().map(|part| self.expression(part));
                quote!((#((#parts))&&*))
            }
            Kind::Any(parts) => {
                let parts = parts.iter().map(|part| self.expression(part));
                quote!((#((#parts))||*))
            }
            Kind::Not(inner) => {
                let inner = self.expression(inner);
                quote!(!(#inner))
            }
            Kind::Likely(inner, _) | Kind::Cold(inner) | Kind::Outside(_, inner) => self.expression(inner),
            Kind::Slow(body) => {
                let body = self.expression(body);
                match typed.ty {
                    Type::Void => quote!({ machine.slow_paths.note(at); #body; }),
                    _ => quote!({ machine.slow_paths.note(at); #body }),
                }
            }
            Kind::Guard(flag, body) => {
                let (flag, body) = (self.expression(flag), self.expression(body));
                quote!(if !(#flag) { #body })
            }
            Kind::Within(flag, code, access) => {
                let (flag, access) = (self.expression(flag), self.expression(access));
                let trap = self.trap(code);
                quote!({ if !(#flag) { #trap } #access })
            }
            Kind::Call(call) => self.call(call, typed, None),
            Kind::Invoke(invoke) => self.invoke(invoke, typed, None),
            Kind::Try(attempt) => match &attempt.call.kind {
                Kind::Call(call) => self.call(call, typed, Some(attempt)),
                Kind::Invoke(invoke) => self.invoke(invoke, typed, Some(attempt)),
                other => unreachable!("{other:?} does not fail"),
            },
            Kind::Window(_) | Kind::WindowLength(_) | Kind::Place(_) | Kind::Site(_) => self.address(typed),
            Kind::Frames => quote!(machine.frames()),
            _ => self.control(typed),
        }
    }

    /// The address that an operand stands for, or the length of the run there.
    fn address(&self, typed: &Typed) -> TokenStream {
        match &typed.kind {
            Kind::Window(at) => {
                let field = self.field(*at);
                quote!(machine.frame.add(#field.first as usize) as usize as i64)
            }
            Kind::WindowLength(at) => {
                let field = self.field(*at);
                quote!(#field.count as i64)
            }
            Kind::Place(at) => {
                let operand = &self.opcode.operands[*at];
                let ty = operand.scalar.unwrap_or(Scalar::I64).ty();
                let (slot, rust, width) = (self.slot(*at), rust(ty), (ty.bits() / 8) as usize);
                let value = match operand.kind {
                    OperandKind::InOut => {
                        quote!(__meaning::Num::to_bits(<#rust as __meaning::Num>::from_bits(#slot)))
                    }
                    _ => quote!(0),
                };
                // On a big-endian host the low bits are at the end of the slot.
                quote!({
                    #slot = #value;
                    let before = if cfg!(target_endian = "big") { 8 - #width } else { 0 };
                    (&raw mut #slot) as usize as i64 + before as i64
                })
            }
            Kind::Site(at) => {
                let field = self.field(*at);
                quote!((#field.address() as i64))
            }
            other => unreachable!("{other:?} is no address"),
        }
    }

    /// Emits a loop over the cases of a site. Rustc checks that a case is the struct that the template says.
    fn cached(&self, cached: &Cached) -> TokenStream {
        let (site, case) = (self.field(cached.site), case(cached.number));
        let found = syn::Lifetime::new(&format!("'found{}", cached.number), Span::call_site());
        let written = self.kept.print(&cached.case);
        let place = super::natives::shown_at(self.kept.span(cached.place));
        let (op, opcode, operand) = (super::natives::moved(self.path, place), self.number, cached.site);
        let has =
            quote_spanned!(place=> let () = <#op as __bytecode::HasSite<#opcode, #operand, #written>>::HAS;);
        let (condition, body) = (self.expression(&cached.condition), self.expression(&cached.body));
        let otherwise = self.expression(&cached.otherwise);
        quote! {
            #found: {
                #has
                for #case in __sites::Cases::<'_, #written>::at(#site.address()).iter() {
                    if #condition { break #found #body; }
                }
                #otherwise
            }
        }
    }

    /// Emits a loop around the runs of a sequence. A variable selects the run at which the next iteration starts.
    fn marked(&self, sequence: usize, runs: &[Vec<Typed>], typed: &Typed) -> TokenStream {
        let (label, from) = marks(sequence);
        let steps = |run: &[Typed]| {
            let steps: Vec<TokenStream> = run.iter().map(|step| self.expression(step)).collect();
            quote!(#(#steps;)*)
        };
        let (last, first) = runs.split_last().expect("there is a run for each mark");
        let first = first.iter().enumerate().map(|(number, run)| {
            let (run, next) = (steps(run), number + 1);
            quote!(if #from == #number { #run #from = #next; })
        });
        let end = match (typed.leaves, last.split_last()) {
            (true, _) => steps(last),
            (false, Some((value, before))) if typed.ty != Type::Void => {
                let (before, value) = (steps(before), self.expression(value));
                quote!(#before break #label #value;)
            }
            _ => {
                let last = steps(last);
                quote!(#last break #label;)
            }
        };
        quote!({ let mut #from = 0usize; #label: loop { #(#first)* #end } })
    }

    fn control(&self, typed: &Typed) -> TokenStream {
        match &typed.kind {
            Kind::GoTo(sequence, mark) => {
                let (label, from) = marks(*sequence);
                quote!({ #from = #mark; continue #label })
            }
            Kind::Set(at, value) => {
                let (slot, value) = (self.slot(*at), self.expression(value));
                quote!({ let value = __meaning::Num::to_bits(#value); #slot = value; })
            }
            Kind::Goto(at) | Kind::Exit(Some(at)) => {
                let field = self.field(*at);
                quote!(return __bytecode::Flow::Jump(#field.0))
            }
            Kind::Exit(None) => quote!(return __bytecode::Flow::Next),
            Kind::Switch(value, operands) => {
                let value = self.expression(value);
                if let [at] = operands[..]
                    && self.opcode.operands[at].kind == OperandKind::Labels
                {
                    let field = self.field(at);
                    return quote! {{
                        let at = (#value as u64).min(#field.count as u64 - 1) as usize;
                        return __bytecode::Flow::Jump(*machine.labels.get_unchecked(#field.first as usize + at))
                    }};
                }
                let (last, cases) = operands.split_last().expect("a switch has labels");
                let numbers = 0..cases.len() as u64;
                let cases = cases.iter().map(|at| self.field(*at));
                let last = self.field(*last);
                quote!(match #value as u64 {
                    #(#numbers => return __bytecode::Flow::Jump(#cases.0),)*
                    _ => return __bytecode::Flow::Jump(#last.0),
                })
            }
            Kind::Return(None) => quote!(return __bytecode::Flow::Return(0)),
            Kind::Return(Some(value)) => {
                let value = self.expression(value);
                quote!(return __bytecode::Flow::Return(__meaning::Num::to_bits(#value)))
            }
            Kind::Tail(call) => {
                let (function, args) = (self.function(&call.function), self.arguments(&call.args));
                quote! {{
                    let function = #function;
                    return match machine.functions.set_tail_call(machine.context, function, #args) {
                        ::core::result::Result::Ok(()) => __bytecode::Flow::Tail,
                        ::core::result::Result::Err(trap) => __bytecode::Flow::Trap(trap),
                    };
                }}
            }
            Kind::Trap(code) => self.trap(code),
            Kind::Quicken(to, written) => {
                let fields = self.members.iter().enumerate().map(|(at, member)| {
                    let field = self.field(at);
                    quote!(#member: #field)
                });
                super::quicken::become_other(self.path, [self.number, *to], written, fields, self.kept)
            }
            other => unreachable!("{other:?} has a value"),
        }
    }

    fn constant(&self, constant: &Constant, ty: Type, sign: Sign) -> TokenStream {
        let rust = rust(ty);
        match constant {
            Constant::Tokens(tokens) if ty.is_int() => {
                let bits = bits(tokens, sign, self.kept);
                quote!((#bits as #rust))
            }
            Constant::Tokens(tokens) => {
                let tokens = self.kept.print(tokens);
                quote!(((#tokens) as #rust))
            }
            Constant::Address(path) => {
                let path = self.kept.print(path);
                quote!(((&raw const #path).expose_provenance() as i64))
            }
            Constant::Operand(at) => {
                let field = self.field(*at);
                match self.opcode.operands[*at].scalar {
                    Some(Scalar::Ptr) => quote!((#field.0 as usize as i64)),
                    _ => quote!((#field.0 as #rust)),
                }
            }
            Constant::Access { .. } => unreachable!("loads and stores have no constant here"),
        }
    }

    fn operator(&self, typed: &Typed) -> TokenStream {
        let Kind::Op { op, sig, args, imm, .. } = &typed.kind else { unreachable!("it is an operator") };
        let info = self.vocab.info(*op);
        let args: Vec<TokenStream> = args.iter().map(|arg| self.expression(arg)).collect();
        let (from, to) = (rust(sig.from), rust(sig.ty));
        match *op {
            Op::LOAD => {
                let address = &args[0];
                return quote!((#address as usize as *const #to).read_unaligned());
            }
            Op::STORE => {
                let (address, value) = (&args[0], &args[1]);
                return quote!((#address as usize as *mut #from).write_unaligned(#value));
            }
            Op::HOLDS => {
                let (address, value) = (&args[0], &args[1]);
                return quote!(__native::debug_holds::<#from>(#address, || #value));
            }
            Op::TC => return quote!(machine.context as usize as i64),
            Op::CU => return quote!(machine.unit as usize as i64),
            Op::LOCAL => return quote!(machine.frame as usize as i64),
            Op::STACK => return quote!(__native::stack_pointer()),
            Op(number) if number >= Op::BUILTINS => return self.operator_of_user(typed, args),
            _ => {}
        }
        let name = format_ident!("{}", info.name);
        let imm = imm.as_ref().map(|imm| self.constant(imm, Type::I64, Sign::Signed));
        let types = match info.key {
            Key::Result => quote!(::<#to>),
            Key::Operand => quote!(::<#from>),
            Key::Both { .. } => quote!(::<#from, #to>),
            Key::None => quote!(),
        };
        if info.update.is_some() {
            let ty = if info.yields == Yields::Void { from } else { to };
            return quote!(__vocab::atomic::#name::<#ty>(#(#args,)* __vocab::atomic::Order::of(#imm as u64)));
        }
        let value = quote!(__meaning::#name #types(#(#args,)* #imm));
        if info.checks.is_empty() {
            return value;
        }
        quote!(match #value {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(trap) => return __bytecode::Flow::Trap(trap),
        })
    }

    /// A use of an operator from `operators!`, by its meaning, which works on bits.
    fn operator_of_user(&self, typed: &Typed, args: Vec<TokenStream>) -> TokenStream {
        let Kind::Op { op, sig, args: operands, imm, .. } = &typed.kind else {
            unreachable!("it is an operator")
        };
        let path = self.operators.expect("the operators have a module");
        let at = (op.0 - Op::BUILTINS) as usize;
        let bits = std::iter::zip(operands, args).map(|(operand, value)| match operand.ty {
            Type::Flag => quote!((#value) as u64),
            _ => quote!(__meaning::Num::to_bits(#value)),
        });
        let imm = imm
            .as_ref()
            .map(|imm| self.constant(imm, Type::I64, Sign::Signed))
            .map(|imm| quote!(#imm as u64));
        let sig = self::sig(*sig);
        let value = quote!(__native::meaning(const { &#path::ROWS[#at] }, #sig, &[#(#bits,)* #imm]));
        let ty = rust(typed.ty);
        match typed.ty {
            Type::Flag => quote!((#value != 0)),
            Type::Void => quote!({ #value; }),
            _ => quote!(<#ty as __meaning::Num>::from_bits(#value)),
        }
    }

    fn invoke(&self, invoke: &Invoke, typed: &Typed, attempt: Option<&Try>) -> TokenStream {
        let function = self.function(&invoke.function);
        let args = self.arguments(&invoke.args);
        let result = quote!(machine.functions.invoke(machine.context, function, arguments));
        let ([show, hide], _) = match attempt {
            // A call that fails leaves its frames in the list.
            Some(_) if invoke.shown.is_none() => {
                let show = quote!(let newest = machine.newest_frame(););
                ([show, quote!(machine.set_newest_frame(newest);)], Vec::new())
            }
            _ => super::natives::shown(invoke.shown, Vec::new()),
        };
        let result = quote!({ #show let result = #result; #hide result });
        let value = self.outcome(result, typed, attempt, quote!(machine.functions.caught(trap)));
        quote! {{
            let function = #function;
            let arguments: &[u64] = #args;
            #value
        }}
    }

    /// The number of a function of bytecode that is called by that or by its address.
    fn function(&self, function: &Typed) -> TokenStream {
        let value = self.expression(function);
        match function.ty {
            // The row is marked `unsafe`: its author guarantees that this is a function's address.
            Type::I64 => quote! {
                unsafe {
                    let callee = ::core::ptr::with_exposed_provenance((#value) as u64 as usize);
                    machine.functions.number(callee)
                }
            },
            _ => quote!((#value) as u32),
        }
    }

    /// The value of a call whose result or failure is given. If the failure is caught, `caught` is the trap's code, or the trap with
    /// which the function fails in spite of that.
    fn outcome(
        &self,
        result: TokenStream,
        typed: &Typed,
        attempt: Option<&Try>,
        caught: TokenStream,
    ) -> TokenStream {
        let value = match typed.ty {
            Type::Void => quote!({
                bits;
            }),
            ty => {
                let ty = rust(ty);
                quote!(<#ty as __meaning::Num>::from_bits(bits))
            }
        };
        let failed = match attempt {
            None => quote!(return __bytecode::Flow::Trap(trap)),
            Some(attempt) => {
                let (code, otherwise) = (variable(attempt.code), self.expression(&attempt.otherwise));
                quote! {
                    match #caught {
                        ::core::result::Result::Ok(code) => {
                            #[allow(unused_variables)]
                            let #code = code as i32;
                            #otherwise
                        }
                        ::core::result::Result::Err(trap) => return __bytecode::Flow::Trap(trap),
                    }
                }
            }
        };
        quote!(match #result {
            ::core::result::Result::Ok(bits) => #value,
            ::core::result::Result::Err(trap) => #failed,
        })
    }

    /// The bits of a function's arguments, as a slice.
    fn arguments(&self, args: &Arguments) -> TokenStream {
        match args {
            Arguments::Values(values) => {
                let values = values.iter().map(|value| self.expression(value));
                quote!(&[#(__meaning::Num::to_bits(#values)),*])
            }
            Arguments::Run(at) => {
                let run = self.field(*at);
                quote! {
                    ::core::slice::from_raw_parts(machine.frame.add(#run.first as usize), #run.count as usize)
                }
            }
            Arguments::Spread(spread) => {
                let [address, count] = spread.each_ref().map(|value| self.expression(value));
                quote!(&__bytecode::spread(#address, #count))
            }
        }
    }

    fn call(&self, call: &Call, typed: &Typed, attempt: Option<&Try>) -> TokenStream {
        match &call.callee {
            Callee::Native(number) => self.call_native(call, *number, typed, attempt),
            Callee::Path(path) => self.call_path(call, path, typed),
            Callee::Value(value) => self.call_value(call, value, typed),
        }
    }

    fn call_native(&self, call: &Call, number: usize, typed: &Typed, attempt: Option<&Try>) -> TokenStream {
        let name = super::natives::name(number);
        let args = call.args.iter().map(|(arg, scalar)| {
            let (value, ty) = (self.expression(arg), super::natives::passed(Passing::Scalar(*scalar)));
            quote!((#value) as #ty)
        });
        let ([show, hide], args) = super::natives::shown(call.shown, args.collect());
        let mut result = quote!(#name(#(#args),*));
        if call.shown.is_some() {
            result = quote!({ #show let result = #result; #hide result });
        }
        if !call.throws {
            return result;
        }
        self.outcome(quote!(#result.get()), typed, attempt, quote!(trap.catch()))
    }

    /// A call through a function pointer of the stated convention. Rustc checks arguments and result.
    fn call_path(&self, call: &Call, path: &[Token], typed: &Typed) -> TokenStream {
        let (abi, path) = (call.abi.name(), self.kept.print(path));
        // One identifier for all uses: with the spans of the user's tokens they would be different names.
        let (function, result) = (format_ident!("function"), format_ident!("result"));
        // A template that is not marked `unsafe` cannot call unsafe functions.
        let unsafety = call.is_unsafe.then(|| quote!(unsafe));
        let holes = call.args.iter().map(|_| quote!(_));
        let values: Vec<TokenStream> = call.args.iter().map(|(arg, _)| self.expression(arg)).collect();
        let ([show, hide], values) = super::natives::shown(call.shown, values);
        let span = self.kept.span(typed.place);
        let (before, args) =
            super::natives::given(&call.given, &values, self.path, call.is_unsafe, true, span, self.kept);
        let taken = super::natives::taken(call.returns, &quote!(#result), span);
        let binding =
            quote_spanned!(span=> let #function: #unsafety extern #abi fn(#(#holes),*) -> _ = #path;);
        let refusal = super::natives::refusal(call, span);
        // `black_box` prevents inlining, which would move the function's stack use into the interpreter's frame.
        let hidden = quote!(let #function = ::core::hint::black_box(#function););
        quote!({ #refusal #binding #hidden #show #before let #result = #function(#(#args),*); #hide #taken })
    }

    /// A call of an address. The template's author vouches for its type.
    fn call_value(&self, call: &Call, value: &Typed, typed: &Typed) -> TokenStream {
        let (abi, ret, address) = (call.abi.name(), rust(typed.ty), self.expression(value));
        // The parameter types keep the scalars' signs, which decide how narrow arguments are extended.
        let types = call.args.iter().map(|(_, scalar)| match scalar {
            Scalar::Ptr => format_ident!("usize"),
            scalar => format_ident!("{}", scalar.name()),
        });
        let refusal = super::natives::refusal(call, self.kept.span(typed.place));
        let values = call.args.iter().map(|(arg, _)| self.expression(arg)).collect();
        let ([show, hide], values) = super::natives::shown(call.shown, values);
        quote!({
            #refusal
            let function: unsafe extern #abi fn(#(#types),*) -> #ret =
                ::core::mem::transmute((#address) as usize as *const ());
            #show
            let result = function(#(#values as _),*);
            #hide
            result
        })
    }
}
