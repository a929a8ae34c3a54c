//! A cursor over a list of tokens.

use crate::place::Place;
use crate::token::{Delimiter, Group, Leaf, Token};

/// A reader of tokens.
pub struct Reader {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    /// The place of the last token read, for errors about a missing token.
    last: Place,
}

impl Reader {
    /// A reader of the tokens that follow the given place.
    pub fn behind(place: Place, tokens: Vec<Token>) -> Reader {
        Reader { tokens: tokens.into_iter().peekable(), last: place }
    }

    /// A reader of these tokens.
    pub fn new(tokens: Vec<Token>) -> Reader {
        Reader::behind(Place::NOWHERE, tokens)
    }

    /// Whether all tokens were read.
    pub fn is_empty(&mut self) -> bool {
        self.tokens.peek().is_none()
    }

    /// The next token, without consuming it.
    pub fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek()
    }

    /// Consumes the next token.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: it knows where it is")]
    pub fn next(&mut self) -> Option<Token> {
        let token = self.tokens.next();
        if let Some(token) = &token {
            self.last = token.place();
        }
        token
    }

    /// Skips tokens until the remaining ones satisfy the predicate.
    pub fn skip_until(&mut self, is_wanted: impl Fn(&[Token]) -> bool) {
        let mut rest: Vec<Token> = self.tokens.by_ref().collect();
        let start = (0..rest.len()).find(|at| is_wanted(&rest[*at..])).unwrap_or(rest.len());
        self.tokens = rest.split_off(start).into_iter().peekable();
    }

    /// The tokens not read yet.
    pub fn rest(self) -> Vec<Token> {
        self.tokens.collect()
    }

    /// The place of the last token read.
    pub fn last(&self) -> Place {
        self.last
    }

    /// Consumes the next token if it is this punctuation character.
    pub fn takes_punct(&mut self, wanted: char) -> bool {
        let found = self.peek().is_some_and(|token| token.is_punct(wanted));
        if found {
            self.next();
        }
        found
    }

    /// Consumes `=>` if it comes next.
    pub fn takes_arrow(&mut self) -> bool {
        self.takes_punct('=') && self.takes_punct('>')
    }

    /// Consumes the next token if it is this word.
    pub fn takes_word(&mut self, wanted: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_word(wanted));
        if found {
            self.next();
        }
        found
    }

    /// Consumes the next token if it is a group with this delimiter.
    pub fn group(&mut self, wanted: Delimiter) -> Option<Group> {
        match self
            .tokens
            .next_if(|token| matches!(token, Token::Group(group) if group.delimiter == wanted))?
        {
            Token::Group(group) => {
                self.last = group.place;
                Some(group)
            }
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
                Some(token) if token.is_punct(':') && words.is_empty() => {}
                _ => return (!words.is_empty()).then_some((tokens, words)),
            }
            if !matches!(self.peek(), Some(Token::Punct(leaf, true)) if leaf.text == ":") {
                return Some((tokens, words));
            }
            tokens.extend(self.next());
            tokens.extend(self.next());
        }
    }
}
