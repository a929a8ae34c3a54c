//! `template_macros!`: macros of the template language that several `template!`s share.
//!
//! In: `pub name { macro ^a (,x) … }`. Out: a Rust macro of that name that passes the definitions on, so that importing the
//! name imports the macros. `use path;` inside `template!` requests them. A path `crate::…` in a macro refers to the
//! crate that defines the macro, wherever it is used.

use crate::kept::Kept;
use azulejo_lang::reader::Reader;
use azulejo_lang::template::Source;
use azulejo_lang::token::Delimiter;
use azulejo_lang::{Error, Errors, Token};
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};

/// Expands `template_macros!`.
pub(crate) fn template_macros(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let mut reader = Reader::new(kept.read(input));
    let mut output = TokenStream::new();
    while !reader.is_empty() {
        match set(&mut reader, &kept) {
            Ok(tokens) => output.extend(tokens),
            Err(error) => {
                output.extend(kept.error(&error).into_compile_error());
                break;
            }
        }
    }
    output
}

/// Parses `pub name { … }`.
fn set(reader: &mut Reader, kept: &Kept) -> Result<TokenStream, Error> {
    const USAGE: &str = "shared macros are `pub name { macro ^name (,a ,b) body }`";
    let is_public = reader.takes_word("pub");
    if is_public && reader.group(Delimiter::Parenthesis).is_some() {
        return Err(Error::new(reader.last(), "shared macros are `pub` or private to their crate"));
    }
    let Some(Token::Word(name)) = reader.next() else { return Err(Error::new(reader.last(), USAGE)) };
    let Some(body) = reader.group(Delimiter::Brace) else { return Err(Error::new(reader.last(), USAGE)) };
    let mut errors = Errors::default();
    let Source { rows, .. } = Source::read(body.tokens.clone(), &mut errors);
    if let Some(row) = rows.first() {
        errors.add(
            row.name.place,
            "only macros, kinds and regions are shared; what opcodes mean stands in `template!`",
        );
    }
    if !errors.0.is_empty() {
        return Ok(kept.complaints(&errors));
    }
    Ok(handing_on(&kept.word(&name), is_public, kept.print(&body.tokens)))
}

/// A Rust macro of this name that passes tokens on to the macro that the caller names:
/// `name! { { path of that macro } further input }`.
pub(crate) fn handing_on(name: &Ident, is_public: bool, tokens: TokenStream) -> TokenStream {
    let tokens = for_elsewhere(tokens);
    let hidden = format_ident!("__azulejo_macros_{}", name);
    let (export, vis) = match is_public {
        true => (quote!(#[macro_export]), quote!(pub)),
        false => (quote!(), quote!(pub(crate))),
    };
    quote! {
        #[doc(hidden)]
        #export
        macro_rules! #hidden {
            ({ $($azulejo_to:tt)* } $azulejo_rows:tt) => { $($azulejo_to)*! { $azulejo_rows { #tokens } } };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "others may ask for them")]
        #vis use #hidden as #name;
    }
}

/// Makes tokens fit for the result of a Rust macro: `$` becomes `~`, since it has a meaning there, and `crate` becomes `$crate`.
pub(crate) fn for_elsewhere(tokens: TokenStream) -> TokenStream {
    let mut output = TokenStream::new();
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                let mut tilde = Punct::new('~', punct.spacing());
                tilde.set_span(punct.span());
                output.extend([TokenTree::Punct(tilde)]);
            }
            TokenTree::Ident(word) if word == "crate" => {
                let mut dollar = Punct::new('$', Spacing::Alone);
                dollar.set_span(word.span());
                output.extend([TokenTree::Punct(dollar), TokenTree::Ident(word)]);
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), for_elsewhere(group.stream()));
                inner.set_span(group.span());
                output.extend(inner.into_token_stream());
            }
            token => output.extend([token]),
        }
    }
    output
}

/// A path, and the tokens after it.
type Use = (Vec<Token>, Vec<Token>);

/// Splits the first `use path;` off a template's tokens: the path, and the remaining tokens.
pub(super) fn first_use(tokens: Vec<Token>) -> Result<Option<Use>, Error> {
    let mut reader = Reader::new(tokens);
    if !reader.takes_word("use") {
        return Ok(None);
    }
    let path = reader.path();
    match (path, reader.takes_punct(';')) {
        (Some((path, _)), true) => Ok(Some((path, reader.rest()))),
        _ => Err(Error::new(reader.last(), "shared macros are asked for by `use path;`")),
    }
}

/// Resumes `template!` with the macros of a set: `{ remaining tokens } { macros }`.
pub(crate) fn with_macros(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let mut reader = Reader::new(kept.read(input));
    match (reader.group(Delimiter::Brace), reader.group(Delimiter::Brace)) {
        (Some(rows), Some(macros)) => {
            // The `use`s of other sets stay in front.
            let (mut uses, mut rest) = (TokenStream::new(), rows.tokens);
            while let Ok(Some((path, left))) = first_use(rest.clone()) {
                let (word, path) = (Ident::new("use", Span::call_site()), kept.print(&path));
                uses.extend(quote!(#word #path;));
                rest = left;
            }
            let (macros, rest) = (kept.print(&macros.tokens), kept.print(&rest));
            super::template(quote!(#uses #macros #rest))
        }
        _ => kept.error(&super::not_for_users()).into_compile_error(),
    }
}
