//! `template!`: what opcodes mean.
//!
//! In: rows `Enum::Opcode => expression`, macros, and (by way of the enum's own macro) the description of the
//! opcodes. Out: for each row an implementation of `Semantics`: the static template for the compilers, and a
//! Rust function for the interpreter. Every row is looked at, so that all that is wrong is told at once.

mod aliasing;
mod ast;
mod calls;
mod check;
mod control;
pub(crate) mod fields;
mod interpret;
mod lower;
mod macros;
mod natives;
pub(crate) mod shared;
mod signs;
mod values;
mod within;
mod words;

use crate::sexpr::{Reader, Sexpr};
use ast::{Opcode, Operand};
use azulejo_core::vocab::{Scalar, Vocabulary};
use check::Checker;
use fields::Structs;
use macros::Macro;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::collections::HashMap;
use syn::Error;
use syn::parse::Parser;

/// `Enum::Opcode! => unsafe expression`
struct Row {
    path: TokenStream,
    name: Ident,
    stores_itself: bool,
    /// Where it says `unsafe`, if it does.
    is_unsafe: Option<Span>,
    /// Nothing if it could not be read.
    body: Option<Sexpr>,
}

/// Rows and macros as they are written.
#[derive(Default)]
struct Source {
    /// What structs have told of their fields.
    structs: Structs,
    rows: Vec<Row>,
    macros: HashMap<String, Macro>,
}

