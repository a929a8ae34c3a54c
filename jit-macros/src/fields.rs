//! `#[derive(Fields)]`: describes the fields of a struct to templates.
//!
//! In: a struct. Out: a macro with the struct's name that passes on the fields and their types, so that importing one imports the
//! other. `template!` uses it for `(&field Struct, name)`. Macros see only the names of types, so the expansion makes rustc check
//! that a type named like a scalar is that scalar.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Member, Type};

/// Expands the derive.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    syn::parse2(input).and_then(|input| expand(&input)).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(name.span(), "`Fields` is derived for a struct"));
    };
    let (mut told, mut checks) = (Vec::new(), Vec::new());
    for (number, field) in data.fields.iter().enumerate() {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(number.into()),
        };
        let (scalar, check) = match scalar(&field.ty) {
            Some((scalar, check)) => (format_ident!("{scalar}").into_token_stream(), check),
            // The type's name takes its place, for the error message.
            None => (field.ty.to_token_stream().to_string().to_token_stream(), TokenStream::new()),
        };
        told.push(quote!(#member: #scalar,));
        checks.push(check);
    }
    let hidden = format_ident!("__azulejo_fields_{}", name);
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        const _: () = { #(#checks)* };
        impl #generics ::azulejo::__private::core::ir::bytecode::HasFields for #name #arguments #bounds {}
        #[doc(hidden)]
        #[allow(unused_macros, reason = "not every struct is read by templates")]
        macro_rules! #hidden {
            ([$($callback:tt)*] $rest:tt) => { $($callback)*! { { #(#told)* } $rest } };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "as above")]
        pub(crate) use #hidden as #name;
    })
}

/// The scalar type of a field in templates, and a statement that compiles only if the field's type really is that scalar.
fn scalar(ty: &Type) -> Option<(String, TokenStream)> {
    let path = match ty {
        Type::Group(group) => return scalar(&group.elem),
        Type::Paren(paren) => return scalar(&paren.elem),
        Type::Ptr(_) => return Some(("ptr".into(), TokenStream::new())),
        Type::Path(path) => &path.path,
        _ => return None,
    };
    let last = path.segments.last()?;
    let called = last.ident.to_string();
    if called == "AtomicPtr" {
        return Some(("ptr".into(), TokenStream::new()));
    }
    let (number, is_atomic) = match called.strip_prefix("Atomic") {
        Some(number) => (number.to_lowercase(), true),
        None => (called, false),
    };
    let scalar = match number.as_str() {
        "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" => number.as_str(),
        "f32" | "f64" if !is_atomic => number.as_str(),
        "isize" => "i64",
        "usize" => "u64",
        _ => return None,
    };
    let meant = match is_atomic {
        true => {
            let atomic = &last.ident;
            quote!(::core::sync::atomic::#atomic)
        }
        false => {
            let number = Ident::new(&number, last.ident.span());
            quote!(::core::primitive::#number)
        }
    };
    Some((scalar.into(), quote!(let _: fn(#ty) -> #meant = |field| field;)))
}
