//! Parses the tokens of `rewrite!` into rows.
//!
//! In: `pub static NAME;` and rows. Out: syntax trees, up to the first syntax error. [`super::check()`] finds the mistakes in
//! rows that parse.

use super::ast::{FunctionCall, Literal, RuleRow, Rules, Term};
use crate::pattern::Dollar;
use crate::place::{Error, Parsed};
use crate::reader::Reader;
use crate::token::{self, Delimiter, Group, Token};

/// Parses an invocation up to the first error. Returns no rules if even the name cannot be read.
pub fn parse(tokens: Vec<Token>) -> (Option<Rules>, Option<Error>) {
    let mut reader = Reader::new(tokens);
    let mut rules = match head(&mut reader) {
        Ok(rules) => rules,
        Err(error) => return (None, Some(error)),
    };
    while !reader.is_empty() {
        match row(&mut reader) {
            Ok(row) => rules.rows.push(row),
            // Rows have no separator, so the parser could not resynchronize before the row after the next arrow.
            Err(error) => return (Some(rules), Some(error)),
        }
    }
    (Some(rules), None)
}

fn head(reader: &mut Reader) -> Parsed<Rules> {
    let (mut attributes, mut visibility) = (Vec::new(), Vec::new());
    while reader.is_punct('#') {
        attributes.extend([reader.any("an attribute")?, reader.any("an attribute")?]);
    }
    while !reader.is_word("static") {
        if reader.is_punct(';') {
            break;
        }
        visibility.push(reader.any("`pub static NAME;` before the rules")?);
    }
    reader.any("`static NAME;` before the rules")?;
    let name = Token::Word(reader.name("the name of the rules")?);
    reader.punct(';')?;
    Ok(Rules { attributes, visibility, name, rows: Vec::new() })
}

fn row(reader: &mut Reader) -> Parsed<RuleRow> {
    let left = match term(reader)? {
        Term::Node(node) => node,
        other => return Err(Error::new(other.place(), "a rule begins with `(operator …)`")),
    };
    reader.punct('=')?;
    reader.punct('>')?;
    let right = term(reader)?;
    let mut conditions = Vec::new();
    if reader.takes_word("if") {
        loop {
            match term(reader)? {
                Term::Call(call) => conditions.push(call),
                other => {
                    return Err(Error::new(other.place(), "a condition is `(&function argument …)`"));
                }
            }
            if !reader.takes_punct('&') {
                break;
            }
            reader.punct('&')?;
        }
    }
    Ok(RuleRow { left, right, conditions })
}

fn term(reader: &mut Reader) -> Parsed<Term> {
    if reader.is_dollar() {
        return variable(reader);
    }
    let first = reader.any("an operand")?;
    let place = first.place();
    match first {
        token if token.is_word("_") => Ok(Term::Any(place)),
        token if token.is_punct('-') => literal(&reader.any("a number")?, true),
        Token::Literal(_) => literal(&first, false),
        Token::Group(group) if group.delimiter == Delimiter::Parenthesis => list(group),
        other => Err(Error::new(
            place,
            format!("expected `$name`, `_`, a number, `(operator …)` or `(&function …)`, found `{other}`"),
        )),
    }
}

fn variable(reader: &mut Reader) -> Parsed<Term> {
    let Dollar { name, predicate, is_binding } = reader.dollar()?;
    let node = match is_binding.then(|| term(reader)).transpose()? {
        None => None,
        Some(Term::Node(node)) => Some(node),
        Some(other) => return Err(Error::new(other.place(), "`$name@` is followed by `(operator …)`")),
    };
    Ok(Term::Variable { name, predicate, node })
}

fn literal(token: &Token, is_negative: bool) -> Parsed<Term> {
    let place = token.place();
    let wrong = || Error::new(place, format!("expected a number, found `{token}`"));
    let Token::Literal(leaf) = token else { return Err(wrong()) };
    let value = match (token::integer(&leaf.text), token::float(&leaf.text)) {
        (Some(value), _) => {
            let value = i128::try_from(value).map_err(|_| wrong())?;
            let value = if is_negative { -value } else { value };
            let bits = i64::try_from(value).or(u64::try_from(value).map(|bits| bits as i64));
            Literal::Int(bits.map_err(|_| wrong())?)
        }
        (None, Some(value)) => Literal::Float(if is_negative { -value } else { value }),
        (None, None) => return Err(wrong()),
    };
    Ok(Term::Literal { value, text: format!("{}{leaf}", if is_negative { "-" } else { "" }), place })
}

fn list(group: Group) -> Parsed<Term> {
    let place = group.place;
    let mut reader = Reader::inside(group);
    if reader.takes_punct('&') {
        let here = reader.here();
        let path = reader.path().ok_or_else(|| Error::new(here, "expected a function's path"))?;
        let mut arguments = Vec::new();
        while !reader.is_empty() {
            arguments.push(term(&mut reader)?);
        }
        return Ok(Term::Call(FunctionCall { path: path.0, arguments, place }));
    }
    let operator = reader.name("an operator or `&function`")?;
    reader.node(operator, term).map(Term::Node)
}
