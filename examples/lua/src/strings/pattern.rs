//! Compiles patterns.
//!
//! In: the text of a pattern. Out: a [`Pattern`], a row of items, with all sets of bytes made. Compiling never fails: the C
//! implementation finds a fault when matching comes to it, and with a subject that does not match so far it never does. So what
//! is malformed is an item that fails when its turn comes.
//!
//! Items follow each other in one row because patterns have neither alternatives nor repeated groups. So it is known here which
//! capture an item opens, closes or repeats, and whether it may. As in C, a byte 0 ends the text.

use crate::number::until_zero;
use crate::strings::class::{ByteSet, class};
use std::fmt;
use std::rc::Rc;

/// Why a pattern, its captures or a replacement are refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern ends behind a `%`.
    EndsWithPercent,
    /// A `[` has no `]`.
    MissingBracket,
    /// `%f` has no set.
    MissingSet,
    /// `%b` has fewer than two bytes.
    Unbalanced,
    /// A `)` has no `(`.
    InvalidCapture,
    /// A capture is named that does not exist, or is still open.
    InvalidCaptureIndex,
    /// A `(` has no `)`.
    UnfinishedCapture,
    /// There are more than [`MAX_CAPTURES`] captures.
    TooManyCaptures,
    /// A search took more steps than it may: see [`Matcher::limit`](super::Matcher::limit).
    TooManySteps,
    /// There is no memory for what takes the place of matches.
    NoMemory,
    /// A search was stopped: see [`Matcher::stop_if`](super::Matcher::stop_if).
    Stopped,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PatternError::EndsWithPercent => "malformed pattern (ends with '%')",
            PatternError::MissingBracket => "malformed pattern (missing ']')",
            PatternError::MissingSet => "missing '[' after '%f' in pattern",
            PatternError::Unbalanced => "unbalanced pattern",
            PatternError::InvalidCapture => "invalid pattern capture",
            PatternError::InvalidCaptureIndex => "invalid capture index",
            PatternError::UnfinishedCapture => "unfinished capture",
            PatternError::TooManyCaptures => "too many captures",
            PatternError::TooManySteps => "too many steps",
            PatternError::NoMemory => "not enough memory",
            PatternError::Stopped => "stopped",
        })
    }
}

impl std::error::Error for PatternError {}

/// How many captures a pattern may have.
pub const MAX_CAPTURES: usize = 32;

/// Which bytes a single item takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Single {
    Any,
    Byte(u8),
    /// The set of this number.
    Set(u32),
}

/// One item of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// One byte.
    One(Single),
    /// `?`
    Optional(Single),
    /// `*` and `+`: as many as possible, and at least so many. The byte is what any match goes on with, if that is known.
    Longest(Single, usize, Option<u8>),
    /// `-`: as few as possible. The byte is as above.
    Shortest(Single, Option<u8>),
    /// `(` of the capture of this number.
    Open(usize),
    /// `()`
    Position(usize),
    /// `)`
    Close(usize),
    /// `%1` to `%9`
    Back(usize),
    /// `%bxy`
    Balanced(u8, u8),
    /// `%f` with the set of this number.
    Frontier(u32),
    /// `$`
    End,
    /// Matching fails if it comes here.
    Malformed(PatternError),
}

/// A compiled pattern.
///
/// # Examples
///
/// ```
/// use azulejo_lua::strings::{Matcher, Pattern};
///
/// let subject = b"key = value";
/// let pattern = Pattern::new(b"(%w+)%s*=%s*(%w+)");
/// let mut matcher = Matcher::new();
/// let found = matcher.find(&pattern, subject, 0).unwrap().unwrap();
/// assert_eq!((found.start(), found.end()), (0, 11));
/// assert_eq!(found.capture(1, subject).unwrap().text(), Some(&b"value"[..]));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    pub(super) items: Vec<Item>,
    pub(super) sets: Vec<ByteSet>,
    pub(super) n_captures: usize,
    pub(super) is_anchored: bool,
    /// Every match starts with one of these bytes, if that is known.
    pub(super) first: Option<Single>,
    /// Whether that is all, once or as often as it comes.
    pub(super) only: Option<Only>,
    is_plain: bool,
}

