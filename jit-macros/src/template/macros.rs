//! Macros of the template language: parameters are replaced by what stands for them.
//!
//! In: a macro and the arguments of one use. Out: an expression without parameters, checked like any other. An
//! argument that is used more than once is computed once.
//!
//! **Invariant:** what a macro declares (`let:` names and marks) nobody else sees, and it sees what nobody else declares but its
//! arguments. A name knows its writer for that: each use of a macro is another one. Operands of the opcode are everybody's.

use super::ast::{Kind, Typed};
use super::calls::as_number;
use super::check::{Checked, Checker, constant_tokens, fail};
use super::words::closest;
use crate::sexpr::{Name, Sexpr};
use azulejo_core::vocab::{Scalar, Type};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;
use std::collections::HashMap;
use syn::Error;

/// A macro of the template language.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) params: Vec<String>,
    pub(crate) body: Sexpr,
}

impl Checker<'_> {
    /// Expands a macro: parameters are replaced by what stands for them.
    pub(super) fn expand(
        &mut self,
        name: &str,
        args: &[Sexpr],
        span: Span,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let Some(Macro { params, body }) = self.macros.get(name) else {
            let hint = closest(name, self.macros.keys().map(String::as_str));
            return fail(span, format!("there is no macro `^{name}`{hint}"));
        };
        if params.len() != args.len() {
            let form: String = params.iter().map(|param| format!(" ,{param}")).collect();
            let (wanted, here) = (params.len(), args.len());
            return fail(
                span,
                format!("`^{name}` is written `(^{name}{form})`; here are {here} of its {wanted}"),
            );
        }
        self.n_expansions += 1;
        let writer = self.n_expansions;
        let outer = self.n_names();
        let (mut bound, mut replaced) = (Vec::new(), HashMap::new());
        for (param, arg) in std::iter::zip(params, args) {
            let stands_for_it = match is_computed(arg) && uses(body, param) > 1 {
                true => self.compute_once(name, param, arg, writer, &mut bound)?,
                false => arg.clone(),
            };
            replaced.insert(param.as_str(), stands_for_it);
        }
        let body = substitute(body, &replaced, writer)?;
        self.expanding.push(name.to_string());
        let expanded = self.expression(&body, expect);
        if expanded.is_ok() {
            self.expanding.pop();
        }
        let expanded = expanded?;
        self.forget(outer);
        if bound.is_empty() {
            return Ok(expanded);
        }
        let (ty, sign, leaves) = (expanded.ty, expanded.sign, expanded.leaves);
        Ok(Typed { kind: Kind::Let(bound, Box::new(expanded)), ty, sign, leaves, is_loose: false, span })
    }

    /// Gives an argument that a macro uses more than once a name, which nobody can write: what stands for the argument.
    fn compute_once(
        &mut self,
        name: &str,
        param: &str,
        arg: &Sexpr,
        writer: u32,
        bound: &mut Vec<(usize, Typed)>,
    ) -> Checked<Sexpr> {
        let value = self.expression(arg, None)?;
        let (ty, span) = (value.ty, value.span);
        let inner = Name { text: format!(",{param}"), writer };
        let stands_for_it = Sexpr::Operand(inner.clone(), arg.span());
        if ty.is_value() {
            bound.push(self.declare(inner, value));
            return Ok(stands_for_it);
        }
        if ty != Type::Flag {
            let message = format!(
                "`^{name}` uses `,{param}` more than once, so it must be a value or a flag to be kept"
            );
            return fail(span, message);
        }
        // A flag cannot be kept; the number that is made of it can.
        bound.push(self.declare(inner, as_number(value)));
        let is_set = Sexpr::Word(quote!(nz), Name::written("nz"), arg.span());
        Ok(Sexpr::List(vec![is_set, stands_for_it], arg.span()))
    }
}

impl Checker<'_> {
    /// A mistake in a row, which says in which macros of which row it is.
    pub(super) fn in_row(&self, error: Error, row: &str) -> Error {
        if self.expanding.is_empty() {
            return error;
        }
        let around: String = self.expanding.iter().rev().map(|name| format!("`^{name}` in ")).collect();
        Error::new(error.span(), format!("{error} (in {around}`{row}`)"))
    }
}

