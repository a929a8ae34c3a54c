//! Tokens, whether they come from rustc or from text.
//!
//! The macros convert rustc's tokens to these. Each keeps its number, so Rust inside a row is printed exactly as it was written.
//! [`lex`] makes tokens of text, for tests and for the definitions that the languages themselves contain.

use crate::place::{Error, Place};
use core::fmt;

/// A token that has no tokens in it.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The token's text.
    pub text: String,
    /// The token's place.
    pub place: Place,
    /// The number by which the producer finds the original token. `None` for a token made in this crate.
    pub number: Option<u32>,
}

impl Leaf {
    /// Another text at the same place.
    pub fn renamed(&self, text: &str) -> Leaf {
        Leaf { text: text.to_string(), number: None, ..self.clone() }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The delimiters of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delimiter {
    /// `( … )`
    Parenthesis,
    /// `{ … }`
    Brace,
    /// `[ … ]`
    Bracket,
    /// Invisible delimiters, as around a fragment that a Rust macro passes on.
    None,
}

/// Tokens between delimiters.
#[derive(Clone, Debug)]
pub struct Group {
    /// The delimiters.
    pub delimiter: Delimiter,
    /// The tokens between the delimiters.
    pub tokens: Vec<Token>,
    /// The place of the whole group.
    pub place: Place,
    /// The place of the opening delimiter.
    pub open: Place,
    /// The place of the closing delimiter.
    pub close: Place,
    /// As in a [`Leaf`]; `None` if a token inside was replaced.
    pub number: Option<u32>,
}

impl Group {
    /// A group that comes from no source.
    pub fn made(delimiter: Delimiter, tokens: Vec<Token>) -> Group {
        let place = Place::NOWHERE;
        Group { delimiter, tokens, place, open: place, close: place, number: None }
    }
}

/// A token.
#[derive(Clone, Debug)]
pub enum Token {
    /// A word.
    Word(Leaf),
    /// One punctuation character, and whether another follows without a space.
    Punct(Leaf, bool),
    /// A number or a string.
    Literal(Leaf),
    /// Tokens between delimiters.
    Group(Group),
}

impl Token {
    /// The token's place.
    pub fn place(&self) -> Place {
        match self {
            Token::Word(leaf) | Token::Punct(leaf, _) | Token::Literal(leaf) => leaf.place,
            Token::Group(group) => group.place,
        }
    }

    /// The place of the token, or of what opens it.
    pub fn start(&self) -> Place {
        match self {
            Token::Group(group) => group.open,
            other => other.place(),
        }
    }

    /// Whether the token is this punctuation character.
    pub fn is_punct(&self, wanted: char) -> bool {
        matches!(self, Token::Punct(leaf, _) if leaf.text.starts_with(wanted))
    }

    /// Whether the token is this word.
    pub fn is_word(&self, wanted: &str) -> bool {
        matches!(self, Token::Word(leaf) if leaf.text == wanted)
    }

    /// Whether the token is the `$` of a name. A Rust macro passes `$` on as `~`, since `$` has a meaning of its own there.
    pub fn is_dollar(&self) -> bool {
        self.is_punct('$') || self.is_punct('~')
    }
}

/// The range from the first of these tokens to the last.
pub fn place(tokens: &[Token]) -> Place {
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.place().to(last.place()),
        _ => Place::NOWHERE,
    }
}

/// The tokens with the contents of invisible groups in place of the groups. So what a Rust macro passes on as a fragment reads
/// like what was written.
pub fn visible(tokens: Vec<Token>) -> Vec<Token> {
    let mut seen = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Group(group) if group.delimiter == Delimiter::None => seen.extend(visible(group.tokens)),
            Token::Group(group) if hides(&group.tokens) => {
                seen.push(Token::Group(Group { tokens: visible(group.tokens), number: None, ..group }));
            }
            token => seen.push(token),
        }
    }
    seen
}

/// Whether there is an invisible group among these tokens or inside of them.
fn hides(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Group(group) => group.delimiter == Delimiter::None || hides(&group.tokens),
        _ => false,
    })
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(core::slice::from_ref(self)))
    }
}

/// Tokens as text, with spaces only where two words would otherwise merge.
pub fn text(tokens: &[Token]) -> String {
    let mut out = String::new();
    write(tokens, &mut out);
    out
}