/// The whole of a pattern with one item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Only {
    /// One byte.
    One,
    /// As many as there are.
    Many,
}

impl Pattern {
    /// The pattern of `find`, `match` and `gsub`: a `^` at its start ties it to where matching starts.
    pub fn new(text: &[u8]) -> Pattern {
        match until_zero(text) {
            [b'^', rest @ ..] => Pattern::compile(rest, true),
            text => Pattern::compile(text, false),
        }
    }

    /// The pattern of `gmatch`, to which `^` is a byte like others.
    pub fn unanchored(text: &[u8]) -> Pattern {
        Pattern::compile(until_zero(text), false)
    }

    /// Whether a `^` ties it to where matching starts.
    pub fn is_anchored(&self) -> bool {
        self.is_anchored
    }

    /// Whether it is only a text to `find`: see [`is_plain`].
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    fn compile(text: &[u8], is_anchored: bool) -> Pattern {
        let mut compiler = Compiler { rest: text, sets: Vec::new(), n_captures: 0, open: Vec::new() };
        let mut items = Vec::new();
        while !compiler.rest.is_empty() {
            match compiler.item() {
                Ok(item) => items.push(item),
                Err(error) => {
                    items.push(Item::Malformed(error));
                    break;
                }
            }
        }
        // An item learns which byte follows it. Captures are opened and closed between bytes.
        let mut next = None;
        for item in items.iter_mut().rev() {
            match item {
                Item::Longest(_, _, follow) | Item::Shortest(_, follow) => *follow = next,
                _ => {}
            }
            next = match item {
                Item::Open(_) | Item::Position(_) | Item::Close(_) => next,
                Item::One(Single::Byte(byte)) | Item::Longest(Single::Byte(byte), 1.., _) => Some(*byte),
                _ => None,
            };
        }
        let first =
            items.iter().find(|item| !matches!(item, Item::Open(_) | Item::Position(_) | Item::Close(_)));
        let first = match first {
            Some(Item::One(single) | Item::Longest(single, 1.., _)) if *single != Single::Any => {
                Some(*single)
            }
            Some(Item::Balanced(open, _)) => Some(Single::Byte(*open)),
            // At the end of a subject there is a byte 0 for it.
            Some(Item::Frontier(set)) if !compiler.sets[*set as usize].has(0) => Some(Single::Set(*set)),
            _ => None,
        };
        let only = match items[..] {
            [Item::One(_)] => first.map(|_| Only::One),
            [Item::Longest(..)] => first.map(|_| Only::Many),
            _ => None,
        };
        let is_plain = !is_anchored && is_plain(text);
        Pattern {
            items,
            sets: compiler.sets,
            n_captures: compiler.n_captures,
            is_anchored,
            first,
            only,
            is_plain,
        }
    }

    /// Whether a single item takes a byte.
    #[inline]
    pub(super) fn takes(&self, single: Single, byte: u8) -> bool {
        match single {
            Single::Any => true,
            Single::Byte(expected) => byte == expected,
            Single::Set(number) => self.sets[number as usize].has(byte),
        }
    }
}

/// What is left of a pattern's text, the sets that were made, and the captures so far.
struct Compiler<'a> {
    rest: &'a [u8],
    sets: Vec<ByteSet>,
    n_captures: usize,
    /// The captures that are open, the last one last.
    open: Vec<usize>,
}

