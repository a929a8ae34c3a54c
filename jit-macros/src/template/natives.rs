//! Functions that stand between a template and the Rust function that it calls.
//!
//! In: a call without a convention. Out: a function of the convention that compiled code calls, which takes what the
//! template passes and calls the Rust function with it. Both tiers call that one, and rustc checks the call in it like
//! any other: so the Rust function may have any convention, and a panic in it may pass.
//!
//! The interpreter calls it too, and has none of it in its own loop: what one Rust function keeps on the stack would
//! otherwise be kept for every opcode, and once for each call of the interpreter that is active.
//!
//! On Windows, where compiled frames cannot be unwound, this function is one that a panic may not leave: the process
//! is aborted with a message.

use azulejo_core::vocab::Scalar;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// A call to be made by a function of its own.
pub(super) struct Native {
    /// The Rust function.
    pub(super) path: TokenStream,
    pub(super) args: Vec<Argument>,
    /// The result's scalar.
    pub(super) ret: Option<Ident>,
    /// What the function says it is.
    pub(super) returns: Option<Ident>,
    /// Whether the template vouches for addresses, and may call unsafe functions.
    pub(super) is_unsafe: bool,
    /// Where the call stands.
    pub(super) span: Span,
}

/// The name of the function that makes a template's call of this number.
pub(super) fn name(number: usize) -> Ident {
    format_ident!("native{number}")
}

/// The Rust type that a scalar is passed as: at least 32 bits, of which a function may not expect more than it reads.
pub(super) fn passed(scalar: &Ident) -> Ident {
    let name = match scalar.to_string().as_str() {
        "bool" | "i8" | "u8" | "i16" | "u16" => "u32",
        "ptr" => "usize",
        _ => return Ident::new(&scalar.to_string(), Span::call_site()),
    };
    Ident::new(name, Span::call_site())
}

/// The Rust type that templates hold a scalar as.
fn held(scalar: &Ident) -> Ident {
    // What is not among the scalars is `bool`, a byte.
    let scalar = Scalar::from_name(&scalar.to_string()).unwrap_or(Scalar::U8);
    Ident::new(scalar.ty().name(), Span::call_site())
}

/// What is passed for one parameter of a Rust function.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    /// As what it is passed: a scalar, or `bool`.
    pub(super) kind: Ident,
    pub(super) leads: Leads,
    /// Where it stands.
    pub(super) span: Span,
}

/// Whether a value is an address by which the context can be reached, as far as the template shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leads {
    Elsewhere,
    /// It is computed from the context's address.
    Into,
    /// It is the context's address.
    To,
    /// It is the address of an output of this type.
    Slot(Scalar),
}

