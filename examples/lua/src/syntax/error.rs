//! Errors of syntax, with the words of C's Lua.

use super::ast::Line;

/// Why a chunk cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The message, without the chunk's name and the line.
    pub message: Vec<u8>,
    /// The line at which the error was noticed; zero if the chunk is no text.
    pub line: Line,
    /// What kind of error it is.
    pub kind: SyntaxErrorKind,
}

/// Kinds of such errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyntaxErrorKind {
    /// The text is no Lua, or goes beyond what Lua allows.
    Wrong,
    /// The text ends where more of it was expected, so that an interactive reader asks for another line.
    Incomplete,
    /// The tree takes more memory than it may: see [`Bounds`](super::Bounds).
    TooLarge,
    /// Somebody has stopped the parser: see [`Bounds`](super::Bounds).
    Stopped,
}

impl SyntaxError {
    /// An error that says near which text it is, up to a zero, where strings of C end.
    pub fn near(message: &str, line: Line, text: &[u8]) -> SyntaxError {
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut all = message.as_bytes().to_vec();
        all.extend_from_slice(b" near '");
        all.extend_from_slice(text);
        all.push(b'\'');
        let kind = if text == b"<eof>" { SyntaxErrorKind::Incomplete } else { SyntaxErrorKind::Wrong };
        SyntaxError { message: all, line, kind }
    }

    /// An error of a whole chunk or function.
    pub fn of_whole(message: String, line: Line) -> SyntaxError {
        SyntaxError { message: message.into_bytes(), line, kind: SyntaxErrorKind::Wrong }
    }

    /// An error of a chunk that is no text.
    pub fn of_binary(reason: &str) -> SyntaxError {
        let message = format!("{reason} in precompiled chunk").into_bytes();
        SyntaxError { message, line: 0, kind: SyntaxErrorKind::Wrong }
    }

    /// An error that is not the text's.
    pub(super) fn of_reader(kind: SyntaxErrorKind) -> SyntaxError {
        let message = if kind == SyntaxErrorKind::Stopped { "interrupted!" } else { "not enough memory" };
        SyntaxError { message: message.into(), line: 0, kind }
    }

    /// The message as Lua shows it, behind the name of the chunk.
    pub fn text(&self, chunk: &[u8]) -> Vec<u8> {
        if matches!(self.kind, SyntaxErrorKind::TooLarge | SyntaxErrorKind::Stopped) {
            return self.message.clone();
        }
        if self.line == 0 {
            let name = match chunk.split_first() {
                Some((b'=' | b'@', rest)) => rest,
                Some((0x1b, _)) => b"binary string",
                _ => chunk,
            };
            return [name, b": ", &self.message].concat();
        }
        let mut text = cut_id(chunk, ID_SIZE_OF_SYNTAX);
        text.extend_from_slice(format!(":{}: ", self.line).as_bytes());
        text.extend_from_slice(&self.message);
        text
    }
}

/// How many bytes the name of a chunk takes that is shown, with the zero at the end that C's Lua counts.
const ID_SIZE: usize = 60;
/// The same in messages about syntax.
const ID_SIZE_OF_SYNTAX: usize = 80;

/// What errors call a chunk: of `@file` and `=name` what follows, of any other text its first line in quotes.
///
/// ```
/// # use azulejo_lua::syntax::chunk_id;
/// assert_eq!(chunk_id(b"@main.lua"), b"main.lua");
/// assert_eq!(chunk_id(b"=stdin"), b"stdin");
/// assert_eq!(chunk_id(b"return 1"), b"[string \"return 1\"]");
/// assert_eq!(chunk_id(b"f()\ng()"), b"[string \"f()...\"]");
/// ```
pub fn chunk_id(name: &[u8]) -> Vec<u8> {
    cut_id(name, ID_SIZE)
}

fn cut_id(name: &[u8], size: usize) -> Vec<u8> {
    // Of a text that is its own name only the start is shown, however long it is.
    let name = match name.first() {
        Some(b'@') => name,
        _ => &name[..name.len().min(size)],
    };
    // A string of C ends at a zero.
    let name = &name[..memchr::memchr(0, name).unwrap_or(name.len())];
    match name.split_first() {
        Some((b'=', rest)) => rest[..rest.len().min(size - 1)].to_vec(),
        Some((b'@', rest)) => {
            let room = size - 1 - " '...' ".len();
            match rest.len() > room {
                true => [b"...", &rest[rest.len() - room..]].concat(),
                false => rest.to_vec(),
            }
        }
        _ => {
            let room = size - 1 - " [string \"...\"] ".len();
            let line = name.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(name.len());
            let shown = line.min(room);
            match shown < name.len() {
                true => [b"[string \"", &name[..shown], b"...\"]"].concat(),
                false => [b"[string \"", name, b"\"]"].concat(),
            }
        }
    }
}