impl Compiler<'_> {
    fn item(&mut self) -> Result<Item, PatternError> {
        let item = match self.rest {
            [b'(', b')', ..] => (Item::Position(self.open_capture()?), 2),
            [b'(', ..] => {
                let number = self.open_capture()?;
                self.open.push(number);
                (Item::Open(number), 1)
            }
            [b')', ..] => (Item::Close(self.open.pop().ok_or(PatternError::InvalidCapture)?), 1),
            [b'$'] => (Item::End, 1),
            [b'%', b'b', open, close, ..] => (Item::Balanced(*open, *close), 4),
            [b'%', b'b', ..] => return Err(PatternError::Unbalanced),
            [b'%', b'f', rest @ ..] => {
                let [b'[', rest @ ..] = rest else { return Err(PatternError::MissingSet) };
                self.rest = rest;
                (Item::Frontier(self.brackets()?), 0)
            }
            [b'%', digit @ b'0'..=b'9', ..] => {
                let number = usize::from(*digit).wrapping_sub(usize::from(b'1'));
                if number >= self.n_captures || self.open.contains(&number) {
                    return Err(PatternError::InvalidCaptureIndex);
                }
                (Item::Back(number), 2)
            }
            _ => return self.repeated(),
        };
        self.rest = &self.rest[item.1..];
        Ok(item.0)
    }

    /// The number of the capture that begins here.
    fn open_capture(&mut self) -> Result<usize, PatternError> {
        if self.n_captures == MAX_CAPTURES {
            return Err(PatternError::TooManyCaptures);
        }
        self.n_captures += 1;
        Ok(self.n_captures - 1)
    }

    /// What takes single bytes, with the letter behind it that says how many.
    fn repeated(&mut self) -> Result<Item, PatternError> {
        let single = self.single()?;
        let Some((suffix, rest)) = self.rest.split_first() else { return Ok(Item::One(single)) };
        let item = match suffix {
            b'?' => Item::Optional(single),
            b'*' => Item::Longest(single, 0, None),
            b'+' => Item::Longest(single, 1, None),
            b'-' => Item::Shortest(single, None),
            _ => return Ok(Item::One(single)),
        };
        self.rest = rest;
        Ok(item)
    }

    fn single(&mut self) -> Result<Single, PatternError> {
        let (first, rest) = self.rest.split_first().expect("an item has a first byte");
        self.rest = rest;
        Ok(match first {
            b'.' => Single::Any,
            b'%' => {
                let (letter, rest) = rest.split_first().ok_or(PatternError::EndsWithPercent)?;
                self.rest = rest;
                match class(*letter) {
                    Some(set) => Single::Set(self.add(set)),
                    None => Single::Byte(*letter),
                }
            }
            b'[' => Single::Set(self.brackets()?),
            byte => Single::Byte(*byte),
        })
    }

    /// The number of a set, from behind its `[`.
    fn brackets(&mut self) -> Result<u32, PatternError> {
        let (is_complement, text) = match self.rest {
            [b'^', rest @ ..] => (true, rest),
            text => (false, text),
        };
        // Where the set ends is found by itself: what is behind a `%` does not end it, nor does its first byte.
        let mut len = 0;
        loop {
            len += match text.get(len..).unwrap_or_default() {
                [] => return Err(PatternError::MissingBracket),
                [b'%', _, ..] => 2,
                _ => 1,
            };
            if text.get(len) == Some(&b']') {
                break;
            }
        }
        self.rest = &text[len + 1..];
        let mut set = ByteSet::EMPTY;
        let mut inside = &text[..len];
        while !inside.is_empty() {
            inside = match inside {
                [b'%', letter, rest @ ..] => {
                    match class(*letter) {
                        Some(class) => set.add(class),
                        None => set.add_range(*letter, *letter),
                    }
                    rest
                }
                // The first half of a pair was the end of a range. C looks at the bracket then.
                [b'%'] => {
                    set.add_range(b']', b']');
                    &[]
                }
                [first, b'-', last, rest @ ..] => {
                    set.add_range(*first, *last);
                    rest
                }
                [byte, rest @ ..] => {
                    set.add_range(*byte, *byte);
                    rest
                }
                [] => unreachable!("the set has bytes left"),
            };
        }
        Ok(self.add(if is_complement { set.complement() } else { set }))
    }

    fn add(&mut self, set: ByteSet) -> u32 {
        // Only the last few, so that a long pattern takes no longer than its length.
        let known = self.sets.iter().enumerate().rev().take(8).find(|(_, other)| **other == set);
        let number = known.map(|(number, _)| number).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        });
        u32::try_from(number).expect("there are no more sets of bytes in a pattern than it has bytes")
    }
}

