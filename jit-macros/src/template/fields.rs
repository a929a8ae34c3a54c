//! `(&field Struct, name)`: where a field is, and of which type, said at once.
//!
//! In: the rows of a `template!`, in which structs are named so. Each is asked for its fields, by the macro that `derive(Fields)`
//! makes, before the rows are read; what they say stands in front of the rows from then on. Out: a field's scalar.

use super::check::{Checked, Checker, fail};
use super::words::closest;
use crate::sexpr::{Name, Reader, Sexpr};
use azulejo_core::vocab::Scalar;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use std::collections::HashMap;
use syn::Error;

const USAGE: &str = "`(&field Struct, name)` stands where the type of a load or store stands";

/// A field as its struct tells it.
#[derive(Clone, Debug)]
enum Told {
    Scalar(Scalar),
    /// What it is called that is none.
    Other(String),
}

/// The fields of structs, by the structs' paths as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structs(HashMap<String, Vec<(String, Told)>>);

/// The next struct to be asked: its path. What is in front of the rows are structs that have told.
pub(super) fn unknown(rows: TokenStream) -> Option<TokenStream> {
    let mut reader = Reader::new(rows);
    let known = Structs::read(&mut reader);
    let mut named = Vec::new();
    find(reader.rest(), &mut named);
    named.into_iter().find(|path| !known.0.contains_key(&path.to_string()))
}

/// The structs of all `(&field Struct, …)`.
fn find(tokens: TokenStream, named: &mut Vec<TokenStream>) {
    for token in tokens {
        let TokenTree::Group(group) = token else { continue };
        let mut reader = Reader::new(group.stream());
        if reader.takes_punct('&') && reader.takes_ident("field") {
            let path = reader.path().map(|(path, _)| path);
            named.extend(path.filter(|_| reader.takes_punct(',')));
        } else {
            find(group.stream(), named);
        }
    }
}

/// Goes on with `template!` when a struct has told its fields: `{ fields } { { path } { rows } }`.
pub(crate) fn told(input: TokenStream) -> TokenStream {
    let mut reader = Reader::new(input);
    let fields = reader.group(Delimiter::Brace);
    let mut rest = reader.group(Delimiter::Brace).map(|rest| Reader::new(rest.stream()));
    let mut next = || rest.as_mut().and_then(|rest| rest.group(Delimiter::Brace));
    match (fields, next(), next()) {
        (Some(fields), Some(path), Some(rows)) => {
            let rows = rows.stream();
            super::template(quote!(struct #path #fields #rows))
        }
        _ => Error::new(Span::call_site(), "this is called by `template!` only").into_compile_error(),
    }
}

impl Structs {
    /// Takes what structs have told off the rows.
    pub(super) fn read(reader: &mut Reader) -> Structs {
        let mut structs = Structs::default();
        while reader.takes_ident("struct") {
            let (Some(path), Some(fields)) = (reader.group(Delimiter::Brace), reader.group(Delimiter::Brace))
            else {
                break;
            };
            let mut fields = Reader::new(fields.stream());
            let mut told = Vec::new();
            while let (Some(name), Some(_), Some(ty), Some(_)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            {
                let ty = match ty {
                    TokenTree::Ident(ty) => Scalar::from_name(&ty.to_string()).map(Told::Scalar),
                    other => Some(Told::Other(other.to_string().trim_matches('"').to_string())),
                };
                told.extend(ty.map(|ty| (name.to_string(), ty)));
            }
            structs.0.insert(path.stream().to_string(), told);
        }
        structs
    }
}

impl Checker<'_> {
    /// The scalar that stands in a type's place, if it is a field's, with the field as `offset_of!` names it.
    pub(super) fn field<'a>(&self, written: &'a Sexpr) -> Checked<Option<(Scalar, &'a TokenStream)>> {
        let Sexpr::Constant(word, Some(args), span) = written else { return Ok(None) };
        if word.to_string() != "field" {
            return Ok(None);
        }
        let mut reader = Reader::new(args.clone());
        let (Some((path, _)), true, Some(name), true) =
            (reader.path(), reader.takes_punct(','), reader.next(), reader.is_empty())
        else {
            return fail(*span, format!("{USAGE}; it names one field of a struct without parameters"));
        };
        let path = path.to_string();
        let Some(fields) = self.structs.0.get(&path) else {
            let message = format!(
                "`{path}` is not asked for its fields: write the struct out, here or where the macro is"
            );
            return fail(*span, message);
        };
        match fields.iter().find(|(known, _)| *known == name.to_string()) {
            Some((_, Told::Scalar(scalar))) => Ok(Some((*scalar, args))),
            Some((_, Told::Other(ty))) => {
                let message = format!(
                    "`{name}` is `{ty}`, which is not called like a number or a raw pointer: \
                     `(&offset_of {path}, {name})` says where it is, and a type of the template language as what it is read"
                );
                fail(name.span(), message)
            }
            None => {
                let text = name.to_string();
                let hint = closest(&text, fields.iter().map(|(known, _)| known.as_str()));
                fail(name.span(), format!("`{path}` has no field `{text}`{hint}"))
            }
        }
    }
}

/// The address of a field of what is at an address.
pub(super) fn address(of: &Sexpr, field: &TokenStream, span: Span) -> Sexpr {
    let offset = Sexpr::Constant(quote!(offset_of), Some(field.clone()), span);
    Sexpr::List(vec![Sexpr::Word(quote!(addr), Name::written("addr"), span), of.clone(), offset], span)
}

/// What is wrong with a field that stands where no type does.
pub(super) fn misplaced<T>(span: Span) -> Checked<T> {
    fail(span, USAGE)
}