/// Whether an argument is computed, and not a name, a constant, or a part of a form.
fn is_computed(arg: &Sexpr) -> bool {
    let Sexpr::List(items, _) = arg else { return matches!(arg, Sexpr::Macro(..)) };
    match items.first() {
        Some(Sexpr::Word(_, word, _)) => !["label", "arglist", "carg", "mark"].contains(&word.text.as_str()),
        head => matches!(head, Some(Sexpr::Macro(..))),
    }
}

/// Each macro that uses itself, directly or by way of others.
pub(super) fn circles(macros: &HashMap<String, Macro>) -> Vec<Error> {
    let mut names: Vec<&String> = macros.keys().collect();
    names.sort();
    let mut errors = Vec::new();
    for name in names {
        let (mut seen, mut open) = (Vec::new(), vec![name]);
        while let Some(at) = open.pop() {
            let mut called = Vec::new();
            calls(&macros[at].body, &mut called);
            for (other, span) in called {
                if other == name {
                    let message = match at == name {
                        true => format!("`^{name}` uses itself"),
                        false => format!("`^{at}` uses `^{name}`, which uses it"),
                    };
                    errors.push(Error::new(
                        span,
                        message + "; macros are replaced by their bodies, without end",
                    ));
                } else if macros.contains_key(other) && !seen.contains(&other) {
                    seen.push(other);
                    open.push(other);
                }
            }
        }
    }
    errors
}

fn calls<'a>(body: &'a Sexpr, to: &mut Vec<(&'a String, Span)>) {
    match body {
        Sexpr::Macro(name, span) => to.push((name, *span)),
        Sexpr::List(items, _) => items.iter().for_each(|item| calls(item, to)),
        _ => {}
    }
}

fn uses(body: &Sexpr, param: &str) -> usize {
    match body {
        Sexpr::Param(name, _) => (name == param) as usize,
        Sexpr::List(items, _) => items.iter().map(|item| uses(item, param)).sum(),
        _ => 0,
    }
}

/// A macro's body with arguments for parameters. All names in it are of this writer, but those in arguments are not.
fn substitute(body: &Sexpr, by: &HashMap<&str, Sexpr>, writer: u32) -> Checked<Sexpr> {
    let own = |name: &Name| Name { text: name.text.clone(), writer };
    Ok(match body {
        Sexpr::Param(name, _) => by.get(name.as_str()).cloned().unwrap_or_else(|| body.clone()),
        Sexpr::List(items, span) => {
            let items = items.iter().map(|item| substitute(item, by, writer));
            Sexpr::List(items.collect::<Checked<Vec<Sexpr>>>()?, *span)
        }
        Sexpr::Operand(name, span) => Sexpr::Operand(own(name), *span),
        Sexpr::Word(path, name, span) => Sexpr::Word(path.clone(), own(name), *span),
        Sexpr::Constant(path, Some(args), span) => {
            Sexpr::Constant(path.clone(), Some(substitute_tokens(args.clone(), by)?), *span)
        }
        other => other.clone(),
    })
}

/// The same in the Rust tokens of a constant. A comma where something is to follow, as at the start or behind another comma,
/// begins a parameter; all others stand between things.
fn substitute_tokens(tokens: TokenStream, by: &HashMap<&str, Sexpr>) -> Checked<TokenStream> {
    let mut output: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    // Whether what stands before wants something behind it.
    let mut is_wanted = true;
    while let Some(token) = tokens.next() {
        let is_comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        if let (true, true, Some(TokenTree::Ident(name))) = (is_comma, is_wanted, tokens.peek()) {
            let Some(arg) = by.get(name.to_string().as_str()) else {
                return fail(name.span(), format!("`,{name}` is no parameter of this macro"));
            };
            output.extend(rust_tokens(arg)?);
            tokens.next();
            is_wanted = false;
            continue;
        }
        is_wanted = matches!(&token, TokenTree::Punct(punct) if !['>', '?', '.'].contains(&punct.as_char()));
        output.push(match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), substitute_tokens(group.stream(), by)?);
                inner.set_span(group.span());
                inner.into()
            }
            token => token,
        });
    }
    Ok(output.into_iter().collect())
}

/// An argument as Rust writes it, if it is the same there.
fn rust_tokens(arg: &Sexpr) -> Checked<TokenStream> {
    match arg {
        Sexpr::Word(tokens, ..) | Sexpr::Literal(tokens, _) => Ok(tokens.clone()),
        Sexpr::Constant(path, args, span) => constant_tokens(path, args, *span),
        other => fail(
            other.span(),
            "this stands in a constant that Rust computes, where a path, a literal or another constant can stand",
        ),
    }
}