/// Whether a pattern is only a text to `find`: it has none of the bytes that mean something, as far as C looks.
pub fn is_plain(pattern: &[u8]) -> bool {
    !until_zero(pattern).iter().any(|byte| b"^$*+?.([%-".contains(byte))
}

/// A text and its pattern.
#[derive(Clone, Debug)]
struct Known {
    text: Box<[u8]>,
    pattern: Rc<Pattern>,
}

/// Remembers compiled patterns: a program mostly has a few, and uses each often.
///
/// # Examples
///
/// ```
/// let mut patterns = azulejo_lua::strings::Patterns::default();
/// let first = patterns.get(b"%a+");
/// assert!(std::rc::Rc::ptr_eq(&first, &patterns.get(b"%a+")));
/// ```
#[derive(Debug, Default)]
pub struct Patterns {
    /// A pattern is in the place that its hash names, or nowhere.
    places: Vec<Option<Known>>,
}

impl Patterns {
    const N_PLACES: usize = 64;
    /// Longer patterns are not remembered.
    pub(crate) const MAX_LEN: usize = 128;

    /// The pattern of a text, as [`Pattern::new`] makes it.
    pub fn get(&mut self, text: &[u8]) -> Rc<Pattern> {
        let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        let hash = text.iter().take(Patterns::MAX_LEN).fold(text.len() as u32, mix);
        self.get_by(hash ^ hash >> 15, text)
    }

    /// The same for a text whose hash is known, whatever hash that is.
    #[inline]
    pub(crate) fn get_by(&mut self, hash: u32, text: &[u8]) -> Rc<Pattern> {
        match self.places.get(hash as usize % Patterns::N_PLACES) {
            Some(Some(known)) if *known.text == *text => Rc::clone(&known.pattern),
            _ => self.compile(hash, text),
        }
    }

    #[cold]
    #[inline(never)]
    fn compile(&mut self, hash: u32, text: &[u8]) -> Rc<Pattern> {
        let pattern = Rc::new(Pattern::new(text));
        if text.len() <= Patterns::MAX_LEN {
            self.places.resize(Patterns::N_PLACES, None);
            let known = Known { text: text.into(), pattern: Rc::clone(&pattern) };
            self.places[hash as usize % Patterns::N_PLACES] = Some(known);
        }
        pattern
    }

    /// The pattern of a text to `gmatch`, as [`Pattern::unanchored`] makes it.
    pub fn get_unanchored(&mut self, text: &[u8]) -> Rc<Pattern> {
        match text {
            [b'^', ..] => Rc::new(Pattern::unanchored(text)),
            _ => self.get(text),
        }
    }

