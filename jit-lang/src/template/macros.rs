//! Macros of the template language: substitution of arguments for parameters.
//!
//! In: a macro and the arguments of one use. Out: an expression without parameters, checked like any other. An
//! argument that is used more than once is evaluated once, before the body. Therefore one that does something, as a call does, must
//! be used once, or always.
//!
//! **Invariant:** macros are hygienic. A macro's own declarations (`let:` names and marks) are invisible elsewhere, and it sees
//! outer ones only through its arguments. To that end each expansion is a new writer of names. The opcode's operands are visible
//! everywhere.

use super::ast::{Kind, Typed};
use super::calls::as_number;
use super::check::{Checked, Checker, constant_tokens, fail};
use crate::place::{Error, Place};
use crate::sexpr::{Name, Sexpr};
use crate::token::{Group, Token, made};
use crate::words::did_you_mean;
use azulejo_core::vocab::{Scalar, Type};
use std::collections::HashMap;

/// A macro of the template language.
#[derive(Clone, Debug)]
pub struct Macro {
    /// The names of the parameters.
    pub params: Vec<String>,
    /// The expression that replaces a use of the macro.
    pub body: Sexpr,
}

impl Checker<'_> {
    /// Expands a use of a macro.
    pub(super) fn expand(
        &mut self,
        name: &str,
        args: &[Sexpr],
        place: Place,
        expect: Option<Scalar>,
    ) -> Checked<Typed> {
        let Some(Macro { params, body }) = self.macros.get(name) else {
            let hint = did_you_mean(name, self.macros.keys().map(String::as_str));
            return fail(place, format!("there is no macro `^{name}`{hint}"));
        };
        if params.len() != args.len() {
            let form: String = params.iter().map(|param| format!(" ,{param}")).collect();
            let (wanted, here) = (params.len(), args.len());
            return fail(
                place,
                format!("`^{name}` is written `(^{name}{form})`; here are {here} of its {wanted}"),
            );
        }
        self.n_expansions += 1;
        let writer = self.n_expansions;
        let outer = self.n_names();
        let (mut bound, mut replaced) = (Vec::new(), HashMap::new());
        for (param, arg) in std::iter::zip(params, args) {
            let stands_for_it = match self.is_computed(arg) && uses(body, param) > 1 {
                true => {
                    let had_effect = std::mem::take(&mut self.has_effect);
                    let once = self.compute_once(name, param, arg, writer, &mut bound)?;
                    if self.has_effect && is_conditional(body, param) {
                        let message = format!(
                            "`^{name}` uses `,{param}` more than once, so this is done once and before all else, even if no condition \
                             leads to it; let the macro use it in one place"
                        );
                        return fail(arg.place(), message);
                    }
                    self.has_effect |= had_effect;
                    once
                }
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
        Ok(Typed { kind: Kind::Let(bound, Box::new(expanded)), ty, sign, leaves, is_loose: false, place })
    }

    /// Whether evaluating an argument takes a computation; names, constants and parts of forms take none, nor does a macro that the macro
    /// gives arguments to.
    fn is_computed(&self, arg: &Sexpr) -> bool {
        let takes_none = |name: &String| self.macros.get(name).is_none_or(|with| with.params.is_empty());
        let Sexpr::List(items, _) = arg else {
            return matches!(arg, Sexpr::Macro(name, _) if takes_none(name));
        };
        match items.first() {
            Some(Sexpr::Word(_, word, _)) => {
                !["label", "arglist", "carg", "mark", "spread"].contains(&word.text.as_str())
            }
            head => matches!(head, Some(Sexpr::Macro(..))),
        }
    }

    /// Binds an argument that a macro uses more than once to a name that cannot occur in source. Returns a reference to the name.
    fn compute_once(
        &mut self,
        name: &str,
        param: &str,
        arg: &Sexpr,
        writer: u32,
        bound: &mut Vec<(usize, Typed)>,
    ) -> Checked<Sexpr> {
        let value = self.expression(arg, None)?;
        let (ty, place) = (value.ty, value.place);
        let inner = Name { text: format!(",{param}"), writer };
        let stands_for_it = Sexpr::Operand(inner.clone(), arg.place());
        if ty.is_value() {
            bound.push(self.declare(inner, value));
            return Ok(stands_for_it);
        }
        if ty != Type::Flag {
            let message = format!(
                "`^{name}` uses `,{param}` more than once, so it must be a value or a flag to be kept"
            );
            return fail(place, message);
        }
        // A flag cannot be bound to a name; the number it is converted to can.
        bound.push(self.declare(inner, as_number(value)));
        let is_set = Sexpr::Word(made("nz"), Name::written("nz"), arg.place());
        Ok(Sexpr::List(vec![is_set, stands_for_it], arg.place()))
    }
}

impl Checker<'_> {
    /// An error in a row, extended with the row and the macros under expansion.
    pub(super) fn in_row(&self, error: Error, row: &str) -> Error {
        if self.expanding.is_empty() {
            return error;
        }
        let around: String = self.expanding.iter().rev().map(|name| format!("`^{name}` in ")).collect();
        Error::new(error.place, format!("{} (in {around}`{row}`)", error.message))
    }
}

