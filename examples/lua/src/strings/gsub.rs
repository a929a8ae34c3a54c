//! Replaces matches.
//!
//! In: a subject and a pattern. Out: the subject with its matches replaced, at the end of a vector. [`Gsub`] goes from match to
//! match, for replacements that are functions or tables; [`gsub`] is the whole for those that are texts.

use crate::number;
use crate::strings::make_room;
use crate::strings::matcher::{Captured, Match, Matcher};
use crate::strings::pattern::{Pattern, PatternError};
use memchr::memchr;

/// The state of one `gsub`: how far it is. It borrows nothing, so that other code may run between matches.
///
/// # Examples
///
/// ```
/// use azulejo_lua::strings::{Gsub, Matcher, Pattern};
///
/// let (subject, pattern) = (b"one two", Pattern::new(b"%a+"));
/// let (mut matcher, mut gsub, mut out) = (Matcher::new(), Gsub::new(None), Vec::new());
/// while let Some(found) = gsub.next(&mut matcher, &pattern, subject, &mut out).unwrap() {
///     out.extend(subject[found.start()..found.end()].iter().rev());
/// }
/// gsub.finish(subject, &mut out).unwrap();
/// assert_eq!((out.as_slice(), gsub.count()), (&b"eno owt"[..], 2));
/// ```
#[derive(Clone, Debug)]
pub struct Gsub {
    /// What is before is copied or replaced.
    done: usize,
    /// Where the next match may start; nothing if there is none.
    next: Option<usize>,
    count: usize,
    limit: usize,
}

impl Gsub {
    /// Starts at the beginning of a subject, to replace as many matches as a limit says. A negative limit is like 0.
    pub fn new(limit: Option<i32>) -> Gsub {
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
        Gsub { done: 0, next: Some(0), count: 0, limit }
    }

    /// How many matches there were.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The next match. What is before it is appended first; its replacement is for the caller to append. All calls must have the
    /// same pattern and subject.
    pub fn next<'m>(
        &mut self,
        matcher: &'m mut Matcher,
        pattern: &Pattern,
        subject: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<&'m Match>, PatternError> {
        let Some(start) = self.next.filter(|_| self.count < self.limit) else { return Ok(None) };
        self.next = None;
        let Some(found) = matcher.find(pattern, subject, start)? else { return Ok(None) };
        append(&subject[self.done..found.start()], out)?;
        self.done = found.end();
        self.count += 1;
        self.next = (!pattern.is_anchored()).then_some(found.resume());
        Ok(Some(found))
    }

    /// Appends what is left of the subject.
    pub fn finish(&self, subject: &[u8], out: &mut Vec<u8>) -> Result<(), PatternError> {
        append(&subject[self.done..], out)
    }
}

/// Appends bytes, of which there may be many.
#[inline]
fn append(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), PatternError> {
    room(bytes.len(), out)?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// Makes room for so many bytes.
#[inline]
fn room(bytes: usize, out: &mut Vec<u8>) -> Result<(), PatternError> {
    make_room(out, bytes).map_err(|_| PatternError::NoMemory)
}

/// Replaces matches by a text, in which `%1` to `%9` are captures and `%0` the whole match. The result says how many.
///
/// # Examples
///
/// ```
/// use azulejo_lua::strings::{Matcher, Pattern, gsub};
///
/// let mut out = Vec::new();
/// let pattern = Pattern::new(b"(%w+) (%w+)");
/// let count = gsub(&mut Matcher::new(), &pattern, b"hello world", b"%2 %1", None, &mut out);
/// assert_eq!((count, out.as_slice()), (Ok(1), &b"world hello"[..]));
/// ```
pub fn gsub(
    matcher: &mut Matcher,
    pattern: &Pattern,
    subject: &[u8],
    replacement: &[u8],
    limit: Option<i32>,
    out: &mut Vec<u8>,
) -> Result<usize, PatternError> {
    let mut state = Gsub::new(limit);
    while let Some(found) = state.next(matcher, pattern, subject, out)? {
        put_replacement(found, subject, replacement, out)?;
    }
    state.finish(subject, out)?;
    Ok(state.count())
}

/// Appends the replacement of one match. A `%` before any other byte goes, and one at the end becomes a byte 0, as in C.
pub fn put_replacement(
    found: &Match,
    subject: &[u8],
    replacement: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), PatternError> {
    let mut rest = replacement;
    while let Some(at) = memchr(b'%', rest) {
        append(&rest[..at], out)?;
        let byte = rest.get(at + 1).copied().unwrap_or(0);
        match byte {
            b'0' => append(&subject[found.start()..found.end()], out)?,
            b'1'..=b'9' => match found.capture(usize::from(byte - b'1'), subject)? {
                Captured::Text(text) => append(text, out)?,
                Captured::Position(position) => {
                    room(number::MOST_BYTES, out)?;
                    number::write(position as f64, out);
                }
            },
            _ => append(&[byte], out)?,
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    append(rest, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_replaced_as_in_c() {
        let cases: &[(&str, &str, &str, Option<i32>, &str)] = &[
            ("hello", "l", "x", None, "hexxo 2"),
            ("hello", "", "-", None, "-h-e-l-l-o- 6"),
            ("hello", "%w*", "x", None, "xx 2"),
            ("hello", "^h", "%0%0", None, "hhello 1"),
            ("hello", "^", "x", None, "xhello 1"),
            ("hello", "l", "x", Some(1), "hexlo 1"),
            ("hello", "l", "x", Some(0), "hello 0"),
            ("hello", "l", "x", Some(-1), "hello 0"),
            ("abc", "()b()", "%1%2", None, "a23c 1"),
            ("abc", "b", "%1%%%x", None, "ab%xc 1"),
            ("abc", "b", "%", None, "a\0c 1"),
            ("abc", "b", "%2", None, "invalid capture index"),
            ("abc", "(b)(", "%2", None, "unfinished capture"),
            ("abc", "(b)(", "%1", None, "abc 1"),
            ("abc", "x", "%9", None, "abc 0"),
        ];
        for (subject, pattern, replacement, limit, expected) in cases {
            let (mut matcher, mut out) = (Matcher::new(), Vec::new());
            let pattern = Pattern::new(pattern.as_bytes());
            let (subject, replacement) = (subject.as_bytes(), replacement.as_bytes());
            let text = match gsub(&mut matcher, &pattern, subject, replacement, *limit, &mut out) {
                Ok(count) => format!("{} {count}", String::from_utf8_lossy(&out)),
                Err(error) => error.to_string(),
            };
            assert_eq!(text, *expected);
        }
    }
}
