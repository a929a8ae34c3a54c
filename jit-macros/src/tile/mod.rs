//! `tile!` and `tileset!`: tiles as rows, their tables computed while the user's crate is compiled.
//!
//! Rows that stand for several tiles are expanded as they are read, in [`row`].
//! `tile!` leaves the emitters in a static and a macro that hands its patterns on. `tileset!` asks one group
//! after the other for its patterns: each time it expands to a call of the next group's macro, which calls
//! [`step`] with what was collected so far. When none is left, the tables are computed by
//! `azulejo_core::grammar`. Tokens keep their places all the way, so that an error points into the group.

mod ast;
mod check;
mod expand;
mod form;
mod parse;
mod row;
#[cfg(test)]
mod tests;

use crate::template::shared;
use ast::Content;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Visibility;
use syn::parse::Parser;

/// Expands `tile!`.
pub(crate) fn tile(input: TokenStream) -> TokenStream {
    match parse::content.parse2(input) {
        Ok(Content::Group(group)) => expand::group(&group),
        Ok(Content::Asks { path, header, rest }) => {
            quote!(#path! { { ::azulejo::__private::tile_step } { { #header } { #rest } } })
        }
        Ok(Content::Forms { vis, name, tokens }) => {
            shared::handing_on(&name, matches!(vis, Visibility::Public(_)), tokens)
        }
        Err(error) => {
            // A group without tiles in its place, so that the set it belongs to is not reported as well.
            let (vis, name) = (syn::Visibility::Inherited, Ident::new("unread", Span::call_site()));
            let empty = expand::group(&ast::Group { vis, name, tiles: Vec::new() });
            let error = error.into_compile_error();
            quote!(#error #empty)
        }
    }
}

/// Goes on with `tile!` when shared forms have been told: `{ { header } { rows } } { forms }`.
pub(crate) fn told(input: TokenStream) -> TokenStream {
    match parse::told.parse2(input) {
        Ok(content) => tile(content),
        Err(error) => error.into_compile_error(),
    }
}

/// Expands `tileset!`.
pub(crate) fn tileset(input: TokenStream) -> TokenStream {
    match parse::header.parse2(input) {
        Ok(header) => expand::next(&header, TokenStream::new()),
        Err(error) => error.into_compile_error(),
    }
}

/// Goes on with `tileset!` when a group has handed its patterns on.
pub(crate) fn step(input: TokenStream) -> TokenStream {
    match parse::step.parse2(input) {
        Ok((header, done)) if header.is_collected() => match parse::collected.parse2(done) {
            Ok(parts) => expand::set(&header, parts),
            Err(error) => error.into_compile_error(),
        },
        Ok((header, done)) => expand::next(&header, done),
        Err(error) => error.into_compile_error(),
    }
}
