//! Source text to tokens.
//!
//! In: a chunk's bytes. Out: one token after the other, with its line and its text for error messages; or a [`SyntaxError`]. The
//! rules and the messages are those of C's Lua 5.1.

use super::arena::Arena;
use super::ast::{Line, Name};
use super::error::SyntaxError;
use super::text::Text;
use crate::number;
use std::ops::Range;

macro_rules! tokens {
    ($($variant:ident $text:literal,)*) => {
        /// A token that is a word of the language or a sign.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Sign {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl Sign {
            /// How it is written.
            pub(super) fn text(self) -> &'static str {
                match self {
                    $(Sign::$variant => $text,)*
                }
            }

            /// The word of the language that is written like this.
            fn word(text: &[u8]) -> Option<Sign> {
                const ALL: &[(Sign, &str)] = &[$((Sign::$variant, $text)),*];
                const BY_FIRST: [Range<usize>; LETTERS] = words_by_first(ALL);
                let first = text.first()?.wrapping_sub(b'a') as usize;
                let words = &ALL[BY_FIRST.get(first)?.clone()];
                words.iter().find(|(_, written)| written.as_bytes() == text).map(|(sign, _)| *sign)
            }
        }
    };
}

/// How many letters words may start with.
const LETTERS: usize = 26;

/// Where the words are that start with each letter. Words are in front of other signs, and in the order of the alphabet.
const fn words_by_first(all: &[(Sign, &str)]) -> [Range<usize>; LETTERS] {
    let mut ranges = [const { 0..0 }; LETTERS];
    let (mut letter, mut at) = (0, 0);
    while letter < LETTERS {
        let start = at;
        while all[at].1.as_bytes()[0] == b'a' + letter as u8 {
            at += 1;
        }
        ranges[letter] = start..at;
        letter += 1;
    }
    assert!(!all[at].1.as_bytes()[0].is_ascii_lowercase(), "all words are in this order");
    ranges
}

tokens! {
    And "and",
    Break "break",
    Do "do",
    Else "else",
    ElseIf "elseif",
    End "end",
    False "false",
    For "for",
    Function "function",
    If "if",
    In "in",
    Local "local",
    Nil "nil",
    Not "not",
    Or "or",
    Repeat "repeat",
    Return "return",
    Then "then",
    True "true",
    Until "until",
    While "while",
    Plus "+",
    Minus "-",
    Star "*",
    Slash "/",
    Percent "%",
    Caret "^",
    Hash "#",
    Equal "==",
    NotEqual "~=",
    LessEqual "<=",
    GreaterEqual ">=",
    Less "<",
    Greater ">",
    Assign "=",
    OpenParen "(",
    CloseParen ")",
    OpenBrace "{",
    CloseBrace "}",
    OpenBracket "[",
    CloseBracket "]",
    Semicolon ";",
    Colon ":",
    Comma ",",
    Dot ".",
    Concat "..",
    Dots "...",
}

/// A token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// A word of the language, or a sign.
    Sign(Sign),
    /// Any other name.
    Name(&'a Name),
    /// A string's bytes.
    String(&'a Name),
    /// A number.
    Number(f64),
    /// A byte that starts no token.
    Other(u8),
    /// The end of the chunk.
    End,
}

/// Whether a byte may be in a name, behind its first one.
fn is_in_name(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
            byte += 1;
        }
        table
    };
    TABLE[byte as usize]
}

/// Names and short strings that were read lately. Sources have few that they repeat often: most do not take memory once more.
#[derive(Debug)]
struct Recent<'a>([Option<&'a Name>; RECENT]);

/// How many names and strings are remembered at most.
const RECENT: usize = 128;

impl<'a> Recent<'a> {
    /// Longer ones are not looked for.
    const LONGEST: usize = 40;

    /// A name or a string with these bytes.
    fn name(&mut self, arena: &'a Arena, text: &[u8]) -> &'a Name {
        if text.len() > Self::LONGEST {
            return arena.name(text.into());
        }
        let mix = |hash: u32, byte: &u8| hash.wrapping_mul(31).wrapping_add(u32::from(*byte));
        let hash = text.iter().fold(text.len() as u32, mix).wrapping_mul(0x9e37_79b1);
        let place = &mut self.0[hash as usize >> (u32::BITS - RECENT.ilog2())];
        place.take_if(|name| ***name != *text);
        place.get_or_insert_with(|| arena.name(text.into()))
    }
}

/// The state of reading a chunk.
#[derive(Debug)]
pub(super) struct Lexer<'s, 'a> {
    source: Text<'s>,
    arena: &'a Arena,
    /// Where the next byte is.
    at: usize,
    /// Where the last token starts.
    start: usize,
    line: Line,
    recent: Recent<'a>,
}

impl<'s, 'a> Lexer<'s, 'a> {
    /// Starts before the first token, which is on this line or behind it.
    pub(super) fn new(arena: &'a Arena, source: Text<'s>, line: Line) -> Lexer<'s, 'a> {
        Lexer { source, arena, at: 0, start: 0, line, recent: Recent([None; RECENT]) }
    }

