//! Parses the tokens of `rewrite!` into rows.
//!
//! In: `pub static NAME;` and rows. Out: syntax trees, up to the first syntax error. [`super::check()`] finds the mistakes in
//! rows that parse.

use super::ast::{FunctionCall, Literal, Node, RuleRow, Rules, Term, TypeTerm, WordAt};
use crate::place::{Error, Place};
use crate::token::{self, Delimiter, Token};
use std::iter::Peekable;

type Parsed<T> = Result<T, Error>;

struct Tokens {
    rest: Peekable<std::vec::IntoIter<Token>>,
    end: Place,
}

/// Parses an invocation up to the first error. Returns no rules if even the name cannot be read.
pub fn parse(tokens: Vec<Token>) -> (Option<Rules>, Option<Error>) {
    let mut tokens = Tokens { rest: tokens.into_iter().peekable(), end: Place::NOWHERE };
    let mut rules = match head(&mut tokens) {
        Ok(rules) => rules,
        Err(error) => return (None, Some(error)),
    };
    while tokens.rest.peek().is_some() {
        match row(&mut tokens) {
            Ok(row) => rules.rows.push(row),
            // Rows have no separator, so the parser could not resynchronize before the row after the next arrow.
            Err(error) => return (Some(rules), Some(error)),
        }
    }
    (Some(rules), None)
}

fn head(tokens: &mut Tokens) -> Parsed<Rules> {
    let (mut attributes, mut visibility) = (Vec::new(), Vec::new());
    while tokens.is_punct('#') {
        attributes.extend([tokens.next("an attribute")?, tokens.next("an attribute")?]);
    }
    while !tokens.is_word("static") {
        if tokens.is_punct(';') {
            break;
        }
        visibility.push(tokens.next("`pub static NAME;` before the rules")?);
    }
    tokens.next("`static NAME;` before the rules")?;
    let name = match tokens.next("the name of the rules")? {
        name @ Token::Word(_) => name,
        other => {
            let message = format!("expected the name of the rules, found `{other}`");
            return Err(Error::new(other.place(), message));
        }
    };
    tokens.punct(';')?;
    Ok(Rules { attributes, visibility, name, rows: Vec::new() })
}

fn row(tokens: &mut Tokens) -> Parsed<RuleRow> {
    let mut text = String::new();
    let left = match term(tokens, &mut text)? {
        Term::Node(node) => node,
        other => return Err(Error::new(other.place(), "a rule begins with `(operator …)`")),
    };
    tokens.punct('=')?;
    tokens.punct('>')?;
    text.push_str(" => ");
    let right = term(tokens, &mut text)?;
    let mut conditions = Vec::new();
    if tokens.is_word("if") {
        tokens.next("`if`")?;
        text.push_str(" if ");
        loop {
            match term(tokens, &mut text)? {
                Term::Call(call) => conditions.push(call),
                other => {
                    return Err(Error::new(other.place(), "a condition is `(&function argument …)`"));
                }
            }
            if !tokens.is_punct('&') {
                break;
            }
            tokens.punct('&')?;
            tokens.punct('&')?;
            text.push_str(" && ");
        }
    }
    Ok(RuleRow { left, right, conditions, text })
}

fn term(tokens: &mut Tokens, text: &mut String) -> Parsed<Term> {
    let first = tokens.next("an operand")?;
    let place = first.place();
    match first {
        token if token.is_word("_") => {
            text.push('_');
            Ok(Term::Any(place))
        }
        token if token.is_punct('$') => variable(tokens, text),
        token if token.is_punct('-') => {
            let literal = tokens.next("a number")?;
            text.push_str(&format!("-{literal}"));
            self::literal(&literal, true)
        }
        Token::Literal(_) => {
            text.push_str(&first.to_string());
            literal(&first, false)
        }
        Token::Group(group) if group.delimiter == Delimiter::Parenthesis => {
            let mut inner = Tokens { rest: group.tokens.into_iter().peekable(), end: group.close };
            list(&mut inner, text, place)
        }
        other => Err(Error::new(
            place,
            format!("expected `$name`, `_`, a number, `(operator …)` or `(&function …)`, found `{other}`"),
        )),
    }
}

