//! Macros of the template language: parameters are replaced by what stands for them.
//!
//! In: a macro and the arguments of one use. Out: an expression without parameters, checked like any other. An
//! argument that is used more than once is computed once; names that a macro declares are its own.

use super::ast::Typed;
use super::check::{Checked, Checker, fail};
use super::words::closest;
use crate::sexpr::Sexpr;
use azulejo_core::vocab::Scalar;
use proc_macro2::Span;
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
        // An argument that is used more than once is computed once: it gets a name.
        let mut bound = Vec::new();
        let mut replaced = HashMap::new();
        for (param, arg) in std::iter::zip(params, args) {
            let is_computed = matches!(arg, Sexpr::List(..)) && uses(body, param) > 1;
            if is_computed {
                let inner = format!("{name} {param}");
                bound.push(Sexpr::List(
                    vec![Sexpr::Operand(inner.clone(), arg.span()), arg.clone()],
                    arg.span(),
                ));
                replaced.insert(param.clone(), Sexpr::Operand(inner, arg.span()));
            } else {
                replaced.insert(param.clone(), arg.clone());
            }
        }
        let body = substitute(body, &replaced, span);
        if bound.is_empty() {
            return self.expression(&body, expect);
        }
        self.bind("let:", &[Sexpr::List(bound, span), body], span, expect)
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

fn substitute(body: &Sexpr, by: &HashMap<String, Sexpr>, span: Span) -> Sexpr {
    match body {
        Sexpr::Param(name, _) => by.get(name).cloned().unwrap_or_else(|| body.clone()),
        Sexpr::List(items, _) => {
            Sexpr::List(items.iter().map(|item| substitute(item, by, span)).collect(), span)
        }
        other => other.clone(),
    }
}
