//! Reading tokens one after the other.

use crate::place::Place;
use crate::token::{Delimiter, Group, Leaf, Token};

/// A reader of tokens.
pub struct Reader {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    /// Where the last token was, for what is missing behind it.
    last: Place,
}

impl Reader {
    /// A reader of these tokens, which stand behind a place.
    pub fn behind(place: Place, tokens: Vec<Token>) -> Reader {
        Reader { tokens: tokens.into_iter().peekable(), last: place }
    }

    /// A reader of these tokens.
    pub fn new(tokens: Vec<Token>) -> Reader {
        Reader::behind(Place::NOWHERE, tokens)
    }

    /// Whether all was read.
    pub fn is_empty(&mut self) -> bool {
        self.tokens.peek().is_none()
    }

    /// The next token.
    pub fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek()
    }

    /// Reads a token.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: it knows where it is")]
    pub fn next(&mut self) -> Option<Token> {
        let token = self.tokens.next();
        if let Some(token) = &token {
            self.last = token.place();
        }
        token
    }

    /// Passes over tokens until those that follow are wanted.
    pub fn skip_until(&mut self, is_wanted: impl Fn(&[Token]) -> bool) {
        let mut rest: Vec<Token> = self.tokens.by_ref().collect();
        let start = (0..rest.len()).find(|at| is_wanted(&rest[*at..])).unwrap_or(rest.len());
        self.tokens = rest.split_off(start).into_iter().peekable();
    }

    /// All that was not read.
    pub fn rest(self) -> Vec<Token> {
        self.tokens.collect()
    }

    /// Where the token that was read last stands.
    pub fn last(&self) -> Place {
        self.last
    }

    /// Reads a sign if it is the next token.
    pub fn takes_punct(&mut self, wanted: char) -> bool {
        let found = self.peek().is_some_and(|token| token.is_punct(wanted));
        if found {
            self.next();
        }
        found
    }

    /// Reads `=>` if that comes next.
    pub fn takes_arrow(&mut self) -> bool {
        self.takes_punct('=') && self.takes_punct('>')
    }

    /// Reads a word if it is the next token.
    pub fn takes_word(&mut self, wanted: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_word(wanted));
        if found {
            self.next();
        }
        found
    }

    /// Reads a group if one comes next.
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

    /// Reads a Rust path without generic arguments: its tokens, and its words.
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