fn variable(tokens: &mut Tokens, text: &mut String) -> Parsed<Term> {
    let name = tokens.name("a name after `$`")?;
    text.push_str(&format!("${name}"));
    let (mut predicate, mut node) = (None, None);
    if tokens.is_punct(':') {
        tokens.punct(':')?;
        let ident = tokens.name("a predicate")?;
        text.push_str(&format!(":{ident}"));
        predicate = Some(ident);
    } else if tokens.is_punct('@') {
        tokens.punct('@')?;
        text.push('@');
        match term(tokens, text)? {
            Term::Node(inner) => node = Some(inner),
            other => return Err(Error::new(other.place(), "`$name@` is followed by `(operator …)`")),
        }
    }
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
    Ok(Term::Literal { value, place })
}

fn list(tokens: &mut Tokens, text: &mut String, place: Place) -> Parsed<Term> {
    text.push('(');
    if tokens.is_punct('&') {
        tokens.punct('&')?;
        let mut path = Vec::new();
        while tokens.is_punct(':') || matches!(tokens.rest.peek(), Some(Token::Word(_))) {
            let token = tokens.next("a function's path")?;
            let is_name = matches!(token, Token::Word(_));
            path.extend([token]);
            if is_name && !tokens.is_punct(':') {
                break;
            }
        }
        text.push_str(&format!("&{}", token::text(&path)));
        let arguments = operands(tokens, text)?;
        text.push(')');
        return Ok(Term::Call(FunctionCall { path, arguments, place }));
    }
    let operator = tokens.name("an operator or `&function`")?;
    text.push_str(&operator.text);
    let mut types = Vec::new();
    while tokens.is_punct('.') {
        tokens.punct('.')?;
        text.push('.');
        types.push(type_term(tokens, text)?);
    }
    let operands = operands(tokens, text)?;
    text.push(')');
    Ok(Term::Node(Node { operator, types, operands }))
}

fn operands(tokens: &mut Tokens, text: &mut String) -> Parsed<Vec<Term>> {
    let mut operands = Vec::new();
    while tokens.rest.peek().is_some() {
        text.push(' ');
        operands.push(term(tokens, text)?);
    }
    Ok(operands)
}

fn type_term(tokens: &mut Tokens, text: &mut String) -> Parsed<TypeTerm> {
    let mut found = TypeTerm { variable: None, names: Vec::new() };
    if tokens.is_punct('$') {
        tokens.punct('$')?;
        let name = tokens.name("a name after `$`")?;
        text.push_str(&format!("${name}"));
        found.variable = Some(name);
        if !tokens.is_punct(':') {
            return Ok(found);
        }
        tokens.punct(':')?;
        text.push(':');
    }
    loop {
        let name = tokens.name("a type or a class of types")?;
        text.push_str(&name.text);
        found.names.push(name);
        if !tokens.is_punct('|') {
            return Ok(found);
        }
        tokens.punct('|')?;
        text.push('|');
    }
}

impl Tokens {
    fn next(&mut self, expected: &str) -> Parsed<Token> {
        self.rest.next().ok_or_else(|| Error::new(self.end, format!("expected {expected}")))
    }

    fn name(&mut self, expected: &str) -> Parsed<WordAt> {
        match self.next(expected)? {
            Token::Word(leaf) => Ok(WordAt { text: leaf.text, place: leaf.place }),
            other => Err(Error::new(other.place(), format!("expected {expected}, found `{other}`"))),
        }
    }

    fn punct(&mut self, punct: char) -> Parsed<()> {
        match self.next(&format!("`{punct}`"))? {
            found if found.is_punct(punct) => Ok(()),
            other => Err(Error::new(other.place(), format!("expected `{punct}`, found `{other}`"))),
        }
    }

    fn is_punct(&mut self, punct: char) -> bool {
        self.rest.peek().is_some_and(|token| token.is_punct(punct))
    }

    fn is_word(&mut self, word: &str) -> bool {
        self.rest.peek().is_some_and(|token| token.is_word(word))
    }
}
