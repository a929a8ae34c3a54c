//! Native functions: wrappers between a template and the Rust function that it calls.
//!
//! In: a call without a stated convention. Out: a function with the convention of compiled code, which takes the
//! template's arguments and calls the Rust function with them. All tiers call this wrapper, and rustc checks the call in it like
//! any other. So the Rust function may have any convention, and a panic may unwind through it.
//!
//! The interpreter calls the wrapper too, and never inlines it into its loop. Otherwise the stack space of each Rust function
//! would be part of the interpreter's frame for every opcode, once for each active call of the interpreter.
//!
//! On Windows, where compiled frames cannot be unwound, a panic must not leave the wrapper: the process
//! is aborted with a message.

use crate::kept::Kept;
use azulejo_core::vocab::Scalar;
use azulejo_lang::template::ast::{Argument, Call, Leads, Native, Passing};
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// The name of the native function for the call of this number.
pub(super) fn name(number: usize) -> Ident {
    format_ident!("native{number}")
}

/// The name of the marker type for a site.
fn site(operand: usize) -> Ident {
    format_ident!("__Site{operand}")
}

/// The marker type for a site, an operand of this opcode.
pub(super) fn site_item(op: &TokenStream, opcode: usize, operand: usize) -> TokenStream {
    let name = site(operand);
    quote!(type #name = __native::kind::site<#op, #opcode, #operand>;)
}

/// The Rust type in which an argument is passed: at least 32 bits, so that the callee never expects more bits than are defined.
pub(super) fn passed(passing: Passing) -> Ident {
    let name = match passing {
        Passing::Bool => "u32",
        Passing::Scalar(Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16) => "u32",
        Passing::Scalar(Scalar::Ptr) => "usize",
        Passing::Scalar(scalar) => scalar.name(),
    };
    Ident::new(name, Span::call_site())
}

/// The Rust type in which templates hold a scalar.
fn held(scalar: Scalar) -> Ident {
    Ident::new(scalar.ty().name(), Span::call_site())
}

/// The name of a scalar type or `bool`.
fn name_of(passing: Passing, place: Span) -> Ident {
    let name = match passing {
        Passing::Bool => "bool",
        Passing::Scalar(scalar) => scalar.name(),
    };
    Ident::new(name, place)
}

/// The arguments of a Rust function: statements to precede the call, and the argument expressions. They make rustc check that
/// each has the type that the function takes, and is passed unconverted if the function is called directly; that no reference
/// outlives the call; and that an exclusive reference to the context is not aliased.
pub(super) fn given(
    args: &[Argument],
    values: &[TokenStream],
    op: &TokenStream,
    is_unsafe: bool,
    is_direct: bool,
    span: Span,
    kept: &Kept,
) -> (TokenStream, Vec<TokenStream>) {
    let kinds: Vec<TokenStream> = args.iter().map(|arg| kind(arg, op, is_unsafe, kept)).collect();
    let passed = std::iter::zip(args, &kinds).zip(values).map(|((arg, kind), value)| {
        let place = shown_at(kept.span(arg.place));
        // Converting an argument has no effects, so the template's author vouches for the call alone.
        match is_direct {
            false => quote_spanned!(place=> unsafe { __native::Argument::<'_, #kind>::pass(&this_call, #value) }),
            true => quote_spanned!(place=> unsafe { __native::Direct::<'_, #kind>::pass_directly(&this_call, #value) }),
        }
    });
    let passed: Vec<TokenStream> = passed.collect();
    let this_call = quote_spanned!(shown_at(span)=> let this_call = __native::Call;);
    let pairs: Vec<(usize, usize)> = (0..args.len())
        .flat_map(|second| (0..second).map(move |first| (first, second)))
        .filter(|&(first, second)| {
            match [args[first].leads, args[second].leads] {
                // Two outputs may be the same VM register.
                [Leads::Slot(_), Leads::Slot(_)] => true,
                [Leads::Slot(_), _] | [_, Leads::Slot(_)] => false,
                leads => leads.contains(&Leads::To) && !leads.contains(&Leads::Elsewhere),
            }
        })
        .collect();
    if pairs.is_empty() {
        return (this_call, passed);
    }
    let name =
        |(at, arg): (usize, &Argument)| Ident::new(&format!("given{at}"), shown_at(kept.span(arg.place)));
    let names: Vec<Ident> = args.iter().enumerate().map(name).collect();
    let agreed = pairs.iter().map(|&(first, second)| {
        let [(this, kind), (other, other_kind)] = [second, first].map(|at| (&names[at], &kinds[at]));
        quote_spanned! {shown_at(kept.span(args[second].place))=>
            __native::Beside::<'_, '_, #kind, #other_kind, _>::beside(&#this, &#other);
        }
    });
    let before = quote!(#this_call #(let #names = #passed;)* #(#agreed)*);
    (before, names.iter().map(|name| quote!(#name)).collect())
}

/// A span with this macro's hygiene, located at a place. Tokens of that place may have the hygiene of another macro.
pub(super) fn shown_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// Tokens with one span. If their hygiene were mixed, rustc would show the whole macro.
pub(super) fn moved(tokens: &TokenStream, place: Span) -> TokenStream {
    let of = |mut token: TokenTree| {
        token.set_span(place);
        token
    };
    tokens.clone().into_iter().map(of).collect()
}

/// The marker type for what is statically known of an argument.
fn kind(arg: &Argument, op: &TokenStream, is_unsafe: bool, kept: &Kept) -> TokenStream {
    let place = shown_at(kept.span(arg.place));
    let kind = match arg.passing == Passing::Scalar(Scalar::Ptr) {
        true if let Leads::Slot(scalar) = arg.leads => {
            let scalar = Ident::new(scalar.name(), place);
            quote_spanned!(place=> place<::core::primitive::#scalar>)
        }
        true if let Leads::Site(at) = arg.leads => {
            let mut site = site(at);
            site.set_span(place);
            return site.into_token_stream();
        }
        true if arg.leads == Leads::Frames => quote_spanned!(place=> frames),
        true if arg.leads == Leads::To => {
            let op = moved(op, place);
            quote_spanned!(place=> context<<#op as __bytecode::Bytecode>::Context>)
        }
        true if is_unsafe => quote_spanned!(place=> trusted),
        _ => name_of(arg.passing, place).into_token_stream(),
    };
    quote_spanned!(place=> __native::kind::#kind)
}

/// Converts the `Result` of a function that may fail to the words that its native function returns.
fn attempted(returns: Option<Passing>, result: &TokenStream, span: Span) -> TokenStream {
    let kind = returns
        .map_or_else(|| Ident::new("nothing", shown_at(span)), |passing| name_of(passing, shown_at(span)));
    quote_spanned!(shown_at(span)=> __native::Fallible::<__native::kind::#kind>::attempt(#result))
}

/// Converts the result, if there is one, from a scalar or `bool`.
pub(super) fn taken(returns: Option<Passing>, result: &TokenStream, span: Span) -> TokenStream {
    match returns {
        Some(passing) => {
            let (kind, span) = (name_of(passing, shown_at(span)), shown_at(span));
            quote_spanned!(span=> __native::Returned::<__native::kind::#kind>::take(#result))
        }
        None => quote_spanned!(shown_at(span)=> __native::NoResult::nothing(#result)),
    }
}

/// The native functions for these calls of a template of the enum `op`.
pub(super) fn items(natives: &[Native], op: &TokenStream, kept: &Kept) -> TokenStream {
    natives.iter().enumerate().map(|(number, native)| item(number, native, op, kept)).collect()
}

fn item(number: usize, native: &Native, op: &TokenStream, kept: &Kept) -> TokenStream {
    let Native { path, args, ret, returns, throws, is_unsafe, place } = native;
    let (path, span) = (kept.print(path), kept.span(*place));
    let name = name(number);
    let variable = |at: usize| format_ident!("argument{at}");
    let params = args.iter().enumerate().map(|(at, Argument { passing, .. })| {
        let (variable, ty) = (variable(at), passed(*passing));
        quote!(#variable: #ty)
    });
    let params: Vec<TokenStream> = params.collect();
    let values = args.iter().enumerate().map(|(at, Argument { passing, .. })| {
        let scalar = if let Passing::Scalar(scalar) = passing { *scalar } else { Scalar::U8 };
        let (variable, held) = (variable(at), held(scalar));
        quote!(#variable as #held)
    });
    let (before, values) = given(args, &values.collect::<Vec<_>>(), op, *is_unsafe, false, span, kept);
    // A wrong number of arguments is reported at the function's name. But the call has this macro's hygiene; otherwise rustc
    // would suggest how to write it in Rust.
    let place = path.clone().into_iter().next().map_or(span, |token| token.span());
    let function = Ident::new("function", shown_at(place));
    let call = quote_spanned!(shown_at(place)=> #function(#(#values),*));
    // A template that is not marked `unsafe` cannot call unsafe functions.
    let call = if *is_unsafe { quote!(unsafe { #call }) } else { call };
    let (returned, taken) = match throws {
        true => (Some(quote!(-> __native::Attempt)), attempted(*returns, &call, span)),
        false => (ret.map(held).map(|ty| quote!(-> #ty)), taken(*returns, &call, span)),
    };
    // The convention of Windows returns two words in memory.
    let of_windows = if *throws {
        vec![
            (quote!(all(windows, target_arch = "x86_64")), "sysv64"),
            (quote!(all(windows, not(target_arch = "x86_64"))), "C"),
        ]
    } else {
        vec![(quote!(windows), "C")]
    };
    let of_all = std::iter::once((quote!(not(windows)), "C-unwind")).chain(of_windows);
    let functions = of_all.map(|(system, abi)| {
        quote! {
            #[cfg(#system)]
            #[inline(never)]
            extern #abi fn #name(#(#params),*) #returned { let #function = #path; #before #taken }
        }
    });
    quote!(#(#functions)*)
}

/// What stands before a call that observes, and behind it, and the arguments: the frame is shown meanwhile. The arguments come first,
/// as there may be such calls among them.
pub(super) fn shown(call: Option<u32>, args: Vec<TokenStream>) -> ([TokenStream; 2], Vec<TokenStream>) {
    let Some(call) = call.map(Literal::u32_unsuffixed) else { return ([quote!(), quote!()], args) };
    let names = (0..args.len()).map(|at| format_ident!("argument{at}"));
    let names: Vec<TokenStream> = names.map(|name| quote!(#name)).collect();
    let show = quote!(#(let #names = #args;)* machine.show_frame(at, #call););
    ([show, quote!(machine.hide_frame();)], names)
}

/// Where compiled frames cannot be unwound, the compile error for a direct call of a function that may unwind.
pub(super) fn refusal(call: &Call, span: Span) -> Option<TokenStream> {
    let message = format!(
        "a panic cannot pass through compiled code on Windows, so \"{}\" cannot be called; \
         leave the convention out, or call a function that a panic does not leave",
        call.abi.name()
    );
    call.abi.unwinds.then(|| quote_spanned!(span=> #[cfg(windows)] ::core::compile_error!(#message);))
}
