//! Prints a compiled template as the tokens of a static `Template`.

use super::natives;
use crate::kept::Kept;
use azulejo_core::ir::list::{OperandList, Refs, TypeList};
use azulejo_core::ir::template::Resume;
use azulejo_core::vocab::{Sig, Type};
use azulejo_lang::Token;
use azulejo_lang::template::signs::{Sign, has_minus};
use azulejo_lang::template::steps::{
    Access, Code, FormulaTerm, Imm, SiteOffset, Step, StepArguments, StepCallee, Template, ValueKind,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// What the steps of a template name by number.
#[derive(Default)]
struct Apart {
    calls: Vec<TokenStream>,
    addresses: Vec<TokenStream>,
}

/// The tokens of a template, including its variants. `kinds` is the item with the kinds, if there is one; `regions` are the names of the regions.
pub(super) fn template(
    template: &Template,
    kinds: Option<&Ident>,
    regions: &[String],
    kept: &Kept,
) -> TokenStream {
    let mut apart = Apart::default();
    let steps: Vec<TokenStream> = template.steps.iter().map(|one| step(one, &mut apart, kept)).collect();
    let Apart { calls, addresses } = apart;
    let variant = |variant: &Option<Box<Template>>| match variant {
        Some(variant) => {
            let variant = self::template(variant, kinds, regions, kept);
            quote!(::core::option::Option::Some(&#variant))
        }
        None => quote!(::core::option::Option::None),
    };
    let [guarded, compact, known] = [&template.guarded, &template.compact, &template.known].map(variant);
    let blocks = number(template.blocks);
    let kinds = kinds.filter(|_| template.uses_kinds()).map_or_else(|| quote!(&[]), |kinds| quote!(#kinds));
    quote! {
        __template::Template {
            steps: &[#(__template::Step::#steps),*], blocks: #blocks, calls: &[#(#calls),*],
            addresses: &[#(#addresses),*], guarded: #guarded, compact: #compact, known: #known, kinds: #kinds,
            regions: &[#(#regions),*],
        }
    }
}

pub(super) fn sig(sig: Sig) -> TokenStream {
    let (from, to) = (ty(sig.from), ty(sig.ty));
    quote!(__vocab::Sig { from: #from, ty: #to })
}

/// An integer constant as an `i64` with its bits. Rust infers the type of a literal from the cast, and an unsigned literal may
/// not fit an `i64`.
pub(super) fn bits(constant: &[Token], sign: Sign, kept: &Kept) -> TokenStream {
    let tokens = kept.print(constant);
    match sign {
        Sign::Unsigned if !has_minus(constant) => quote!(((#tokens) as u64 as i64)),
        _ => quote!(((#tokens) as i64)),
    }
}

fn ty(ty: Type) -> TokenStream {
    let name = format_ident!("{ty:?}");
    quote!(__vocab::Type::#name)
}

fn number(n: u16) -> Literal {
    Literal::u16_unsuffixed(n)
}

fn numbers(all: &[u16]) -> TokenStream {
    let all = all.iter().copied().map(number);
    quote!(&[#(#all),*])
}

/// A list in line, if it is short enough. All places that are left have the filler.
fn list(items: impl ExactSizeIterator<Item = TokenStream>, fits: usize, filler: &TokenStream) -> TokenStream {
    let count = items.len();
    if count > fits {
        return quote!(__list::ShortList::Many(&(&[#(#items),*] as &[_])));
    }
    let items = items.chain(std::iter::repeat_n(filler.clone(), fits - count));
    let count = Literal::usize_unsuffixed(count);
    quote!(__list::ShortList::Few(#count, [#(#items),*]))
}

fn refs(all: &[u16]) -> TokenStream {
    list(all.iter().map(|one| Literal::u16_suffixed(*one).into_token_stream()), Refs::FITS, &quote!(0))
}

fn operand(at: usize) -> Literal {
    Literal::usize_unsuffixed(at)
}

fn imm(imm: &Imm, apart: &mut Apart, kept: &Kept) -> TokenStream {
    match imm {
        Imm::Address(path) => {
            let path = kept.print(path);
            let at = Literal::usize_unsuffixed(apart.addresses.len());
            apart.addresses.push(quote!(__template::Address((&raw const #path).cast())));
            quote!(__template::StepImm::Address(#at))
        }
        Imm::Operand(at) => {
            let at = operand(*at);
            quote!(__template::StepImm::Operand(#at))
        }
        _ => {
            let known = known(imm, kept);
            quote!(__template::StepImm::Known(#known))
        }
    }
}

/// The bits of a constant that rustc knows, as an `i64`.
fn known(imm: &Imm, kept: &Kept) -> TokenStream {
    match imm {
        Imm::Known(bits) => {
            let bits = Literal::i64_unsuffixed(*bits);
            quote!(#bits)
        }
        Imm::Rust(tokens) => {
            let tokens = kept.print(tokens);
            quote!((#tokens) as i64)
        }
        Imm::Value { tokens, ty: ty @ (Type::F32 | Type::F64), .. } => {
            let (tokens, ty) = (kept.print(tokens), format_ident!("{}", ty.name()));
            quote!(((#tokens) as #ty).to_bits() as i64)
        }
        Imm::Offset(offset) => {
            let offset = site_offset(offset, kept);
            quote!((#offset) as i64)
        }
        Imm::Value { tokens, sign, .. } => bits(tokens, *sign, kept),
        Imm::Access { access, region } => {
            let access = match access {
                Access::Plain => quote!(Plain),
                Access::Pure => quote!(Pure),
                Access::Within(code) => {
                    let code = trap(code, kept);
                    quote!(Within(#code))
                }
            };
            let region = (*region != 0).then(|| {
                let region = number(*region as u16);
                quote!(| __regions::MemoryRegion::of_number(#region).bits())
            });
            quote!((__graph::Access::#access.bits() #region) as i64)
        }
        Imm::Address(_) | Imm::Operand(_) => unreachable!("rustc does not know it"),
    }
}

/// The tokens of a kind of values.
pub(super) fn kind(kind: &ValueKind, kept: &Kept) -> TokenStream {
    let (name, ty) = (&kind.name, ty(kind.ty));
    let [is, unbox, make_box] = [&kind.is, &kind.unbox, &kind.make_box].map(|terms| formula(terms, kept));
    quote!(__kinds::ValueKind { name: #name, ty: #ty, is: #is, unbox: #unbox, make_box: #make_box })
}

fn formula(terms: &[FormulaTerm], kept: &Kept) -> TokenStream {
    let terms = terms.iter().map(|FormulaTerm { op, sig, inputs, imm }| {
        let (op, sig) = (number(op.0), self::sig(*sig));
        let (inputs, imm) = (numbers(inputs), known(imm, kept));
        quote!(__kinds::Term { op: __vocab::Op(#op), sig: #sig, inputs: #inputs, imm: #imm })
    });
    quote!(__kinds::Formula { terms: &[#(#terms),*] })
}

/// The code of a trap that a template states.
fn trap(code: &[Token], kept: &Kept) -> TokenStream {
    let code = kept.print(code);
    quote!(__vocab::Trap::User(#code).code())
}

fn arguments(args: &StepArguments) -> TokenStream {
    match args {
        StepArguments::Values(values) => {
            let values = refs(values);
            quote!(__template::Arguments::Values(#values))
        }
        StepArguments::Run(at) => {
            let at = operand(*at);
            quote!(__template::Arguments::Run(#at))
        }
        StepArguments::Spread(spread) => {
            let [first, count] = spread.map(number);
            quote!(__template::Arguments::Spread([#first, #count]))
        }
    }
}

fn step(step: &Step, apart: &mut Apart, kept: &Kept) -> TokenStream {
    match step {
        Step::Node { op, sig, inputs, imm } => {
            let (op, sig) = (number(op.0), self::sig(*sig));
            let (inputs, imm) = (refs(inputs), self::imm(imm, apart, kept));
            quote!(Node { op: __vocab::Op(#op), sig: #sig, inputs: #inputs, imm: #imm })
        }
        Step::Read { operand: at, ty: of } => {
            let (at, of) = (operand(*at), ty(*of));
            quote!(Read { operand: #at, ty: #of })
        }
        Step::Constant { operand: at, ty: of } => {
            let (at, of) = (operand(*at), ty(*of));
            quote!(Constant { operand: #at, ty: #of })
        }
        Step::Window { operand: at } => {
            let at = operand(*at);
            quote!(Window { operand: #at })
        }
        Step::WindowLength { operand: at } => {
            let at = operand(*at);
            quote!(WindowLength { operand: #at })
        }
        Step::SiteValue { operand: at, offset, ty: of, learns_slowly } => {
            let (at, offset, of) = (operand(*at), site_offset(offset, kept), ty(*of));
            quote!(SiteValue { operand: #at, offset: #offset, ty: #of, learns_slowly: #learns_slowly })
        }
        Step::KnownCase { operand: at, offset, ty: of } => {
            let (at, offset, of) = (operand(*at), site_offset(offset, kept), ty(*of));
            quote!(KnownCase { operand: #at, offset: #offset, ty: #of })
        }
        Step::Call { .. } => call(step, apart, kept),
        Step::Invoke { function, args, ret, catches, effect } => {
            let (function, args) = (number(*function), arguments(args));
            let (ret, effect) = (ty(*ret), format_ident!("{effect:?}"));
            quote! {
                Invoke {
                    function: #function, args: #args, ret: #ret, catches: #catches, effect: __graph::Effect::#effect,
                }
            }
        }
        Step::Caught { function, code } => {
            let [function, code] = [*function, *code].map(number);
            quote!(Caught { function: #function, code: #code })
        }
        Step::Write { operand: at, value } => {
            let (at, value) = (operand(*at), number(*value));
            quote!(Write { operand: #at, value: #value })
        }
        Step::Block { block, params, cold } => {
            let params = list(params.iter().map(|param| ty(*param)), TypeList::FITS, &ty(Type::Void));
            let block = number(*block);
            quote!(Block { block: #block, params: #params, cold: #cold })
        }
        Step::Slow => quote!(Slow),
        Step::Outside { operand: at } => {
            let at = operand(*at);
            quote!(Outside { operand: #at })
        }
        Step::General { none } => {
            let none = number(*none);
            quote!(General { none: #none })
        }
        Step::Show { call } => {
            let call = Literal::u32_unsuffixed(*call);
            quote!(Show { call: #call })
        }
        Step::Quicken { opcode } => {
            let opcode = Literal::usize_unsuffixed(*opcode);
            quote!(Quicken { opcode: #opcode })
        }
        Step::Frames => quote!(Frames),
        Step::Jump { block, args } => {
            let (block, args) = (number(*block), refs(args));
            quote!(Jump { block: #block, args: #args })
        }
        _ => leaving(step, kept),
    }
}

fn site_offset(offset: &SiteOffset, kept: &Kept) -> TokenStream {
    match offset {
        SiteOffset::Count => quote!(__sites::COUNT_OFFSET as u32),
        SiteOffset::Limit => quote!(__sites::LIMIT_OFFSET as u32),
        SiteOffset::CaseBytes(case) => {
            let case = kept.print(case);
            quote!(::core::mem::size_of::<#case>() as u32)
        }
        SiteOffset::Field { number, case, field } => {
            let (number, case, field) = (*number as usize, kept.print(case), kept.print(field));
            quote! {
                (__sites::CASES_OFFSET
                    + #number * ::core::mem::size_of::<#case>()
                    + ::core::mem::offset_of!(#case, #field)) as u32
            }
        }
    }
}

/// The tokens of a step that ends a block.
fn leaving(step: &Step, kept: &Kept) -> TokenStream {
    match step {
        Step::Branch { flag, then, otherwise, likelihood } => {
            let [flag, then, otherwise] = [*flag, *then, *otherwise].map(number);
            let likelihood = format_ident!("{likelihood:?}");
            quote! {
                Branch {
                    flag: #flag, then: #then, otherwise: #otherwise,
                    likelihood: __template::Likelihood::#likelihood,
                }
            }
        }
        Step::Goto { operand: at } => {
            let at = operand(*at);
            quote!(Goto { operand: #at })
        }
        Step::Switch { value, operands } => {
            let operands = operands.iter().map(|at| Literal::u8_suffixed(*at as u8).into_token_stream());
            let (value, operands) = (number(*value), list(operands, OperandList::FITS, &quote!(0)));
            quote!(Switch { value: #value, operands: #operands })
        }
        Step::Return { value: None } => quote!(Return { value: ::core::option::Option::None }),
        Step::Return { value: Some(value) } => {
            let value = number(*value);
            quote!(Return { value: ::core::option::Option::Some(#value) })
        }
        Step::Tail { function, args } => {
            let (function, args) = (number(*function), arguments(args));
            quote!(Tail { function: #function, args: #args })
        }
        Step::Exit { to } => {
            let to = match to {
                Resume::Here => quote!(Here),
                Resume::Next => quote!(Next),
                Resume::Label(at) => {
                    let at = Literal::u8_unsuffixed(*at);
                    quote!(Label(#at))
                }
            };
            quote!(Exit { to: __template::Resume::#to })
        }
        Step::Trap { code } => {
            let code = match code {
                Code::User(code) => trap(code, kept),
                Code::Known(code) => {
                    let code = Literal::u32_unsuffixed(*code);
                    quote!(#code)
                }
            };
            quote!(Trap { code: #code })
        }
        other => unreachable!("{other:?} goes on"),
    }
}

fn call(step: &Step, apart: &mut Apart, kept: &Kept) -> TokenStream {
    let Step::Call { callee, convention, args, ret, throws, catches, effect, memory } = step else {
        unreachable!("it is a call")
    };
    let known =
        |path: TokenStream| quote!(__template::Callee::Known(__template::Address(#path as *const ())));
    let callee = match callee {
        StepCallee::Native(number) => {
            let name = natives::name(*number);
            known(quote!(#name))
        }
        StepCallee::Path(path) => known(kept.print(path)),
        StepCallee::Value(value) => {
            let value = number(*value);
            quote!(__template::Callee::Value(#value))
        }
    };
    let (values, types) = (args.iter().map(|(value, _)| number(*value)), args.iter().map(|(_, of)| ty(*of)));
    let (convention, ret, effect) = (format_ident!("{convention:?}"), ty(*ret), format_ident!("{effect:?}"));
    let (changes, makes) = (Literal::u32_unsuffixed(memory.changes.bits()), memory.makes);
    let at = Literal::usize_unsuffixed(apart.calls.len());
    apart.calls.push(quote! {
        __template::NativeCall {
            callee: #callee,
            args: &[#(#values),*],
            signature: __template::Signature {
                convention: __template::Convention::#convention,
                args: &[#(#types),*],
                ret: #ret,
            },
            memory: __graph::CallMemory { changes: __regions::MemoryRegions::of_bits(#changes), makes: #makes },
        }
    });
    quote! {
        Call {
            call: #at, ret: #ret, throws: #throws, catches: #catches, effect: __graph::Effect::#effect,
        }
    }
}
