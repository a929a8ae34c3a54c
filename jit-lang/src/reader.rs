//! A cursor over a list of tokens.

use crate::place::{Error, Parsed, Place};
use crate::token::{Delimiter, Group, Leaf, Token};
use std::collections::VecDeque;

/// A reader of tokens.
pub struct Reader {
    tokens: VecDeque<Token>,
    /// The place of the last token read, for errors about a missing token.
    last: Place,
    /// The place of what follows the tokens.
    end: Place,
}

impl Reader {
    /// A reader of the tokens between two places.
    pub fn between(before: Place, tokens: Vec<Token>, end: Place) -> Reader {
        Reader { tokens: tokens.into(), last: before, end }
    }

    /// A reader of these tokens.
    pub fn new(tokens: Vec<Token>) -> Reader {
        Reader::between(Place::NOWHERE, tokens, Place::NOWHERE)
    }

    /// A reader of the tokens inside a group.
    pub fn inside(group: Group) -> Reader {
        Reader::between(group.open, group.tokens, group.close)
    }

    /// Whether all tokens were read.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The next token, without consuming it.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.front()
    }

    /// Whether these punctuation characters come after the next `n` tokens.
    pub fn has_puncts(&self, n: usize, wanted: &str) -> bool {
        let has = |(at, wanted)| self.tokens.get(n + at).is_some_and(|token| token.is_punct(wanted));
        wanted.chars().enumerate().all(has)
    }

    /// Consumes the next token.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: it knows where it is")]
    pub fn next(&mut self) -> Option<Token> {
        let token = self.tokens.pop_front();
        if let Some(token) = &token {
            self.last = token.place();
        }
        token
    }

    /// Skips tokens until the remaining ones satisfy the predicate.
    pub fn skip_until(&mut self, is_wanted: impl Fn(&[Token]) -> bool) {
        let rest = self.tokens.make_contiguous();
        let start = (0..rest.len()).find(|at| is_wanted(&rest[*at..])).unwrap_or(rest.len());
        self.tokens.drain(..start);
    }

    /// The tokens not read yet.
    pub fn rest(self) -> Vec<Token> {
        self.tokens.into()
    }

    /// The place of the last token read.
    pub fn last(&self) -> Place {
        self.last
    }

    /// The place where the next token begins, or of what follows the tokens.
    pub fn here(&self) -> Place {
        self.peek().map_or(self.end, Token::start)
    }

    /// Whether this punctuation character comes next.
    pub fn is_punct(&self, wanted: char) -> bool {
        self.peek().is_some_and(|token| token.is_punct(wanted))
    }

    /// Whether this word comes next.
    pub fn is_word(&self, wanted: &str) -> bool {
        self.peek().is_some_and(|token| token.is_word(wanted))
    }

    /// Consumes the next token if it is this punctuation character.
    pub fn takes_punct(&mut self, wanted: char) -> bool {
        let found = self.is_punct(wanted);
        if found {
            self.next();
        }
        found
    }

    /// Consumes `=>` if it comes next.
    pub fn takes_arrow(&mut self) -> bool {
        let found = self.has_puncts(0, "=>");
        if found {
            self.next();
            self.next();
        }
        found
    }

    /// Consumes the next token if it is this word.
    pub fn takes_word(&mut self, wanted: &str) -> bool {
        let found = self.is_word(wanted);
        if found {
            self.next();
        }
        found
    }

    /// Consumes the next token if it is a group with this delimiter.
    pub fn group(&mut self, wanted: Delimiter) -> Option<Group> {
        match self.peek() {
            Some(Token::Group(group)) if group.delimiter == wanted => {}
            _ => return None,
        }
        match self.next() {
            Some(Token::Group(group)) => Some(group),
            _ => None,
        }
    }

    /// Reads a Rust path without generic arguments. Returns its tokens and its words.
    pub fn path(&mut self) -> Option<(Vec<Token>, Vec<Leaf>)> {
        let (mut tokens, mut words) = (Vec::new(), Vec::new());
        loop {
            match self.peek() {
                Some(Token::Word(word)) => {
                    words.push(word.clone());
                    tokens.extend(self.next());
                }
                Some(token) if token.is_punct(':') && tokens.is_empty() => {}
                _ => return (!words.is_empty()).then_some((tokens, words)),
            }
            if !matches!(self.peek(), Some(Token::Punct(leaf, true)) if leaf.text == ":") {
                return (!words.is_empty()).then_some((tokens, words));
            }
            tokens.extend(self.next());
            tokens.extend(self.next());
        }
    }

    /// Consumes the next token. If there is none, what was `expected` is missing.
    pub fn any(&mut self, expected: &str) -> Parsed<Token> {
        self.next().ok_or_else(|| Error::new(self.end, format!("expected {expected}")))
    }

    /// Consumes the next token, which has to be a word.
    pub fn name(&mut self, expected: &str) -> Parsed<Leaf> {
        match self.any(expected)? {
            Token::Word(leaf) => Ok(leaf),
            other => Err(Error::new(other.place(), format!("expected {expected}, found `{other}`"))),
        }
    }

    /// Consumes the next token, which has to be this punctuation character.
    pub fn punct(&mut self, punct: char) -> Parsed<()> {
        match self.any(&format!("`{punct}`"))? {
            found if found.is_punct(punct) => Ok(()),
            other => Err(Error::new(other.place(), format!("expected `{punct}`, found `{other}`"))),
        }
    }

    /// Consumes the comma between two items of a list. None is needed behind the last item.
    pub fn comma(&mut self) -> Parsed<()> {
        if self.is_empty() { Ok(()) } else { self.punct(',') }
    }
}
