//! `tile!` and `tileset!`: rows that define tiles, with tables computed at the user's compile time.
//!
//! A row may stand for several tiles; [`row`] expands it while parsing.
//! `tile!` leaves the emitters in a static, and defines a macro that passes its patterns on. `tileset!` collects the patterns of
//! one group after the other: each time it expands to a call of the next group's macro, which calls [`step`] with the parts
//! collected so far. When all are collected, `azulejo_core::grammar` computes the tables. Tokens keep their spans throughout, so
//! that errors point into the group.

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
            // An empty group takes its place, so that the set that uses it does not report a second error.
            let (vis, name) = (syn::Visibility::Inherited, Ident::new("unread", Span::call_site()));
            let empty = expand::group(&ast::Group { vis, name, tiles: Vec::new() });
            let error = error.into_compile_error();
            quote!(#error #empty)
        }
    }
}

/// Resumes `tile!` with shared forms: `{ { header } { rows } } { forms }`.
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

/// Resumes `tileset!` with the patterns of a group.
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
