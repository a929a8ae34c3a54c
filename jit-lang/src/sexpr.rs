//! Parses tokens into s-expressions with places.
//!
//! In: tokens. Out: [`Sexpr`]s, without any meaning attached. Rust inside them (the arguments of
//! `(&sizeof T)`, paths, literals) is kept as tokens.

use crate::place::{Error, Place};
use crate::reader::Reader;
use crate::token::{Delimiter, Group, Leaf, Token, text};

/// A hygienic name: two names are equal only if spelling and writer agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The spelling.
    pub text: String,
    /// Zero for a name in the source; otherwise the number of the macro expansion that introduced the name.
    pub writer: u32,
}

impl Name {
    /// A name from the source.
    pub fn written(text: impl Into<String>) -> Name {
        Name { text: text.into(), writer: 0 }
    }
}

/// An s-expression.
#[derive(Clone, Debug)]
pub enum Sexpr {
    /// `( … )`
    List(Vec<Sexpr>, Place),
    /// A word or a Rust path: `add`, `let:`, `crate::print`.
    Word(Vec<Token>, Name, Place),
    /// `$name` or `$0`
    Operand(Name, Place),
    /// `,name`
    Param(String, Place),
    /// `^name`
    Macro(String, Place),
    /// `(&sizeof T)`, `(&path args)` or `&NAME`: the name and, in parentheses, the Rust tokens behind it.
    Constant(Vec<Token>, Option<Vec<Token>>, Place),
    /// A literal, possibly negative.
    Literal(Vec<Token>, Place),
}

impl Sexpr {
    /// The expression's place.
    pub fn place(&self) -> Place {
        match self {
            Sexpr::List(_, place)
            | Sexpr::Word(_, _, place)
            | Sexpr::Operand(_, place)
            | Sexpr::Param(_, place)
            | Sexpr::Macro(_, place)
            | Sexpr::Constant(_, _, place)
            | Sexpr::Literal(_, place) => *place,
        }
    }

    /// The word, if the expression is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Sexpr::Word(_, name, _) => Some(&name.text),
            _ => None,
        }
    }
}

impl Reader {
    /// Reads one s-expression.
    pub fn sexpr(&mut self) -> Result<Sexpr, Error> {
        let Some(token) = self.peek().cloned() else {
            return Err(Error::new(self.last(), "an expression is missing behind this"));
        };
        let place = token.place();
        match token {
            Token::Group(group) if group.delimiter == Delimiter::Parenthesis => {
                self.next();
                list(group)
            }
            Token::Literal(_) => {
                self.next();
                Ok(Sexpr::Literal(vec![token], place))
            }
            Token::Word(_) => {
                let (tokens, _) = self.path().expect("it starts with a word");
                let mut text = text(&tokens);
                if matches!(text.as_str(), "let" | "letv") && self.takes_punct(':') {
                    text.push(':');
                }
                Ok(Sexpr::Word(tokens, Name::written(text), place))
            }
            Token::Punct(..) => {
                self.next();
                self.sigil(token)
            }
            Token::Group(_) => Err(Error::new(place, "not an expression: lists are written in parentheses")),
        }
    }

    fn sigil(&mut self, punct: Token) -> Result<Sexpr, Error> {
        let place = punct.place();
        let sigil = if punct.is_dollar() { "$".to_string() } else { punct.to_string() };
        let sigil = sigil.as_str();
        if sigil == "-" && matches!(self.peek(), Some(Token::Literal(_))) {
            return Ok(Sexpr::Literal([Some(punct), self.next()].into_iter().flatten().collect(), place));
        }
        if sigil == "&"
            && let Some((path, _)) = self.path()
        {
            return Ok(Sexpr::Constant(path, None, place));
        }
        let unknown =
            || format!("`{sigil}` has no meaning here; names are `$operand ,parameter ^macro &constant`");
        let name = match self.peek() {
            Some(Token::Word(leaf)) => leaf.text.clone(),
            Some(Token::Literal(leaf)) if sigil == "$" => number(leaf)
                .ok_or_else(|| Error::new(leaf.place, "an operand is `$name`, or `$0` by its position"))?,
            _ => return Err(Error::new(place, unknown())),
        };
        let make = match sigil {
            "$" => |name, place| Sexpr::Operand(Name::written(name), place),
            "," => Sexpr::Param,
            "^" => Sexpr::Macro,
            _ => return Err(Error::new(place, unknown())),
        };
        self.next();
        Ok(make(name, place.to(self.last())))
    }
}

fn number(literal: &Leaf) -> Option<String> {
    literal.text.bytes().all(|byte| byte.is_ascii_digit()).then(|| literal.text.clone())
}

fn list(group: Group) -> Result<Sexpr, Error> {
    let place = group.place;
    let mut reader = Reader::inside(group);
    if reader.takes_punct('&') {
        let Some((path, _)) = reader.path() else {
            return Err(Error::new(reader.last(), "behind `&` stands `sizeof`, `offset_of` or a Rust path"));
        };
        return Ok(Sexpr::Constant(path, Some(reader.rest()), place));
    }
    let mut items = Vec::new();
    while !reader.is_empty() {
        items.push(reader.sexpr()?);
    }
    Ok(Sexpr::List(items, place))
}
