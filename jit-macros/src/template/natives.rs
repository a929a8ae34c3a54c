//! Functions that stand between a template and the Rust function that it calls.
//!
//! In: a call without a convention. Out: a function of the convention that compiled code calls, which takes what the
//! template passes and calls the Rust function with it. Both tiers call that one, and rustc checks the call in it like
//! any other: so the Rust function may have any convention, and a panic in it may pass.
//!
//! On Windows, where compiled frames cannot be unwound, this function is one that a panic may not leave: the process
//! is aborted with a message.

use azulejo_core::vocab::Scalar;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// A call to be made by a function of its own.
pub(super) struct Native {
    /// The Rust function.
    pub(super) path: TokenStream,
    /// Each argument's scalar, whether it is the context's address, and where it stands.
    pub(super) args: Vec<(Ident, bool, Span)>,
    /// The result's scalar.
    pub(super) ret: Option<Ident>,
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
        "i8" | "u8" | "i16" | "u16" => "u32",
        "ptr" => "usize",
        _ => return Ident::new(&scalar.to_string(), Span::call_site()),
    };
    Ident::new(name, Span::call_site())
}

/// The Rust type that templates hold a scalar as.
fn held(scalar: &Ident) -> Ident {
    let scalar = Scalar::from_name(&scalar.to_string()).expect("it was checked");
    Ident::new(scalar.ty().name(), Span::call_site())
}

/// The functions that make these calls of a template of the enum `op`.
pub(super) fn items(natives: &[Native], op: &TokenStream) -> TokenStream {
    natives.iter().enumerate().map(|(number, native)| item(number, native, op)).collect()
}

fn item(number: usize, native: &Native, op: &TokenStream) -> TokenStream {
    let Native { path, args, ret, is_unsafe, span } = native;
    let name = name(number);
    let variable = |at: usize| format_ident!("argument{at}");
    let params = args.iter().enumerate().map(|(at, (scalar, ..))| {
        let (variable, ty) = (variable(at), passed(scalar));
        quote!(#variable: #ty)
    });
    let values = args.iter().enumerate().map(|(at, (scalar, is_context, place))| {
        let kind = match scalar == "ptr" {
            true if *is_context => quote!(context<<#op as __bytecode::Bytecode>::Context>),
            true if *is_unsafe => quote!(trusted),
            _ => {
                let kind = Ident::new(&scalar.to_string(), *place);
                quote!(#kind)
            }
        };
        let (variable, held) = (variable(at), held(scalar));
        let value = quote!(#variable as #held);
        // An argument has no effect: only the call itself is for the template's author to vouch for.
        quote_spanned!(*place=> unsafe { __native::pass::<__native::kind::#kind, _>(#value) })
    });
    let values: Vec<TokenStream> = values.collect();
    // At the call, so that a wrong number of arguments is shown there.
    let call = quote_spanned!(*span=> #path(#(#values),*));
    // A template that is not marked `unsafe` cannot call what is.
    let call = if *is_unsafe { quote!(unsafe { #call }) } else { call };
    let (returned, body) = match ret {
        Some(scalar) => {
            let (ty, kind) = (held(scalar), Ident::new(&scalar.to_string(), *span));
            let taken = quote_spanned!(*span=> __native::take::<__native::kind::#kind, _>(#call));
            (quote!(-> #ty), taken)
        }
        None => (quote!(), quote_spanned!(*span=> __native::nothing(#call))),
    };
    let params: Vec<TokenStream> = params.collect();
    quote! {
        #[cfg(not(windows))]
        extern "C-unwind" fn #name(#(#params),*) #returned { #body }
        #[cfg(windows)]
        extern "C" fn #name(#(#params),*) #returned { #body }
    }
}
