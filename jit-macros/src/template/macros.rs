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