/// What a Rust function is given: statements that stand before its call, and the arguments. rustc has to find that each is
/// what the function takes, and passed as it is if the function is called directly; that no reference outlives the call; and that an exclusive one to the context stands alone.
pub(super) fn given(
    args: &[Argument],
    values: &[TokenStream],
    op: &TokenStream,
    is_unsafe: bool,
    is_direct: bool,
    span: Span,
) -> (TokenStream, Vec<TokenStream>) {
    let kinds: Vec<TokenStream> = args.iter().map(|arg| kind(arg, op, is_unsafe)).collect();
    let passed = std::iter::zip(args, &kinds).zip(values).map(|((arg, kind), value)| {
        let place = shown_at(arg.span);
        // An argument has no effect: only the call itself is for the template's author to vouch for.
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
                // Two outputs may be one VM register.
                [Leads::Slot(_), Leads::Slot(_)] => true,
                [Leads::Slot(_), _] | [_, Leads::Slot(_)] => false,
                leads => leads.contains(&Leads::To) && !leads.contains(&Leads::Elsewhere),
            }
        })
        .collect();
    if pairs.is_empty() {
        return (this_call, passed);
    }
    let name = |(at, arg): (usize, &Argument)| Ident::new(&format!("given{at}"), shown_at(arg.span));
    let names: Vec<Ident> = args.iter().enumerate().map(name).collect();
    let agreed = pairs.iter().map(|&(first, second)| {
        let [(this, kind), (other, other_kind)] = [second, first].map(|at| (&names[at], &kinds[at]));
        quote_spanned! {shown_at(args[second].span)=>
            __native::Beside::<'_, '_, #kind, #other_kind, _>::beside(&#this, &#other);
        }
    });
    let before = quote!(#this_call #(let #names = #passed;)* #(#agreed)*);
    (before, names.iter().map(|name| quote!(#name)).collect())
}

/// Of this macro's making, and shown at a place: the tokens there may come from another macro, where names mean other things.
pub(super) fn shown_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}

/// The type that stands for what is known of an argument.
fn kind(arg: &Argument, op: &TokenStream, is_unsafe: bool) -> TokenStream {
    let place = shown_at(arg.span);
    let kind = match arg.kind == "ptr" {
        true if let Leads::Slot(scalar) = arg.leads => {
            let scalar = Ident::new(scalar.name(), place);
            quote_spanned!(place=> place<::core::primitive::#scalar>)
        }
        true if arg.leads == Leads::To => {
            // All tokens of one making: rustc shows the whole macro where they are of several.
            let of = |mut token: TokenTree| {
                token.set_span(place);
                token
            };
            let op: TokenStream = op.clone().into_iter().map(of).collect();
            quote_spanned!(place=> context<<#op as __bytecode::Bytecode>::Context>)
        }
        true if is_unsafe => quote_spanned!(place=> trusted),
        _ => Ident::new(&arg.kind.to_string(), place).into_token_stream(),
    };
    quote_spanned!(place=> __native::kind::#kind)
}

/// Takes a result, of a scalar or `bool` if there is one.
pub(super) fn taken(returns: Option<&Ident>, result: &TokenStream, span: Span) -> TokenStream {
    match returns {
        Some(scalar) => {
            let (kind, span) = (Ident::new(&scalar.to_string(), shown_at(span)), shown_at(span));
            quote_spanned!(span=> __native::Returned::<__native::kind::#kind>::take(#result))
        }
        None => quote_spanned!(shown_at(span)=> __native::NoResult::nothing(#result)),
    }
}

/// The functions that make these calls of a template of the enum `op`.
pub(super) fn items(natives: &[Native], op: &TokenStream) -> TokenStream {
    natives.iter().enumerate().map(|(number, native)| item(number, native, op)).collect()
}

fn item(number: usize, native: &Native, op: &TokenStream) -> TokenStream {
    let Native { path, args, ret, returns, is_unsafe, span } = native;
    let name = name(number);
    let variable = |at: usize| format_ident!("argument{at}");
    let params = args.iter().enumerate().map(|(at, Argument { kind, .. })| {
        let (variable, ty) = (variable(at), passed(kind));
        quote!(#variable: #ty)
    });
    let params: Vec<TokenStream> = params.collect();
    let values = args.iter().enumerate().map(|(at, Argument { kind, .. })| {
        let (variable, held) = (variable(at), held(kind));
        quote!(#variable as #held)
    });
    let (before, values) = given(args, &values.collect::<Vec<_>>(), op, *is_unsafe, false, *span);
    // A wrong number of arguments is shown at the function's name; but the call is of this macro's making, or rustc would tell
    // how it is written in Rust.
    let place = path.clone().into_iter().next().map_or(*span, |token| token.span());
    let function = Ident::new("function", shown_at(place));
    let call = quote_spanned!(shown_at(place)=> #function(#(#values),*));
    // A template that is not marked `unsafe` cannot call what is.
    let call = if *is_unsafe { quote!(unsafe { #call }) } else { call };
    let returned = ret.as_ref().map(held).map(|ty| quote!(-> #ty));
    let taken = taken(returns.as_ref(), &call, *span);
    quote! {
        #[cfg(not(windows))]
        #[inline(never)]
        extern "C-unwind" fn #name(#(#params),*) #returned { let #function = #path; #before #taken }
        #[cfg(windows)]
        #[inline(never)]
        extern "C" fn #name(#(#params),*) #returned { let #function = #path; #before #taken }
    }
}
