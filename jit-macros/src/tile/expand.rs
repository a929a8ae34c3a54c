//! Generates the expansions of `tile!` and `tileset!`.

use super::tables::tile_set;
use crate::kept::Kept;
use crate::operators::Row;
use crate::template::shared::{for_elsewhere, handing_on};
use azulejo_core::vocab::Vocabulary;
use azulejo_lang::Errors;
use azulejo_lang::tile::ast::{GivenForm, GivenOperator, SetHeader, SetPart, TileGroup};
use azulejo_lang::tile::{CompiledSet, Emitter, Tile, compile};
use azulejo_lang::token::{Leaf, Token};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Expr;
use syn::parse::{ParseStream, Parser};

/// The emitters of a group, and the macro that passes its patterns on.
pub(super) fn group(group: &TileGroup, kept: &Kept) -> syn::Result<TokenStream> {
    let TileGroup { visibility, name, tiles } = group;
    let visibility = kept.print(visibility);
    let handing_on = format_ident!("__tiles_{}", kept.word(name));
    let emitters = tiles.iter().filter_map(|tile| tile.emitter.as_ref());
    let emitters = emitters.map(|emitter| self::emitter(emitter, kept)).collect::<syn::Result<Vec<_>>>()?;
    let heads = heads(tiles, kept);
    Ok(quote! {
        #[doc = "The emitters of this group's tiles, in order."]
        #visibility static EMIT: &[::azulejo::__private::machine::EmitFn] = &[#(#emitters),*];

        #[doc(hidden)]
        macro_rules! #handing_on {
            ({ $($header:tt)* } { $($done:tt)* } $($path:tt)*) => {
                ::azulejo::__private::tileset_step! {
                    { $($header)* } { $($done)* group { $($path)* } { #(#heads;)* } }
                }
            };
        }
        #[allow(unused_imports, reason = "a group may be in no set yet")]
        pub(crate) use #handing_on as __tiles;
    })
}

/// The macro that passes shared forms on.
pub(super) fn forms(
    is_public: bool,
    name: &Leaf,
    values: &[Vec<Token>],
    tokens: &[Token],
    kept: &Kept,
) -> syn::Result<TokenStream> {
    values.iter().try_for_each(|value| rust(value, kept).map(drop))?;
    Ok(handing_on(&kept.word(name), is_public, kept.print(tokens)))
}

/// The tokens of tiles that are passed on.
fn heads<'a>(tiles: &'a [Tile], kept: &'a Kept) -> impl Iterator<Item = TokenStream> + use<'a> {
    tiles.iter().map(|tile| for_elsewhere(kept.print(&tile.head)))
}

/// A Rust expression as it was written.
fn rust(tokens: &[Token], kept: &Kept) -> syn::Result<TokenStream> {
    let tokens = kept.print(tokens);
    let whole = |input: ParseStream<'_>| {
        input.parse::<Expr>()?;
        if input.is_empty() { Ok(()) } else { Err(input.error("expected `,`")) }
    };
    whole.parse2(tokens.clone())?;
    Ok(tokens)
}

