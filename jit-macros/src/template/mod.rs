//! `template!`: the meanings of opcodes.
//!
//! [`azulejo_lang::template`] compiles the rows. This module requests the descriptions that the rows need, and prints the result.
//!
//! In: rows `Enum::Opcode => expression`, macros, kinds, and (by way of the enum's own macro) the description of the
//! opcodes. Out: for each row an implementation of `Semantics`: the static template for the compilers, and a
//! Rust function for the interpreter. Every row is checked, so that all errors are reported together.

pub(crate) mod fields;
mod interpret;
mod kinds;
mod natives;
mod print;
mod quicken;
pub(crate) mod shared;

use crate::kept::Kept;
use azulejo_core::ir::bytecode::OperandKind;
use azulejo_core::vocab::{Scalar, Vocabulary};
use azulejo_lang::reader::Reader;
use azulejo_lang::template::aliasing::Warning;
use azulejo_lang::template::ast::{Opcode, Operand};
use azulejo_lang::template::{Kinds, Row, Source, circles, compile};
use azulejo_lang::token::{Delimiter, Token, text};
use azulejo_lang::words::did_you_mean;
use azulejo_lang::{Error, Errors, Place};
use proc_macro2::{Group, Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::Parser;

/// Expands `template!`: requests shared macros, then the enum's opcodes.
pub(crate) fn template(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let tokens = kept.read(input.clone());
    match shared::first_use(tokens.clone()) {
        Ok(None) => {}
        Ok(Some((path, rest))) => {
            let (path, rest) = (kept.print(&path), kept.print(&rest));
            return quote! { #path! { { ::azulejo::__private::macros::__template_macros } { #rest } } };
        }
        Err(error) => return kept.error(&error).into_compile_error(),
    }
    if let Some(path) = fields::unknown(tokens.clone()) {
        let path = kept.print(&path);
        // Where there is no such macro, rustc says that. The second item says why.
        return quote! {
            #path! { [::azulejo::__private::macros::__template_fields] { { #path } { #input } } }
            const _: () = <#path as ::azulejo::__private::core::ir::bytecode::HasFields>::HAS;
        };
    }
    let mut errors = Errors::default();
    let source = Source::read(tokens, &mut errors);
    // One row suffices to know the enum. Errors are then reported in the next step, together with all others.
    let Some(Row { path, .. }) = source.rows.first() else {
        return kept.complaints(&errors);
    };
    let path = kept.print(path);
    quote! { #path! { [::azulejo::__private::macros::__template] { #input } } }
}

/// The error for a user who calls a macro that is meant for other macros only.
fn not_for_users() -> Error {
    Error::new(Place::NOWHERE, "this is called by `template!` only")
}

/// Resumes `template!` with the description of the enum.
pub(crate) fn described(input: TokenStream) -> TokenStream {
    let kept = Kept::default();
    let mut reader = Reader::new(kept.read(input.clone()));
    let (Some(description), Some(rows)) = (reader.group(Delimiter::Brace), reader.group(Delimiter::Brace))
    else {
        return kept.error(&not_for_users()).into_compile_error();
    };
    let Some(description) = description_of(description.tokens, &kept) else {
        return kept.error(&not_for_users()).into_compile_error();
    };
    let operators = match (&description.operators, reader.group(Delimiter::Brace)) {
        (Some(_), Some(rows)) => match crate::operators::rows.parse2(kept.print(&rows.tokens)) {
            Ok(rows) => rows,
            Err(error) => return error.into_compile_error(),
        },
        // Only the module that defines the operators knows them.
        (Some(path), None) => {
            return quote! { #path::__operators! { { ::azulejo::__private::macros::__template } #input } };
        }
        (None, _) => Vec::new(),
    };
    let extra = operators.iter().map(crate::operators::Row::info).collect::<Vec<_>>();
    let vocab = Vocabulary { extra: Vec::leak(extra) };
    let mut errors = Errors::default();
    let source = Source::read(rows.tokens, &mut errors);
    let mut output = TokenStream::new();
    let circles = circles(&source.macros);
    let set = match circles.is_empty() {
        true => Kinds::check(&source, vocab, &mut errors),
        false => Kinds::default(),
    };
    let mut rows =
        Rows { description: &description, vocab, source: &source, set: &set, kept: &kept, kinds: None };
    let paths: Vec<String> = source.rows.iter().map(|row| text(&row.path)).collect();
    for (at, row) in source.rows.iter().enumerate() {
        if paths[at] != paths[0] {
            errors.add(row.name.place, "one `template!` is about one enum; write a second one");
            continue;
        }
        let name = &row.name.text;
        if source.rows[..at].iter().any(|other| other.name.text == *name) {
            errors.add(row.name.place, format!("`{name}` has a template already"));
            continue;
        }
        let mut is_wrong = !circles.is_empty();
        let own = std::iter::once((row.clone(), None));
        for (row, form_of) in own.chain(description.forms(row, &source.rows)) {
            // What is wrong in a row is told once, and not for each form that shares it.
            let expanded = if is_wrong { Err(None) } else { rows.expand(&row, form_of).map_err(Some) };
            output.extend(expanded.unwrap_or_else(|error| {
                is_wrong = true;
                errors.0.extend(error);
                placeholder(&row, &description, &kept)
            }));
        }
    }
    if let Some(name) = &rows.kinds {
        output.extend(kinds::item(name, &set, &kept));
    }
    errors.0.extend(circles);
    output.extend(kept.complaints(&errors));
    output
}

/// The description of an enum, from the enum's macro.
struct Description {
    /// The path of the operators that the enum was derived with.
    operators: Option<TokenStream>,
    opcodes: Vec<Opcode>,
    /// For each opcode the operands' fields, for use in patterns.
    members: Vec<Vec<TokenStream>>,
}

impl Description {
    fn number(&self, row: &Row) -> Option<usize> {
        self.opcodes.iter().position(|opcode| opcode.name == row.name.text)
    }

    /// The row once more for each form of its opcode that has no row of its own, with the opcode.
    fn forms<'a>(&'a self, row: &'a Row, rows: &'a [Row]) -> impl Iterator<Item = (Row, Option<&'a str>)> {
        let is_form = |opcode: &&Opcode| opcode.form_of.as_ref() == Some(&row.name.text);
        let shares = |opcode: &&Opcode| !rows.iter().any(|other| other.name.text == opcode.name);
        let named = |opcode: &Opcode| {
            let mut form = row.clone();
            form.name = row.name.renamed(&opcode.name);
            (form, Some(row.name.text.as_str()))
        };
        self.opcodes.iter().filter(is_form).filter(shares).map(named)
    }
}

/// Parses `enum Op; operators { crate::my_ops } opcode Add struct { dst: Out i64, cache: Site 4 "Case", … } …`.
fn description_of(tokens: Vec<Token>, kept: &Kept) -> Option<Description> {
    let mut reader = Reader::new(tokens);
    reader.next()?;
    reader.next()?;
    reader.next()?;
    let mut operators = None;
    if reader.takes_word("operators") {
        operators = Some(kept.print(&reader.group(Delimiter::Brace)?.tokens));
    }
    let (mut opcodes, mut members_of_all) = (Vec::new(), Vec::new());
    while reader.takes_word("opcode") {
        let Token::Word(name) = reader.next()? else { return None };
        reader.next()?;
        let mut fields = Reader::new(reader.group(Delimiter::Brace)?.tokens);
        let (mut operands, mut members) = (Vec::new(), Vec::new());
        while !fields.is_empty() {
            let member = fields.next()?;
            fields.next()?;
            let kind = OperandKind::from_name(&fields.next()?.to_string())?;
            let (mut scalar, mut capacity, mut case) = (None, 0, String::new());
            match fields.peek() {
                Some(Token::Word(_)) => scalar = Scalar::from_name(&fields.next()?.to_string()),
                Some(Token::Literal(_)) => {
                    capacity = fields.next()?.to_string().parse().ok()?;
                    case = fields.next()?.to_string();
                }
                _ => {}
            }
            fields.takes_punct(',');
            operands.push(Operand { name: member.to_string(), kind, scalar, capacity, case });
            members.push(kept.print(&[member]));
        }
        let form_of = match reader.takes_word("of") {
            true => Some(reader.next()?.to_string()),
            false => None,
        };
        opcodes.push(Opcode { name: name.text, place: Place::NOWHERE, operands, form_of });
        members_of_all.push(members);
    }
    Some(Description { operators, opcodes, members: members_of_all })
}

/// A stand-in for the meaning of an opcode whose row is wrong, so that it is not reported as missing.
fn placeholder(row: &Row, description: &Description, kept: &Kept) -> TokenStream {
    let path = kept.print(&row.path);
    let Some(number) = description.number(row) else {
        return TokenStream::new();
    };
    let core = quote!(::azulejo::__private::core::ir);
    let span = natives::shown_at(kept.span(row.name.place));
    let implementation = quote_spanned! {span=>
        unsafe impl #core::bytecode::Semantics<#number> for #path
    };
    quote! {
        // SAFETY: it is never run, because the crate does not compile.
        #implementation {
            const TEMPLATE: &'static #core::template::Template =
                &#core::template::Template::plain(&[], 1);

            unsafe fn run(
                _: *const #path,
                _: &#core::bytecode::Machine<'_, <#path as #core::bytecode::Bytecode>::Context>,
                _: u32,
                _: *mut u64,
            ) -> #core::bytecode::Flow {
                #core::bytecode::Flow::Next
            }
        }
    }
}

/// The warnings of a template, as items at which rustc warns.
fn warnings(warnings: &[Warning], opcode: &Opcode, kept: &Kept) -> TokenStream {
    let warning = |warning: &Warning| {
        let (note, span) = (warning.message(opcode), natives::shown_at(kept.span(warning.place)));
        quote_spanned! {span=>
            const _: () = {
                #[deprecated(note = #note)]
                #[allow(non_upper_case_globals, reason = "the warning names it")]
                const input_read_after_output: () = ();
                input_read_after_output
            };
        }
    };
    warnings.iter().map(warning).collect()
}

/// What the rows of a `template!` have in common.
struct Rows<'a> {
    description: &'a Description,
    vocab: Vocabulary,
    source: &'a Source,
    /// The kinds of values.
    set: &'a Kinds,
    kept: &'a Kept,
    /// The name of the item with the kinds, if a row needs it.
    kinds: Option<Ident>,
}