/// Expands `template!`: asks for shared macros, then the enum for its opcodes.
pub(crate) fn template(input: TokenStream) -> TokenStream {
    match shared::first_use(input.clone()) {
        Ok(None) => {}
        Ok(Some((path, rest))) => {
            return quote! { #path! { { ::azulejo::__private::macros::__template_macros } { #rest } } };
        }
        Err(error) => return error.into_compile_error(),
    }
    if let Some(path) = fields::unknown(input.clone()) {
        return quote! { #path! { [::azulejo::__private::macros::__template_fields] { { #path } { #input } } } };
    }
    let mut errors = Vec::new();
    let source = read(input.clone(), &mut errors);
    // With a row the enum is known, and what is wrong is told with all that is wrong in its light.
    let Some(Row { path, .. }) = source.rows.first() else {
        return errors.iter().map(Error::to_compile_error).collect();
    };
    quote! { #path! { [::azulejo::__private::macros::__template] { #input } } }
}

/// Goes on with `template!` when the enum has told its opcodes.
pub(crate) fn described(input: TokenStream) -> TokenStream {
    let mut reader = Reader::new(input.clone());
    let (Some(description), Some(rows)) = (reader.group(Delimiter::Brace), reader.group(Delimiter::Brace))
    else {
        return Error::new(Span::call_site(), "this is called by `template!` only").into_compile_error();
    };
    let Some(description) = description_of(description.stream()) else {
        return Error::new(Span::call_site(), "this is called by `template!` only").into_compile_error();
    };
    let operators = match (&description.operators, reader.group(Delimiter::Brace)) {
        (Some(_), Some(rows)) => match crate::operators::rows.parse2(rows.stream()) {
            Ok(rows) => rows,
            Err(error) => return error.into_compile_error(),
        },
        // The operators are known to the module they are defined in.
        (Some(path), None) => {
            return quote! { #path::__operators! { { ::azulejo::__private::macros::__template } #input } };
        }
        (None, _) => Vec::new(),
    };
    let extra = operators.iter().map(crate::operators::Row::info).collect::<Vec<_>>();
    let vocab = Vocabulary { extra: Vec::leak(extra) };
    let mut errors = Vec::new();
    let source = read(rows.stream(), &mut errors);
    let mut output = TokenStream::new();
    let circles = macros::circles(&source.macros);
    let paths: Vec<String> = source.rows.iter().map(|row| row.path.to_string()).collect();
    for (row, path) in std::iter::zip(&source.rows, &paths) {
        if *path != paths[0] {
            errors.push(Error::new(row.name.span(), "one `template!` is about one enum; write a second one"));
            continue;
        }
        if let Some(other) = source
            .rows
            .iter()
            .take_while(|other| !std::ptr::eq(*other, row))
            .find(|other| other.name == row.name)
        {
            errors.push(Error::new(row.name.span(), format!("`{}` has a template already", other.name)));
            continue;
        }
        let expanded = match circles.is_empty() {
            true => expand(row, &description, vocab, &source),
            false => Ok(placeholder(row, &description)),
        };
        match expanded {
            Ok(tokens) => output.extend(tokens),
            Err(error) => {
                errors.push(error);
                output.extend(placeholder(row, &description));
            }
        }
    }
    output.extend(errors.iter().chain(&circles).map(Error::to_compile_error));
    output
}

fn read(tokens: TokenStream, errors: &mut Vec<Error>) -> Source {
    let mut reader = Reader::new(tokens);
    let mut source = Source { structs: Structs::read(&mut reader), ..Source::default() };
    while !reader.is_empty() {
        let item = if reader.takes_ident("use") {
            Err(Error::new(reader.last(), "`use` of shared macros stands before everything else"))
        } else if reader.takes_ident("macro") {
            read_macro(&mut reader, &mut source)
        } else {
            read_row(&mut reader, &mut source)
        };
        if let Err(error) = item {
            errors.push(error);
            // The rest of a row that cannot be read is passed over.
            reader.skip_until(starts_row);
        }
    }
    source
}

/// Whether these tokens are `Enum::Opcode =>`, with or without a `!`, or a macro.
fn starts_row(tokens: &[TokenTree]) -> bool {
    let mut reader = Reader::new(tokens.iter().take(12).cloned().collect());
    if reader.takes_ident("macro") {
        return true;
    }
    let is_path = reader.path().is_some_and(|(_, idents)| idents.len() > 1);
    reader.takes_punct('!');
    is_path && reader.takes_arrow()
}

fn read_row(reader: &mut Reader, source: &mut Source) -> Result<(), Error> {
    if reader.takes_punct(',') || reader.takes_punct(';') {
        return Err(Error::new(reader.last(), "nothing stands between rows: leave this out"));
    }
    let path = reader.path().and_then(|(_, mut idents)| Some((idents.pop()?, idents)));
    let Some((name, idents)) = path else {
        reader.next();
        return Err(Error::new(reader.last(), "expected a row, `Enum::Opcode => …`, or a `macro ^name`"));
    };
    if idents.is_empty() {
        return Err(Error::new(name.span(), format!("name the enum too: `Enum::{name} => …`")));
    }
    let path = quote!(#(#idents)::*);
    let stores_itself = reader.takes_punct('!');
    let mut row = Row { path, name, stores_itself, is_unsafe: None, body: None };
    let body = if reader.takes_arrow() {
        row.is_unsafe = reader.takes_ident("unsafe").then(|| reader.last());
        reader.sexpr()
    } else {
        let message = format!("`=>` and what `{}` means is missing behind this", row.name);
        Err(Error::new(reader.last(), message))
    };
    let body = body.map(|body| row.body = Some(body));
    source.rows.push(row);
    body
}

/// `macro ^name (,a ,b) body`
fn read_macro(reader: &mut Reader, source: &mut Source) -> Result<(), Error> {
    let usage = "a macro is `macro ^name (,a ,b) body`";
    let Sexpr::Macro(name, span) = reader.sexpr()? else { return Err(Error::new(reader.last(), usage)) };
    let Sexpr::List(items, place) = reader.sexpr()? else { return Err(Error::new(reader.last(), usage)) };
    let mut params = Vec::new();
    for item in &items {
        match item {
            Sexpr::Param(param, _) if !params.contains(param) => params.push(param.clone()),
            _ => return Err(Error::new(place, usage)),
        }
    }
    let body = reader.sexpr()?;
    if source.macros.insert(name.clone(), Macro { params, body }).is_some() {
        return Err(Error::new(span, format!("there is a macro `^{name}` already")));
    }
    Ok(())
}

/// What the enum's macro tells.
struct Description {
    /// The module of the operators it was derived with.
    operators: Option<TokenStream>,
    opcodes: Vec<Opcode>,
}

/// Reads `enum Op; operators { crate::my_ops } opcode Add struct { dst: Out i64, … } …`.
fn description_of(tokens: TokenStream) -> Option<Description> {
    let mut reader = Reader::new(tokens);
    reader.next()?;
    reader.next()?;
    reader.next()?;
    let mut operators = None;
    if reader.takes_ident("operators") {
        operators = Some(reader.group(Delimiter::Brace)?.stream());
    }
    let mut opcodes = Vec::new();
    while reader.takes_ident("opcode") {
        let TokenTree::Ident(name) = reader.next()? else { return None };
        reader.next()?;
        let mut fields = Reader::new(reader.group(Delimiter::Brace)?.stream());
        let mut operands = Vec::new();
        while !fields.is_empty() {
            let member = fields.next()?;
            fields.next()?;
            let kind = fields.next()?.to_string();
            let scalar = match fields.peek() {
                Some(TokenTree::Ident(_)) => Scalar::from_name(&fields.next()?.to_string()),
                _ => None,
            };
            fields.takes_punct(',');
            operands.push(Operand { name: member.to_string(), member: member.into(), kind, scalar });
        }
        opcodes.push(Opcode { name, operands });
    }
    Some(Description { operators, opcodes })
}

/// Stands for the meaning of an opcode whose row is wrong, so that nobody complains that it has none.
fn placeholder(row: &Row, description: &Description) -> TokenStream {
    let (path, name) = (&row.path, &row.name);
    let Some(number) = description.opcodes.iter().position(|opcode| opcode.name == *name) else {
        return TokenStream::new();
    };
    let core = quote!(::azulejo::__private::core::ir);
    let span = natives::shown_at(name.span());
    let implementation = quote_spanned! {span=>
        unsafe impl #core::bytecode::Semantics<#number> for #path
    };
    quote! {
        // SAFETY: it is never run, because the crate does not compile.
        #implementation {
            const TEMPLATE: &'static #core::template::Template =
                &#core::template::Template { steps: &[], blocks: 1, guarded: ::core::option::Option::None };

            unsafe fn run(
                _: &#path,
                _: &#core::bytecode::Machine<'_, <#path as #core::bytecode::Bytecode>::Context>,
                _: u32,
                _: *mut u64,
            ) -> #core::bytecode::Flow {
                #core::bytecode::Flow::Next
            }
        }
    }
}

fn expand(
    row: &Row,
    description: &Description,
    vocab: Vocabulary,
    source: &Source,
) -> Result<TokenStream, Error> {
    let Description { operators, opcodes } = description;
    let Some(number) = opcodes.iter().position(|opcode| opcode.name == row.name) else {
        let names = opcodes.iter().map(|opcode| opcode.name.to_string()).collect::<Vec<_>>();
        let hint = words::closest(&row.name.to_string(), names.iter().map(String::as_str));
        return Err(Error::new(row.name.span(), format!("the enum has no opcode `{}`{hint}", row.name)));
    };
    let opcode = Opcode { name: row.name.clone(), ..opcodes[number].clone() };
    // What is wrong with a row that could not be read has been told.
    let Some(body) = &row.body else { return Ok(placeholder(row, description)) };
    let mut checker = Checker::new(&opcode, vocab, source, row.is_unsafe.is_some(), row.stores_itself);
    let body = checker
        .template(body)
        .map_err(|error| checker.in_row(error, &format!("{}::{}", row.path, row.name)))?;
    let warnings = aliasing::warnings(&opcode, &body);
    let natives = natives::items(&checker.natives, &row.path);
    let template = lower::lower(&body, &opcode.operands);
    let arm = interpret::interpret(&row.path, &opcode, vocab, operators.as_ref(), &body);
    let (path, name) = (&row.path, &row.name);
    let fields = opcode.operands.iter().enumerate().map(|(at, operand)| {
        let (member, local) = (&operand.member, format_ident!("operand{at}"));
        quote!(#member: #local)
    });
    // All of it at the row's name, so that a second row for the opcode is reported there. But it is this macro's: what is
    // `unsafe` in it is none of the crate's, which may forbid that.
    let span = natives::shown_at(name.span());
    let mut content = Group::new(
        Delimiter::Brace,
        quote! {
                const TEMPLATE: &'static __template::Template = &#template;

                // Without optimization an interpreter with all of its arms in one function takes hundreds of KiB of stack.
                #[cfg_attr(not(debug_assertions), inline(always))]
                unsafe fn run(
                    op: &#path,
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
    // What is the crate's is the word that the row says.
    let said = row.is_unsafe.map(|said| quote_spanned!(said=> const _: () = unsafe {};));
    Ok(quote! {
        #warnings
        #[allow(
            unused_imports, unused_variables, unused_assignments, unused_unsafe, unused_braces, unused_parens,
            unreachable_code, clippy::all, clippy::undocumented_unsafe_blocks,
            reason = "written by a program, from a template that says where it is unsafe"
        )]
        const _: () = {
            use ::azulejo::__private::core::ir::{bytecode as __bytecode, graph as __graph, template as __template};
            use ::azulejo::__private::core::{native as __native, vocab as __vocab};
            use ::azulejo::__private::core::vocab::meaning as __meaning;
            #natives
            #said
            // SAFETY: both are made from the same checked template.
            #implementation
        };
    })
}
