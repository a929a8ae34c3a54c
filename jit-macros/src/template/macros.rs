//! Macros of the template language: parameters are replaced by what stands for them.
//!
//! In: a macro and the arguments of one use. Out: an expression without parameters, checked like any other. An
//! argument that is used more than once is computed once.
//!
//! **Invariant:** what a macro declares (`let:` names and marks) nobody else sees, and it sees what nobody else declares but its
//! arguments. A name knows its writer for that: each use of a macro is another one. Operands of the opcode are everybody's.

use super::ast::{Kind, Typed};
use super::check::{Checked, Checker, fail};
use super::signs::Sign;
use super::words::closest;
use crate::sexpr::{Name, Sexpr};
use azulejo_core::vocab::{Op, Scalar, Sig, Type};
use proc_macro2::Span;
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
            return fail(span, format!("`^{name}` takes {} parameters, not {}", params.len(), args.len()));
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
        let body = substitute(body, &replaced, writer);
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
        let sig = Sig { from: Type::Void, ty: Type::I8 };
        let kind = Kind::Op { op: Op::FLAGVAL, sig, args: vec![value], imm: None, checks: Vec::new() };
        let number = Typed { kind, ty: Type::I8, sign: Sign::Unsigned, leaves: false, is_loose: false, span };
        bound.push(self.declare(inner, number));
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
fn substitute(body: &Sexpr, by: &HashMap<&str, Sexpr>, writer: u32) -> Sexpr {
    let own = |name: &Name| Name { text: name.text.clone(), writer };
    match body {
        Sexpr::Param(name, _) => by.get(name.as_str()).cloned().unwrap_or_else(|| body.clone()),
        Sexpr::List(items, span) => {
            Sexpr::List(items.iter().map(|item| substitute(item, by, writer)).collect(), *span)
        }
        Sexpr::Operand(name, span) => Sexpr::Operand(own(name), *span),
        Sexpr::Word(path, name, span) => Sexpr::Word(path.clone(), own(name), *span),
        other => other.clone(),
    }
}