    /// Leaves out what stands in front of a byte.
    pub(super) fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The line of the next byte, which is that of the last token's end.
    pub(super) fn line(&self) -> Line {
        self.line
    }

    /// Where the last token stands in the source.
    pub(super) fn span(&self) -> (usize, usize) {
        (self.start, self.at)
    }

    /// The text of what stands there.
    pub(super) fn text(&self, (start, end): (usize, usize)) -> &[u8] {
        &self.source.bytes()[start..end]
    }

    /// All of the source that was read.
    pub(super) fn into_source(self) -> Vec<u8> {
        self.source.into_bytes()
    }

    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.source.get(self.at)
    }

    /// How often a byte stands behind the next one.
    fn count_behind(&mut self, byte: u8) -> usize {
        let start = self.at + 1;
        let mut end = start;
        while self.source.get(end) == Some(byte) {
            end += 1;
        }
        end - start
    }

    /// Skips a byte if it is the next one.
    fn skip(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += is_there as usize;
        is_there
    }

    /// Skips the bytes that are so.
    #[inline]
    fn skip_while(&mut self, is_so: impl Fn(u8) -> bool) {
        loop {
            let rest = &self.source.bytes()[self.at..];
            let count = rest.iter().position(|byte| !is_so(*byte));
            self.at += count.unwrap_or(rest.len());
            // What is not there yet may be so, too.
            if count.is_some() || self.peek().is_none() {
                return;
            }
        }
    }

    /// Skips a line's end, of one or two bytes.
    fn end_line(&mut self) {
        let first = self.peek();
        self.at += 1;
        if matches!((first, self.peek()), (Some(b'\n'), Some(b'\r')) | (Some(b'\r'), Some(b'\n'))) {
            self.at += 1;
        }
        self.line += 1;
    }