    /// The same for a text whose hash is known.
    #[inline]
    pub(crate) fn get_unanchored_by(&mut self, hash: u32, text: &[u8]) -> Rc<Pattern> {
        match text {
            [b'^', ..] => Rc::new(Pattern::unanchored(text)),
            _ => self.get_by(hash, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_know_what_follows() {
        let pattern = Pattern::new(b"(.-),%s*()=$");
        assert_eq!(
            pattern.items,
            [
                Item::Open(0),
                Item::Shortest(Single::Any, Some(b',')),
                Item::Close(0),
                Item::One(Single::Byte(b',')),
                Item::Longest(Single::Set(0), 0, Some(b'=')),
                Item::Position(1),
                Item::One(Single::Byte(b'=')),
                Item::End,
            ]
        );
        assert_eq!((pattern.first, pattern.n_captures), (None, 2));
        assert_eq!(Pattern::new(b"^((x)").first, Some(Single::Byte(b'x')));
        assert_eq!(Pattern::new(b"x*y").first, None);
        assert_eq!(Pattern::new(b"%f[%a]").first, Some(Single::Set(0)));
        assert_eq!(Pattern::new(b"%f[%A]").first, None);
        let only =
            [&b"x"[..], b"%a+", b"%a*", b".", b"(x)", b"xy", b"x-"].map(|text| Pattern::new(text).only);
        assert_eq!(only, [Some(Only::One), Some(Only::Many), None, None, None, None, None]);
    }

    #[test]
    fn what_is_malformed_is_the_last_item() {
        let cases: &[(&[u8], &str)] = &[
            (b"a%", "malformed pattern (ends with '%')"),
            (b"a%\0b", "malformed pattern (ends with '%')"),
            (b"a[b", "malformed pattern (missing ']')"),
            (b"a[]", "malformed pattern (missing ']')"),
            (b"a[^]", "malformed pattern (missing ']')"),
            (b"a[%]", "malformed pattern (missing ']')"),
            (b"a[b\0]", "malformed pattern (missing ']')"),
            (b"a%f", "missing '[' after '%f' in pattern"),
            (b"a%fb", "missing '[' after '%f' in pattern"),
            (b"a%bx", "unbalanced pattern"),
            (b"a)b", "invalid pattern capture"),
            (b"a%0", "invalid capture index"),
            (b"a%1", "invalid capture index"),
            (b"(%1)", "invalid capture index"),
            (&b"()".repeat(33), "too many captures"),
        ];
        for (text, error) in cases {
            match Pattern::new(text).items.last() {
                Some(Item::Malformed(found)) => assert_eq!(found.to_string(), *error),
                _ => panic!("{} is not malformed", text.escape_ascii()),
            }
        }
        assert_eq!(Pattern::new(&b"()".repeat(32)).items.len(), 32);
        assert_eq!(Pattern::new(&b"()".repeat(33)).items.len(), 33);
    }

    #[test]
    fn sets_are_read_as_by_c() {
        let cases: &[(&[u8], &[u8], &[u8])] = &[
            (b"[a-c]", b"abc", b"d-"),
            (b"[a-]", b"a-", b"b"),
            (b"[]a]", b"]a", b"["),
            (b"[^]a]", b"[b\xff", b"]a"),
            (b"[%a-z]", b"b-z", b"1"),
            (b"[%]%-]", b"]-", b"%"),
            (b"[c-a]", b"", b"abc-"),
            (b"[!-%%]", b"!#%]", b"&"),
            (b"[a-%]x]", b"]x", b"a%"),
            (b"[%q%%]", b"q%", b"a"),
        ];
        for (text, inside, outside) in cases {
            let pattern = Pattern::new(text);
            assert_eq!(pattern.items, [Item::One(Single::Set(0))]);
            for byte in *inside {
                assert!(pattern.takes(Single::Set(0), *byte), "{} has {byte}", text.escape_ascii());
            }
            for byte in *outside {
                assert!(!pattern.takes(Single::Set(0), *byte), "{} has not {byte}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn special_bytes_are_those_before_a_zero() {
        let texts = [&b"a"[..], b"", b"^a", b"a)]", b"a\0.", b"a.", b"^", b"a-", b"%a"];
        assert!(texts.iter().all(|text| Pattern::new(text).is_plain() == is_plain(text)));
        assert!([&b"a)]"[..], b"a\0.", b""].iter().all(|text| is_plain(text)));
        assert!(b"^$*+?.([%-".iter().all(|byte| !is_plain(&[*byte])));
    }

    #[test]
    fn patterns_are_remembered_by_their_text() {
        let mut patterns = Patterns::default();
        for number in 0..1000u32 {
            let text = number.to_string();
            assert_eq!(*patterns.get(text.as_bytes()), Pattern::new(text.as_bytes()));
        }
        // Another hash, or the same for all, is as good.
        for number in (0..1000u32).chain(0..100) {
            let text = number.to_string();
            assert_eq!(*patterns.get_by(number / 50, text.as_bytes()), Pattern::new(text.as_bytes()));
        }
        let long = [b'%'; 2 * Patterns::MAX_LEN];
        assert_eq!(*patterns.get_by(0, &long), Pattern::new(&long));
        assert!(patterns.get(b"^a").is_anchored());
        assert!(!patterns.get_unanchored(b"^a").is_anchored());
    }
}