impl Rows<'_> {
    /// What a row becomes: that of its own opcode, or that of another one of which its opcode is a form.
    fn expand(&mut self, row: &Row, form_of: Option<&str>) -> Result<TokenStream, Error> {
        let Rows { description, vocab, source, set, kept, .. } = *self;
        let Description { operators, opcodes, members } = description;
        let Some(number) = description.number(row) else {
            let hint = did_you_mean(&row.name.text, opcodes.iter().map(|opcode| opcode.name.as_str()));
            let message = format!("the enum has no opcode `{}`{hint}", row.name.text);
            return Err(Error::new(row.name.place, message));
        };
        let members = &members[number];
        let opcode = Opcode { place: row.name.place, ..opcodes[number].clone() };
        let in_form = |error: Error| match form_of {
            None => error,
            Some(of) => {
                let form = &opcode.name;
                let message =
                    format!("{} (in `{form}`, a form of `{of}` that shares its row)", error.message);
                Error::new(error.place, message)
            }
        };
        // The errors of a row that did not parse were reported already.
        let Some(compiled) = compile(row, &opcode, opcodes, vocab, source, set).map_err(in_form)? else {
            return Ok(placeholder(row, description, kept));
        };
        let (path, name) = (kept.print(&row.path), kept.word(&row.name));
        // With a constant a row has no more reads of registers than with a register, and its warnings are told there.
        let warnings = form_of.is_none().then(|| warnings(&compiled.warnings, &opcode, kept));
        let natives = natives::items(&compiled.natives, &path, kept);
        let sites =
            opcode.operands.iter().enumerate().filter(|(_, operand)| operand.kind == OperandKind::Site);
        let sites = sites.map(|(at, _)| natives::site_item(&path, number, at));
        if self.kinds.is_none() && compiled.template.uses_kinds() {
            self.kinds = Some(kinds::name(&row.path, number));
        }
        let template = print::template(&compiled.template, self.kinds.as_ref(), &source.regions, kept);
        let op = (&path, number, &opcode, &members[..]);
        let arm = interpret::interpret(op, vocab, operators.as_ref(), &compiled.body, kept);
        let fields = members.iter().enumerate().map(|(at, member)| {
            let local = format_ident!("operand{at}");
            quote!(#member: #local)
        });
        // All tokens are located at the row's name, so that a second row for the opcode is reported there. But they have this macro's
        // hygiene, so that their `unsafe` does not count as the crate's, which may forbid unsafe code.
        let span = natives::shown_at(kept.span(row.name.place));
        let mut content = Group::new(
            proc_macro2::Delimiter::Brace,
            quote! {
                    const TEMPLATE: &'static __template::Template = &#template;

                    // Without optimization an interpreter with all arms inlined into one function takes hundreds of KiB of stack.
                    #[cfg_attr(not(debug_assertions), inline(always))]
                    unsafe fn run(
                        op: *const #path,
                        machine: &__bytecode::Machine<'_, <#path as __bytecode::Bytecode>::Context>,
                        at: u32,
                        stack: *mut u64,
                    ) -> __bytecode::Flow {
                        unsafe {
                            let #path::#name { #(#fields),* } = *op else { ::core::hint::unreachable_unchecked() };
                            #arm
                        }
                    }
            },
        );
        content.set_span(span);
        let implementation = quote_spanned! {span=>
            unsafe impl __bytecode::Semantics<#number> for #path #content
        };
        // Only the row's own word `unsafe` belongs to the crate.
        let said = row.is_unsafe.map(|said| quote_spanned!(kept.span(said)=> const _: () = unsafe {};));
        Ok(quote! {
            #warnings
            #[allow(
                unused_imports, unused_variables, unused_assignments, unused_unsafe, unused_braces, unused_parens,
                unreachable_code, clippy::all, clippy::undocumented_unsafe_blocks,
                reason = "written by a program, from a template that says where it is unsafe"
            )]
            const _: () = {
                use ::azulejo::__private::core::ir::{
                    bytecode as __bytecode, graph as __graph, list as __list, regions as __regions, sites as __sites,
                };
                use ::azulejo::__private::core::ir::template as __template;
                use ::azulejo::__private::core::pass::build as __build;
                use ::azulejo::__private::core::{native as __native, vocab as __vocab};
                use ::azulejo::__private::core::vocab::meaning as __meaning;
                #(#sites)*
                #natives
                #said
                // SAFETY: both are generated from the same checked template.
                #implementation
            };
        })
    }
}
