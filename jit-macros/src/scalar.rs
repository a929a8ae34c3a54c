//! `#[derive(Scalar)]`: fieldless enums as parameters and results of Rust functions that templates call.
//!
//! In: an enum without fields and with `#[repr(u8)]` or another integer type. Out: the conversions from a number to a variant, by
//! comparison, and from a variant to its number.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Variant};

const USAGE: &str = "`#[repr(…)]` says as which integer: u8 to u64, i8 to i64, usize or isize";

/// Expands the derive.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    syn::parse2(input).and_then(|input| expand(&input)).unwrap_or_else(Error::into_compile_error)
}

fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(name.span(), "`Scalar` is derived for an enum whose variants are numbers"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "an enum of numbers has no parameters"));
    }
    let repr = repr(input)?;
    // The name of the scalar type in templates, and the Rust type that holds it.
    let scalar = match repr.to_string().as_str() {
        "usize" => "u64".to_string(),
        "isize" => "i64".to_string(),
        other => other.to_string(),
    };
    let (kind, held) = (format_ident!("{scalar}"), format_ident!("i{}", &scalar[1..]));
    let mut other = None;
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(&variant.fields, "a variant with fields is more than a number"));
        }
        if is_other(variant)? && other.replace(&variant.ident).is_some() {
            return Err(Error::new(variant.ident.span(), "one variant is what all other numbers are"));
        }
    }
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    // The arms compare in guards, since a variant cast to an integer is an expression and cannot be a pattern.
    let arms = variants.iter().map(|variant| {
        quote!(number if number == #name::#variant as #repr => ::core::option::Option::Some(#name::#variant),)
    });
    let plain = other.map(|other| {
        quote! {
            impl __native::Passed<'_, __native::kind::#kind> for #name {
                type Access = __native::access::Made;
                #[inline(always)]
                unsafe fn passed(_: &__native::Call, value: ::core::primitive::#held) -> Self {
                    <Self as __native::Enumeration>::variant(value).unwrap_or(#name::#other)
                }
            }
        }
    });
    Ok(quote! {
        const _: () = {
            use ::azulejo::__private::core::native as __native;
            impl __native::Enumeration for #name {
                type Number = __native::kind::#kind;
                #[inline]
                fn variant(number: ::core::primitive::#held) -> ::core::option::Option<Self> {
                    match number as #repr {
                        #(#arms)*
                        _ => ::core::option::Option::None,
                    }
                }
            }
            impl __native::Taken<__native::kind::#kind> for #name {
                #[inline(always)]
                fn taken(self) -> ::core::primitive::#held {
                    self as #repr as ::core::primitive::#held
                }
            }
            #plain
        };
    })
}

/// The integer type of the enum's `#[repr]`.
fn repr(input: &DeriveInput) -> syn::Result<Ident> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            const INTEGERS: [&str; 10] =
                ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];
            match meta.path.get_ident() {
                Some(name) if INTEGERS.iter().any(|integer| name == integer) => found = Some(name.clone()),
                _ if meta.input.peek(syn::token::Paren) => {
                    let number;
                    syn::parenthesized!(number in meta.input);
                    number.parse::<TokenStream>()?;
                }
                _ => {}
            }
            Ok(())
        })?;
    }
    found
        .map(|name| Ident::new(&name.to_string(), Span::call_site()))
        .ok_or_else(|| Error::new(input.ident.span(), USAGE))
}

/// Whether a variant is marked `#[scalar(other)]`.
fn is_other(variant: &Variant) -> syn::Result<bool> {
    let mut is_other = false;
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("scalar")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("other") {
                return Err(meta.error("known here is `other`: the variant that all other numbers are"));
            }
            is_other = true;
            Ok(())
        })?;
    }
    Ok(is_other)
}