    /// An error at the token that is being read, of which so much is named.
    fn wrong<T>(&self, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::near(message, self.line, self.text(self.span())))
    }

    /// An error in a string, of which what was read so far is named, with its escapes replaced.
    fn wrong_string<T>(&self, message: &str, text: &[u8]) -> Result<T, SyntaxError> {
        let near = [self.text((self.start, self.start + 1)), text].concat();
        Err(SyntaxError::near(message, self.line, &near))
    }

    fn wrong_at_end<T>(&self, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::near(message, self.line, b"<eof>"))
    }

    /// Reads the next token, and looks at the byte behind it, as C's Lua does.
    pub(super) fn token(&mut self) -> Result<Token<'a>, SyntaxError> {
        let token = self.next_token()?;
        self.peek();
        Ok(token)
    }

    fn next_token(&mut self) -> Result<Token<'a>, SyntaxError> {
        loop {
            self.start = self.at;
            let Some(first) = self.peek() else { return Ok(Token::End) };
            match first {
                b'\n' | b'\r' => self.end_line(),
                b' ' | b'\t' | b'\x0b' | b'\x0c' => {
                    self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c'));
                }
                b'-' if self.source.get(self.at + 1) == Some(b'-') => self.comment()?,
                b'"' | b'\'' => return self.string(first),
                b'[' => {
                    if let Some(level) = self.long_bracket()? {
                        let text = self.long_text(level, "unfinished long string")?;
                        return Ok(Token::String(self.arena.name(text.into())));
                    }
                    self.at += 1;
                    return Ok(Token::Sign(Sign::OpenBracket));
                }
                b'0'..=b'9' => return self.number(),
                b'.' if self.source.get(self.at + 1).is_some_and(|byte| byte.is_ascii_digit()) => {
                    return self.number();
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return Ok(self.name()),
                _ => return Ok(self.sign(first)),
            }
        }
    }

    fn sign(&mut self, first: u8) -> Token<'a> {
        self.at += 1;
        let sign = match first {
            b'+' => Sign::Plus,
            b'-' => Sign::Minus,
            b'*' => Sign::Star,
            b'/' => Sign::Slash,
            b'%' => Sign::Percent,
            b'^' => Sign::Caret,
            b'#' => Sign::Hash,
            b'(' => Sign::OpenParen,
            b')' => Sign::CloseParen,
            b'{' => Sign::OpenBrace,
            b'}' => Sign::CloseBrace,
            b']' => Sign::CloseBracket,
            b';' => Sign::Semicolon,
            b':' => Sign::Colon,
            b',' => Sign::Comma,
            b'=' if self.skip(b'=') => Sign::Equal,
            b'=' => Sign::Assign,
            b'<' if self.skip(b'=') => Sign::LessEqual,
            b'<' => Sign::Less,
            b'>' if self.skip(b'=') => Sign::GreaterEqual,
            b'>' => Sign::Greater,
            b'~' if self.skip(b'=') => Sign::NotEqual,
            b'.' if self.skip(b'.') => match self.skip(b'.') {
                true => Sign::Dots,
                false => Sign::Concat,
            },
            b'.' => Sign::Dot,
            other => return Token::Other(other),
        };
        Token::Sign(sign)
    }

    fn name(&mut self) -> Token<'a> {
        self.skip_while(is_in_name);
        let text = &self.source.bytes()[self.start..self.at];
        Sign::word(text).map_or_else(|| Token::Name(self.recent.name(self.arena, text)), Token::Sign)
    }

    fn number(&mut self) -> Result<Token<'a>, SyntaxError> {
        self.skip_while(|byte| byte.is_ascii_digit() || byte == b'.');
        if self.peek().is_some_and(|byte| matches!(byte, b'e' | b'E')) {
            self.at += 1;
            if self.peek().is_some_and(|byte| matches!(byte, b'+' | b'-')) {
                self.at += 1;
            }
        }
        self.skip_while(is_in_name);
        match number::parse(self.text(self.span())) {
            Some(value) => Ok(Token::Number(value)),
            None => self.wrong("malformed number"),
        }
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        self.at += 2;
        if self.peek() == Some(b'[') {
            let start = self.at;
            // What looks like a long bracket and is none starts a comment of one line.
            if let Ok(Some(level)) = self.long_bracket() {
                return self.long_text(level, "unfinished long comment").map(drop);
            }
            self.at = start;
        }
        self.skip_while(|byte| !matches!(byte, b'\n' | b'\r'));
        Ok(())
    }

    /// Skips `[`, some `=`, and `[`, and returns how many `=` there are; skips nothing if there is but one `[`.
    fn long_bracket(&mut self) -> Result<Option<usize>, SyntaxError> {
        let level = self.count_behind(b'=');
        if self.source.get(self.at + 1 + level) == Some(b'[') {
            self.at += level + 2;
            return Ok(Some(level));
        }
        if level == 0 {
            return Ok(None);
        }
        self.at += level + 1;
        self.wrong("invalid long string delimiter")
    }

    /// Reads on behind a long bracket of this level, to the one that closes it.
    fn long_text(&mut self, level: usize, unfinished: &str) -> Result<Vec<u8>, SyntaxError> {
        let mut text = Vec::new();
        if matches!(self.peek(), Some(b'\n' | b'\r')) {
            self.end_line();
        }
        loop {
            match self.peek() {
                None => return self.wrong_at_end(unfinished),
                Some(b'\n' | b'\r') => {
                    text.push(b'\n');
                    self.end_line();
                }
                Some(b']') => {
                    let found = self.count_behind(b'=');
                    if found == level && self.source.get(self.at + 1 + level) == Some(b']') {
                        self.at += level + 2;
                        return Ok(text);
                    }
                    text.push(b']');
                    self.at += 1;
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<Token<'a>, SyntaxError> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let from = self.at;
            self.skip_while(|byte| byte != quote && !matches!(byte, b'\\' | b'\n' | b'\r'));
            let plain = from..self.at;
            let Some(byte) = self.peek() else { return self.wrong_at_end("unfinished string") };
            if byte == quote && text.is_empty() {
                self.at += 1;
                return Ok(Token::String(self.recent.name(self.arena, &self.source.bytes()[plain])));
            }
            text.extend_from_slice(&self.source.bytes()[plain]);
            match byte {
                b'\n' | b'\r' => return self.wrong_string("unfinished string", &text),
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut text)?;
                }
                _ => {
                    self.at += 1;
                    return Ok(Token::String(self.arena.name(text.into())));
                }
            }
        }
    }

    /// Reads on behind a backslash.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let Some(byte) = self.peek() else { return Ok(()) };
        let meant = match byte {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\n' | b'\r' => {
                text.push(b'\n');
                self.end_line();
                return Ok(());
            }
            b'0'..=b'9' => {
                let mut value = 0;
                for _ in 0..3 {
                    let Some(digit) = self.peek().filter(u8::is_ascii_digit) else { break };
                    value = 10 * value + (digit - b'0') as u32;
                    self.at += 1;
                }
                let Ok(value) = u8::try_from(value) else {
                    return self.wrong_string("escape sequence too large", text);
                };
                text.push(value);
                return Ok(());
            }
            other => other,
        };
        text.push(meant);
        self.at += 1;
        Ok(())
    }
}