/// An error for each macro that uses itself, directly or through others.
pub fn circles(macros: &HashMap<String, Macro>) -> Vec<Error> {
    let mut names: Vec<&String> = macros.keys().collect();
    names.sort();
    let mut errors = Vec::new();
    for name in names {
        let (mut seen, mut open) = (Vec::new(), vec![name]);
        while let Some(at) = open.pop() {
            let mut called = Vec::new();
            calls(&macros[at].body, &mut called);
            for (other, place) in called {
                if other == name {
                    let message = match at == name {
                        true => format!("`^{name}` uses itself"),
                        false => format!("`^{at}` uses `^{name}`, which uses it"),
                    };
                    errors.push(Error::new(
                        place,
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

fn calls<'a>(body: &'a Sexpr, to: &mut Vec<(&'a String, Place)>) {
    match body {
        Sexpr::Macro(name, place) => to.push((name, *place)),
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

/// Whether a macro uses a parameter where only a condition decides whether it comes to it.
fn is_conditional(body: &Sexpr, param: &str) -> bool {
    let Sexpr::List(items, _) = body else { return false };
    // How many of the items are always evaluated, with the form's word.
    let always = match items.first().and_then(Sexpr::word) {
        Some("if" | "ifv" | "when" | "as" | "asv" | "all" | "any" | "try" | "tryv") => 2,
        Some("guard") => 2,
        Some("cold" | "slow" | "slowv" | "outside" | "outsidev") => 1,
        Some("cached" | "cachedv") => 3,
        _ => items.len(),
    };
    items.iter().enumerate().any(|(at, item)| match at < always {
        true => is_conditional(item, param),
        false => uses(item, param) > 0,
    })
}

/// Substitutes arguments into a macro's body. All names in the body get this writer; names in arguments keep theirs.
fn substitute(body: &Sexpr, by: &HashMap<&str, Sexpr>, writer: u32) -> Checked<Sexpr> {
    let own = |name: &Name| Name { text: name.text.clone(), writer };
    Ok(match body {
        Sexpr::Param(name, _) => by.get(name.as_str()).cloned().unwrap_or_else(|| body.clone()),
        Sexpr::List(items, place) => {
            let items = items.iter().map(|item| substitute(item, by, writer));
            Sexpr::List(items.collect::<Checked<Vec<Sexpr>>>()?, *place)
        }
        Sexpr::Operand(name, place) => Sexpr::Operand(own(name), *place),
        Sexpr::Word(path, name, place) => Sexpr::Word(path.clone(), own(name), *place),
        Sexpr::Constant(path, Some(args), place) => {
            Sexpr::Constant(path.clone(), Some(substitute_tokens(args.clone(), by)?), *place)
        }
        other => other.clone(),
    })
}

/// Substitutes arguments into the Rust tokens of a constant. A comma begins a parameter where an operand is expected, as at the
/// start or after another comma. All other commas are separators.
fn substitute_tokens(tokens: Vec<Token>, by: &HashMap<&str, Sexpr>) -> Checked<Vec<Token>> {
    let mut output = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    // Whether the tokens so far must be followed by an operand.
    let mut is_wanted = true;
    while let Some(token) = tokens.next() {
        if let (true, true, Some(Token::Word(name))) = (token.is_punct(','), is_wanted, tokens.peek()) {
            let Some(arg) = by.get(name.text.as_str()) else {
                return fail(name.place, format!("`,{}` is no parameter of this macro", name.text));
            };
            output.extend(rust_tokens(arg)?);
            tokens.next();
            is_wanted = false;
            continue;
        }
        is_wanted = matches!(&token, Token::Punct(leaf, _) if ![">", "?", "."].contains(&leaf.text.as_str()));
        output.push(match token {
            Token::Group(group) => {
                let tokens = substitute_tokens(group.tokens, by)?;
                let place = group.place;
                Token::Group(Group { tokens, open: place, close: place, number: None, ..group })
            }
            token => token,
        });
    }
    Ok(output)
}

/// The Rust tokens of an argument, if it means the same in Rust.
fn rust_tokens(arg: &Sexpr) -> Checked<Vec<Token>> {
    match arg {
        Sexpr::Word(tokens, ..) | Sexpr::Literal(tokens, _) => Ok(tokens.clone()),
        Sexpr::Constant(path, args, place) => constant_tokens(path, args, *place),
        other => fail(
            other.place(),
            "this stands in a constant that Rust computes, where a path, a literal or another constant can stand",
        ),
    }
}