/// An emitter, with its names bound to what they stand for.
fn emitter(emitter: &Emitter, kept: &Kept) -> syn::Result<TokenStream> {
    let Emitter { head, body, operator, form } = emitter;
    let written = rust(&[&head[..], body].concat(), kept)?;
    let mut given = Vec::new();
    if let Some(GivenOperator { name, value }) = operator {
        let (name, value) = (kept.word(name), rust(value, kept)?);
        given.push(quote!(let #name = #value;));
    }
    if let Some(form @ GivenForm { name, tile, inner, value, before, own }) = form {
        let [name, tile, inner] = [name, tile, inner].map(|name| kept.word(name));
        let value = rust(value, kept)?;
        let (first, first_imm, regs, imms) = (before.regs, before.imms, own.regs, own.imms);
        given.push(quote!(let #name = { let #inner = &#tile.from_operand(#first, #first_imm); #value };));
        if form.moves_operands() {
            given.push(quote!(let #tile = &#tile.with_form(#first, #regs, #first_imm, #imms);));
        }
    }
    if given.is_empty() {
        return Ok(written);
    }
    let [head, body] = [head, body].map(|tokens| kept.print(tokens));
    Ok(quote! {
        #head {
            #(#[allow(unused_variables, reason = "not every emitter needs what its names stand for")] #given)*
            #body
        }
    })
}

/// Requests the next part of a set.
pub(super) fn next(header: &SetHeader, done: &[Token], kept: &Kept) -> TokenStream {
    let SetHeader { visibility, name, extends, features, groups, operators, is_partial, .. } = header;
    let (visibility, done, name) = (kept.print(visibility), kept.print(done), kept.word(name));
    let machine = machine(header, kept);
    let partial = is_partial.then(|| quote!(partial;));
    let features = features.iter().map(|feature| kept.word(feature));
    let groups: Vec<TokenStream> = groups.iter().map(|path| kept.print(path)).collect();
    let mut extends = extends.as_ref().map(|(path, base)| (kept.print(path), kept.word(base)));
    // Operators come first, since the patterns of all groups may use them. The set's own tiles precede those of the set it
    // extends, so that they win ties in cost.
    let (mut to, mut path, mut left) = (None, None, &groups[..]);
    let call = if let Some(operators) = operators {
        let operators = kept.print(operators);
        to = Some(quote!({ ::azulejo::__private::tileset_step }));
        path = Some(quote!({ #operators }));
        quote!(#operators::__operators!)
    } else if let Some((first, rest)) = groups.split_first() {
        left = rest;
        path = Some(first.clone());
        quote!(#first::__tiles!)
    } else if let Some((path, base)) = extends.take() {
        let handing_on = format_ident!("__tiles_{base}", span = base.span());
        quote!(#path::#handing_on!)
    } else {
        quote!(::azulejo::__private::tileset_step!)
    };
    let extends = extends.map(|(path, base)| quote!(extends #path::#base;));
    quote! {
        #call {
            #to
            {
                #visibility static #name:
                #extends #partial
                machine = #machine;
                features = #(#features)*;
                groups = #(#left)*;
            }
            { #done }
            #path
        }
    }
}

/// The path of the crate with the emitter and the registers.
fn machine(header: &SetHeader, kept: &Kept) -> TokenStream {
    let own = || quote!(::azulejo::__private::machine);
    header.machine.as_ref().map_or_else(own, |path| kept.print(path))
}

/// The complete set: tables, emitters, and the macro by which another crate extends it.
pub(super) fn set(header: &SetHeader, parts: Vec<SetPart>, kept: &Kept) -> TokenStream {
    let mut emitters = Vec::new();
    let mut extra = Vec::new();
    let mut operators = None;
    for part in &parts {
        let (n_tiles, array) = match part {
            SetPart::Group { path, tiles } => {
                let path = kept.print(path);
                (tiles.len(), quote!(#path::EMIT))
            }
            SetPart::Set { path, name, tiles, .. } => {
                let (path, name) = (kept.print(path), kept.word(name));
                (tiles.len(), quote!(#path::#name.emit))
            }
            SetPart::Operators { path, rows } => {
                match crate::operators::rows.parse2(kept.print(rows)) {
                    Ok(rows) => extra = rows.iter().map(Row::info).collect(),
                    Err(error) => return error.into_compile_error(),
                }
                operators = Some(kept.print(path));
                continue;
            }
        };
        emitters.extend((0..n_tiles).map(|at| {
            let at = Literal::usize_unsuffixed(at);
            quote!(#array[#at])
        }));
    }
    let mut errors = Errors::default();
    let compiled = compile(header, parts, Vocabulary { extra: Vec::leak(extra) }, &mut errors);
    let complaints = kept.complaints(&errors);
    let Some(compiled) = compiled else { return complaints };
    let (visibility, name, machine) =
        (kept.print(&header.visibility), kept.word(&header.name), machine(header, kept));
    let core = quote!(::azulejo::__private::core);
    let set = tile_set(&compiled, &machine, operators.as_ref(), kept);
    if !errors.0.is_empty() {
        return quote! {
            #complaints
            #visibility static #name: #machine::Set = {
                static TABLES: #core::grammar::TileSet = #set;
                #machine::Set { tables: &TABLES, emit: &[], rows: "" }
            };
        };
    }
    let rows: String = compiled.grammar.rules.iter().map(|rule| format!("{rule}\n")).collect();
    let exported = export(header, &compiled, kept);
    quote! {
        #[doc = "The tiles and the tables to choose among them."]
        #visibility static #name: #machine::Set = {
            static TABLES: #core::grammar::TileSet = #set;
            #machine::Set { tables: &TABLES, emit: &[#(#emitters),*], rows: #rows }
        };
        #exported
    }
}

/// The macro by which a set in another crate extends this one.
fn export(header: &SetHeader, compiled: &CompiledSet, kept: &Kept) -> TokenStream {
    // The user's operators are known only in the crate that defines them, so sets with such operators are not exported.
    if header.visibility.len() != 1 || !compiled.grammar.vocab.extra.is_empty() {
        return TokenStream::new();
    }
    let name = kept.word(&header.name);
    let handing_on = format_ident!("__tiles_{name}");
    let features = compiled.grammar.features.iter().map(|feature| format_ident!("{feature}"));
    let heads = heads(&compiled.tiles, kept);
    quote! {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! #handing_on {
            ({ $($header:tt)* } { $($done:tt)* }) => {
                ::azulejo::__private::tileset_step! {
                    { $($header)* }
                    { $($done)* set { $crate; #name } { #(#features)* } { #(#heads;)* } }
                }
            };
        }
    }
}