fn write(tokens: &[Token], out: &mut String) {
    for token in tokens {
        match token {
            Token::Word(leaf) | Token::Punct(leaf, _) | Token::Literal(leaf) => {
                let joins = |c: char| c.is_alphanumeric() || c == '_';
                if out.ends_with(joins) && leaf.text.starts_with(joins) {
                    out.push(' ');
                }
                out.push_str(&leaf.text);
            }
            Token::Group(group) => {
                let (open, close) = match group.delimiter {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write(&group.tokens, out);
                out.push_str(close);
            }
        }
    }
}

/// Lexes a text. The place of a token is the byte offset at which it begins.
pub fn lex(text: &str) -> Result<Vec<Token>, Error> {
    let mut lexer = Lexer { text, at: 0 };
    let tokens = lexer.tokens()?;
    match lexer.peek() {
        None => Ok(tokens),
        Some(_) => Err(Error::new(lexer.here(), "nothing was opened that this closes")),
    }
}

/// Lexes Rust that this crate itself writes.
///
/// # Panics
///
/// If the text does not lex.
pub fn made(text: &str) -> Vec<Token> {
    let mut tokens = lex(text).expect("what a language itself writes is well-formed");
    nowhere(&mut tokens);
    tokens
}

fn nowhere(tokens: &mut [Token]) {
    for token in tokens {
        match token {
            Token::Word(leaf) | Token::Punct(leaf, _) | Token::Literal(leaf) => leaf.place = Place::NOWHERE,
            Token::Group(group) => {
                (group.place, group.open, group.close) = (Place::NOWHERE, Place::NOWHERE, Place::NOWHERE);
                nowhere(&mut group.tokens);
            }
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn here(&self) -> Place {
        Place::at(self.at as u32)
    }

    /// The next character after blanks and comments.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            let skipped = match rest[blanks..].starts_with("//") {
                true => blanks + rest[blanks..].find('\n').unwrap_or(rest.len() - blanks),
                false => blanks,
            };
            if skipped == 0 {
                return rest.chars().next();
            }
            self.at += skipped;
        }
    }

    fn tokens(&mut self) -> Result<Vec<Token>, Error> {
        let mut tokens = Vec::new();
        while let Some(first) = self.peek() {
            match first {
                ')' | '}' | ']' => break,
                '(' | '{' | '[' => tokens.push(self.group(first)?),
                _ => tokens.push(self.leaf(first)?),
            }
        }
        Ok(tokens)
    }

    fn group(&mut self, first: char) -> Result<Token, Error> {
        let (delimiter, end) = match first {
            '(' => (Delimiter::Parenthesis, ')'),
            '{' => (Delimiter::Brace, '}'),
            _ => (Delimiter::Bracket, ']'),
        };
        let open = self.here();
        self.at += 1;
        let tokens = self.tokens()?;
        if self.peek() != Some(end) {
            return Err(Error::new(open, "this is not closed"));
        }
        let close = self.here();
        self.at += 1;
        Ok(Token::Group(Group { delimiter, tokens, place: open.to(close), open, close, number: None }))
    }

    fn leaf(&mut self, first: char) -> Result<Token, Error> {
        let (rest, place) = (self.rest(), self.here());
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first == '"' {
            match rest[1..].find('"') {
                Some(length) => length + 2,
                None => return Err(Error::new(place, "this text is not closed")),
            }
        } else if first.is_ascii_digit() {
            number(rest)
        } else if is_letter(first) {
            rest.find(|c| !is_letter(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let leaf = Leaf { text: rest[..length].to_string(), place, number: None };
        self.at += length;
        Ok(if first == '"' || first.is_ascii_digit() {
            Token::Literal(leaf)
        } else if is_letter(first) {
            Token::Word(leaf)
        } else {
            let is_sign = |c: char| c.is_ascii_punctuation() && !"_\"()[]{}".contains(c);
            Token::Punct(leaf, self.rest().starts_with(is_sign))
        })
    }
}

/// The length of the number at the start of a text.
fn number(text: &str) -> usize {
    let letters =
        |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let mut length = letters(text);
    if text.starts_with("0x") {
        return length;
    }
    let behind = |length: usize| text[length..].chars().next();
    if text[length..].starts_with('.') && text[length + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        length += 1 + letters(&text[length + 1..]);
    }
    if text[..length].ends_with(['e', 'E']) && matches!(behind(length), Some('+' | '-')) {
        length += 1 + letters(&text[length + 1..]);
    }
    length
}

/// The value of an integer literal of Rust without its type suffix.
pub fn integer(text: &str) -> Option<u128> {
    let text = text.replace('_', "");
    let (radix, digits) = match text.get(..2) {
        Some("0x") => (16, &text[2..]),
        Some("0o") => (8, &text[2..]),
        Some("0b") => (2, &text[2..]),
        _ => (10, &text[..]),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let is_type = |rest: &str| {
        let size = rest.strip_prefix(['i', 'u']);
        rest.is_empty() || size.is_some_and(|size| ["8", "16", "32", "64", "128", "size"].contains(&size))
    };
    is_type(&digits[end..]).then(|| u128::from_str_radix(&digits[..end], radix).ok()).flatten()
}

/// The value of a float literal of Rust without its type suffix. An integer with a float suffix counts as a float.
pub fn float(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    let digits = text.strip_suffix("f64").or_else(|| text.strip_suffix("f32"));
    let is_float = digits.is_some() || text.contains(['.', 'e', 'E']);
    let digits = digits.unwrap_or(&text);
    (is_float && digits.starts_with(|c: char| c.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}
