//! `tile!` and `tileset!`: rows that define tiles, with tables computed at the user's compile time.
//!
//! [`azulejo_lang::tile`] turns tokens into tiles and sets of them into tables. This module passes the tokens on from macro to
//! macro, and prints the result.
//!
//! `tile!` leaves the emitters in a static, and defines a macro that passes its patterns on. `tileset!` collects the patterns of
//! one group after the other: each time it expands to a call of the next group's macro, which calls [`step`] with the parts
//! collected so far. When all are collected, the tables are computed. Tokens keep their spans throughout, so that errors point
//! into the group.

mod expand;
mod tables;

use crate::kept::Kept;
use azulejo_lang::tile::ast::{Content, TileGroup};
use azulejo_lang::tile::{parse, set, with_forms};
use azulejo_lang::token::{Leaf, Token};
use azulejo_lang::{Error, Place};
use proc_macro2::TokenStream;
use quote::quote;

/// Expands `tile!`.
pub(crate) fn tile(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    content(kept.read(input), &kept)
}

fn content(tokens: Vec<Token>, kept: &Kept) -> TokenStream {
    let expansion = match parse(tokens) {
        Ok(Content::Group(group)) => expand::group(&group, kept),
        Ok(Content::Asks { path, header, rest }) => {
            let [path, header, rest] = [path, header, rest].map(|tokens| kept.print(&tokens));
            Ok(quote!(#path! { { ::azulejo::__private::tile_step } { { #header } { #rest } } }))
        }
        Ok(Content::Forms { is_public, name, values, tokens }) => {
            expand::forms(is_public, &name, &values, &tokens, kept)
        }
        Err(error) => Err(kept.error(&error)),
    };
    expansion.unwrap_or_else(|error| {
        // An empty group takes its place, so that the set that uses it does not report a second error.
        let name = Leaf { text: "unread".into(), place: Place::NOWHERE, number: None };
        let empty = expand::group(&TileGroup { visibility: Vec::new(), name, tiles: Vec::new() }, kept);
        let empty = empty.expect("nothing in it can be wrong");
        let error = error.into_compile_error();
        quote!(#error #empty)
    })
}

/// Resumes `tile!` with shared forms: `{ { header } { rows } } { forms }`.
pub(crate) fn told(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    match with_forms(kept.read(input)) {
        Ok(tokens) => content(tokens, &kept),
        Err(error) => kept.error(&error).into_compile_error(),
    }
}

/// Expands `tileset!`.
pub(crate) fn tileset(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    match set::header(kept.read(input)) {
        Ok(header) => expand::next(&header, &[], &kept),
        Err(error) => kept.error(&error).into_compile_error(),
    }
}

/// Resumes `tileset!` with the patterns of a group.
pub(crate) fn step(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let stepped = || -> Result<TokenStream, Error> {
        let (header, done) = set::step(kept.read(input))?;
        match header.is_collected() {
            true => Ok(expand::set(&header, set::collected(done)?, &kept)),
            false => Ok(expand::next(&header, &done, &kept)),
        }
    };
    stepped().unwrap_or_else(|error| kept.error(&error).into_compile_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::tests::{messages, tokens};

    #[test]
    fn an_emitter_gets_what_its_form_is() {
        let input = "group a; form mem { elem: (idx reg reg $s), 1 => |of| element(of.reg(0), of.imm(0)) }
            for alu in [add: Alu::Add] { _: (alu (const $c) (load mem)) -> reg, 4 => |cx, t| cx.alu(alu, mem, t.imm(1)) }";
        let allowed =
            "#[allow(unused_variables, reason = \"not every emitter needs what its names stand for\")]";
        let expected = format!(
            "|cx, t| {{
                {allowed} let alu = Alu::Add;
                {allowed} let mem = {{ let of = &t.from_operand(0usize, 1usize); element(of.reg(0), of.imm(0)) }};
                {allowed} let t = &t.with_form(0usize, 2usize, 1usize, 1usize);
                cx.alu(alu, mem, t.imm(1))
            }}"
        );
        let expansion = tile(tokens(input)).to_string();
        assert!(expansion.contains(&tokens(&expected).to_string()), "{expansion}");
    }

    #[test]
    fn rust_in_rows_is_checked() {
        let cases = [
            (
                "group a; add: (add reg reg) -> reg, 2 => |cx, t| cx.",
                "unexpected end of input, expected identifier or integer",
            ),
            ("group a; a: (add reg reg) -> reg, 2 => |cx, t| {} for mem { }", "expected `,`"),
            (
                "group a; for alu in [add: +] { _: (alu reg reg) -> reg, 2 => |cx, t| {} }",
                "expected an expression",
            ),
            ("forms a; form mem { base: reg => |t| +, }", "expected an expression"),
        ];
        for (input, expected) in cases {
            let found = messages(tile(tokens(input)));
            assert!(found.len() == 1 && found[0].contains(expected), "{input}: {found:?}");
        }
    }

    #[test]
    fn forms_are_asked_for_and_told() {
        let asks = tile(tokens(
            "pub group a; use super::near; use super::far; load: (load mem) -> reg, 4 => |cx, t| {}",
        ));
        let expected = "super::near! { { ::azulejo::__private::tile_step } {
            { pub group a; } { use super::far; load: (load mem) -> reg, 4 => |cx, t| {} }
        } }";
        assert_eq!(asks.to_string(), tokens(expected).to_string());
        // A further `use` is requested next, and the request carries the forms known so far.
        let mem = "form mem { ofs: (addr reg ~o) => |of| at(of.imm(0)), }";
        let rows = "load: (load mem) -> reg, 4 => |cx, t| {}";
        let next =
            told(tokens(&format!("{{ {{ pub group a; }} {{ use super::far; {rows} }} }} {{ {mem} }}")));
        let expected = format!(
            "super::far! {{ {{ ::azulejo::__private::tile_step }} {{ {{ pub group a; {{ {mem} }} }} {{ {rows} }} }} }}"
        );
        assert_eq!(next.to_string(), tokens(&expected).to_string());
        let told = told(tokens(&format!("{{ {{ group a; }} {{ {rows} }} }} {{ {mem} }}")));
        assert!(told.to_string().contains("load_ofs : (load (addr reg ~ o)) -> reg , 4"), "{told}");
        let forms = tile(tokens(&format!("pub forms address; {}", mem.replace('~', "$"))));
        assert_eq!(messages(forms.clone()), Vec::<String>::new());
        assert!(forms.to_string().contains("use __azulejo_macros_address as address"), "{forms}");
    }

    #[test]
    fn patterns_are_passed_on() {
        let group =
            tile(tokens("group a; add: (add.$t:int reg (const $c:imm32)) -> reg, 1 => |cx, t| cx.add(t)"));
        let head = tokens("add: (add.~t:int reg (const ~c:imm32)) -> reg, 1;").to_string();
        assert!(group.to_string().contains(&head), "{group}");
        let set = step(tokens(&format!(
            "{{ static SET: groups = crate::b; partial; }} {{ group {{ crate::a }} {{ {head} }} }}"
        )));
        assert!(set.to_string().starts_with("crate :: b :: __tiles !"), "{set}");
        let mistaken =
            step(tokens("{ static SET: partial; } { group { crate::a } { add: (ad reg reg) -> reg, 1; } }"));
        assert_eq!(messages(mistaken), ["there is no operator `ad`, did you mean `add`?"]);
        let set =
            step(tokens(&format!("{{ static SET: partial; }} {{ group {{ crate::a }} {{ {head} }} }}")));
        assert_eq!(messages(set.clone()), Vec::<String>::new());
        assert!(set.to_string().contains("crate :: a :: EMIT [0]"), "{set}");
    }
}
