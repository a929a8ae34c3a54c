//! What people call a function, whose value has no name.
//!
//! In: the source around it. Out: the name in front of its parameters, or that of what it is assigned to; and where it is.

use super::vm::Prototype;
use crate::syntax::ast::Line;
use crate::syntax::chunk_id;

impl Prototype {
    /// The name that the source gives it; `None` if it gives none.
    pub(crate) fn name(&self) -> Option<&str> {
        let (source, text) = self.text.as_ref()?;
        named(std::str::from_utf8(source.get(..text.bytes.start)?).ok()?)
    }

    /// The chunk, and the line where it begins.
    pub(crate) fn place(&self) -> String {
        let chunk = chunk_id(&self.chunk);
        let chunk = String::from_utf8_lossy(&chunk);
        if self.span.0 == 0 { chunk.into_owned() } else { format!("{chunk}:{}", self.span.0) }
    }

    /// What the source has in a line of the function; `None` if there is no source.
    pub(crate) fn source_line(&self, line: Line) -> Option<String> {
        let (source, text) = self.text.as_ref()?;
        let first = source[..text.bytes.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = source[first..].split(|byte| *byte == b'\n');
        let found = lines.nth(line.checked_sub(text.line)? as usize)?;
        Some(String::from_utf8_lossy(found).trim().to_string())
    }

    /// Where the text of the function is, which all forms of a vararg function have in common.
    pub(crate) fn identity(&self) -> (*const u8, usize) {
        match &self.text {
            Some((source, text)) => (source.as_ptr(), text.bytes.start),
            None => (std::ptr::from_ref(self).cast(), 0),
        }
    }

    /// The name, if it has one, and the place.
    pub(crate) fn title(&self) -> String {
        match (self.name(), self.lines.is_empty()) {
            // A function of the library that is bytecode, whose chunk has its name.
            (_, true) => format!("{} [library]", String::from_utf8_lossy(&self.chunk)),
            (Some(name), _) => format!("{name} ({})", self.place()),
            (None, _) if self.span.0 == 0 => format!("main chunk ({})", self.place()),
            (None, _) => format!("function ({})", self.place()),
        }
    }
}

/// The name of the function whose parameters stand behind this text.
fn named(before: &str) -> Option<&str> {
    match split_name(before) {
        (before, "function") => {
            let assigned = before.trim_end().strip_suffix('=')?;
            Some(split_name(assigned).1).filter(|name| !name.is_empty())
        }
        (_, name) => Some(name).filter(|name| !name.is_empty()),
    }
}

/// Splits the name off that stands at the end of a text.
fn split_name(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    text.split_at(text.len() - text.bytes().rev().take_while(is_part).count())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn the_source_says_what_a_function_is_called() {
        assert_eq!(named("local function fib"), Some("fib"));
        assert_eq!(named("x = 1 function Point:move "), Some("Point:move"));
        assert_eq!(named("local add = function"), Some("add"));
        assert_eq!(named("{ list.map =\n  function "), Some("list.map"));
        assert_eq!(named("sort(t, function"), None);
        assert_eq!(named("t['x'] = function"), None);
        assert_eq!(named(""), None);
    }
}
