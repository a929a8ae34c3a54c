//! Reads tiles from text: `name: pattern -> result, cost, clauses`, one line each.
//!
//! In: rows of `tile!` without their emit functions. Out: rules. This is for tests, tools and fuzzers of this crate and above;
//! `tile!` is read by azulejo-lang, as tokens, since errors need their places.

use super::pattern::{Clause, Pattern, PatternShape, Place, Predicate, Rule, Symbol, TypeSpec};
use crate::vocab::Class;

/// Reads the rules of a text; lines that are empty or start with `#` are skipped.
pub fn rules(text: &str) -> Result<Vec<Rule>, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| rule(line).ok_or_else(|| format!("this is no tile: {line}")))
        .collect()
}

fn rule(line: &str) -> Option<Rule> {
    let (name, rest) = line.split_once(':')?;
    let (pattern, rest) = rest.split_once("->")?;
    let mut parser = Parser { rest: pattern, next: 0, bound: Vec::new() };
    let pattern = parser.pattern()?;
    let mut parts = split(rest);
    let result = Symbol::from_name(parts.next()?)?;
    let cost = parts.next()?.parse().ok()?;
    let clauses = parts.map(clause).collect::<Option<Vec<_>>>()?;
    Some(Rule { name: name.trim().to_string(), pattern, result, cost, clauses })
}

/// The parts between commas that are outside of parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |letter| {
        depth += (letter == '(') as i32 - (letter == ')') as i32;
        letter == ',' && depth == 0
    })
    .map(str::trim)
}

fn clause(text: &str) -> Option<Clause> {
    let (word, operand) = text.split_once('(').unwrap_or((text, ")"));
    let operand = operand.strip_suffix(')')?;
    Some(match word {
        "early" => Clause::Early,
        "entry" => Clause::Entry,
        "framed" => Clause::Framed,
        "tied" => Clause::Tied(operand.parse().ok()?),
        "late" => Clause::Late(operand.parse().ok()?),
        "any" => Clause::Any(operand.parse().ok()?),
        "needs" => Clause::Needs(operand.to_string()),
        "temp" if operand == "int" => Clause::Temp(Class::Int),
        "temp" if operand == "float" => Clause::Temp(Class::Float),
        "clobber" => Clause::Clobber(operand.split(',').map(|name| name.trim().to_string()).collect()),
        "fixed" => {
            let (place, reg) = operand.split_once('=')?;
            let place = match place.trim() {
                "out" => Place::Out,
                number => Place::Use(number.parse().ok()?),
            };
            Clause::Fixed(place, reg.trim().to_string())
        }
        _ => return None,
    })
}

struct Parser<'a> {
    rest: &'a str,
    next: u32,
    bound: Vec<String>,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, letter: char) -> bool {
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn pattern(&mut self) -> Option<Pattern> {
        self.rest = self.rest.trim_start();
        let id = self.next;
        self.next += 1;
        let mut bind = None;
        if self.eat('$') {
            let name = self.word()?.to_string();
            if !self.eat('@') {
                return Some(Pattern { id, bind, shape: PatternShape::Same(name) });
            }
            self.bound.push(name.clone());
            bind = Some(name);
        }
        if !self.eat('(') {
            let shape = PatternShape::Symbol(Symbol::from_name(self.word()?)?);
            return Some(Pattern { id, bind, shape });
        }
        let op = self.word()?.to_string();
        let mut types = Vec::new();
        while self.eat('.') {
            types.push(self.types()?);
        }
        let (mut children, mut params, mut predicate) = (Vec::new(), Vec::new(), None);
        loop {
            self.rest = self.rest.trim_start();
            if self.eat(')') {
                let shape = PatternShape::Node { op, types, children, params, predicate };
                return Some(Pattern { id, bind, shape });
            }
            let ahead = self.rest.strip_prefix('$').map(|name| {
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
                name.split_at(end)
            });
            match ahead {
                Some((name, after)) if !after.starts_with('@') && !self.bound.iter().any(|b| b == name) => {
                    params.push(name.to_string());
                    self.rest = after;
                    if self.eat(':') {
                        predicate = Some(Predicate::from_name(self.word()?)?);
                    }
                }
                _ => children.push(self.pattern()?),
            }
        }
    }

    fn types(&mut self) -> Option<TypeSpec> {
        let mut var = None;
        if self.eat('$') {
            var = Some(self.word()?.to_string());
            if !self.eat(':') {
                return Some(TypeSpec { var, types: TypeSpec::named("value")? });
            }
        }
        let mut types = TypeSpec::named(self.word()?)?;
        while self.eat('|') {
            types |= TypeSpec::named(self.word()?)?;
        }
        Some(TypeSpec { var, types })
    }
}
