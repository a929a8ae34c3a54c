//! Tries patterns on texts.
//!
//! In: a [`Pattern`], the subject, and where to start. Out: a [`Match`], the one that the C implementation finds.
//!
//! What could have been done in another way is kept in a list of choices, and not on the machine's stack as in C: a pattern of a
//! million items is no danger, and a search can end anywhere. An item adds at most one choice, so the list is never longer than the pattern. Captures need not
//! be restored where matching goes back, since an item that reads a capture stands behind those that write it.

use crate::strings::pattern::{Item, MAX_CAPTURES, Only, Pattern, PatternError, Single};
use memchr::{memchr, memrchr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Where a capture starts and ends. Of the special ends there can be none in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Capture {
    start: usize,
    end: usize,
}

/// The end of a capture that is not closed.
const UNFINISHED: usize = usize::MAX;
/// The end of a capture that is a position.
const POSITION: usize = usize::MAX - 1;

/// What a capture is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Captured<'a> {
    /// Part of the subject.
    Text(&'a [u8]),
    /// A position in the subject, from 1.
    Position(usize),
}

impl<'a> Captured<'a> {
    /// The part of the subject, unless it is a position.
    pub fn text(self) -> Option<&'a [u8]> {
        match self {
            Captured::Text(text) => Some(text),
            Captured::Position(_) => None,
        }
    }
}

/// Where a pattern matched, and its captures. All positions in it count from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Match {
    start: usize,
    end: usize,
    n_captures: usize,
    captures: [Capture; MAX_CAPTURES],
}

impl Match {
    /// The first byte's position.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The position behind the last byte.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Where `gmatch` looks for the next match: behind this one, and never in the same place.
    pub fn resume(&self) -> usize {
        self.end + usize::from(self.start == self.end)
    }

    /// How many captures there are.
    pub fn n_captures(&self) -> usize {
        self.n_captures
    }

    /// How many values `match`, `gmatch` and the function of `gsub` get: the captures, or the whole match if there are none.
    pub fn n_values(&self) -> usize {
        self.n_captures.max(1)
    }

    /// One of the values, from 0. The subject must be the one that was matched.
    pub fn capture<'a>(&self, number: usize, subject: &'a [u8]) -> Result<Captured<'a>, PatternError> {
        match self.captures[..self.n_captures].get(number) {
            None if number == 0 => Ok(Captured::Text(&subject[self.start..self.end])),
            None => Err(PatternError::InvalidCaptureIndex),
            Some(Capture { end: UNFINISHED, .. }) => Err(PatternError::UnfinishedCapture),
            Some(Capture { start, end: POSITION }) => Ok(Captured::Position(start + 1)),
            Some(Capture { start, end }) => Ok(Captured::Text(&subject[*start..*end])),
        }
    }
}

/// Another way to go on, at an item of the pattern.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// The item takes bytes up to `end` or any end before, but not before `least`.
    Fewer { item: usize, least: usize, end: usize },
    /// The item has taken bytes up to `end`, and may take one more.
    More { item: usize, end: usize },
    /// An optional item is left out.
    Without { item: usize, at: usize },
}

/// Finds matches. It keeps nothing from one text to the next but memory.
#[derive(Clone, Debug)]
pub struct Matcher {
    found: Match,
    choices: Vec<Choice>,
    /// How often searches may still go back.
    steps: u64,
    /// What that was when it was set.
    limit: u64,
    /// How many places were looked at.
    places: u64,
    /// Whether they are to stop.
    stop: Option<Arc<AtomicBool>>,
}

/// After so many steps back a search looks whether it is to end. A power of two.
const GLANCE: u64 = 1 << 12;

/// More steps than a search ever takes.
const ENDLESS: u64 = u64::MAX / GLANCE * GLANCE;

impl Default for Matcher {
    fn default() -> Matcher {
        Matcher::new()
    }
}

impl Matcher {
    /// A matcher for any pattern.
    pub fn new() -> Matcher {
        let captures = [Capture { start: 0, end: 0 }; MAX_CAPTURES];
        let found = Match { start: 0, end: 0, n_captures: 0, captures };
        Matcher { found, choices: Vec::new(), steps: ENDLESS, limit: ENDLESS, places: 0, stop: None }
    }

    /// Limits the searches from now on, together, to about so many steps back. One that would take more fails with
    /// [`PatternError::TooManySteps`].
    ///
    /// ```
    /// use azulejo_lua::strings::{Matcher, Pattern, PatternError};
    ///
    /// let pattern = Pattern::new(&[&b"a*".repeat(40)[..], b"b"].concat());
    /// let mut matcher = Matcher::new();
    /// matcher.limit(1_000_000);
    /// assert_eq!(matcher.find(&pattern, &b"a".repeat(40), 0), Err(PatternError::TooManySteps));
    /// assert!(matcher.steps() >= 1_000_000);
    /// ```
    pub fn limit(&mut self, steps: u64) {
        self.limit = steps.clamp(1, ENDLESS).next_multiple_of(GLANCE);
        self.steps = self.limit;
    }

    /// How many steps back searches have taken since [`limit`](Self::limit) was called.
    pub fn steps(&self) -> u64 {
        self.limit - self.steps
    }

    /// Searches fail with [`PatternError::Stopped`] while this is true.
    pub fn stop_if(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Another place is looked at. Many of them take long, too, if no search goes back.
    #[inline(always)]
    fn count_place(&mut self) -> Result<(), PatternError> {
        self.places += 1;
        match self.places.is_multiple_of(GLANCE) && self.is_stopped() {
            true => Err(PatternError::Stopped),
            false => Ok(()),
        }
    }

    #[cold]
    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Relaxed))
    }

    /// A search has gone back many times.
    #[cold]
    fn look_around(&self) -> Result<(), PatternError> {
        match self.steps {
            _ if self.is_stopped() => Err(PatternError::Stopped),
            0 => Err(PatternError::TooManySteps),
            _ => Ok(()),
        }
    }

    /// The first match that starts at `start` or behind. There is none behind the subject's end.
    pub fn find(
        &mut self,
        pattern: &Pattern,
        subject: &[u8],
        start: usize,
    ) -> Result<Option<&Match>, PatternError> {
        if pattern.is_anchored {
            return self.match_at(pattern, subject, start);
        }
        self.count_place()?;
        let mut at = start;
        while at <= subject.len() {
            if let Some(first) = pattern.first {
                match place_of(pattern, first, &subject[at..]) {
                    Some(distance) => at += distance,
                    None => return Ok(None),
                }
                if let Some(only) = pattern.only {
                    let end = match only {
                        Only::One => at + 1,
                        Only::Many => end_of(pattern, first, subject, at + 1),
                    };
                    (self.found.start, self.found.end, self.found.n_captures) = (at, end, 0);
                    return Ok(Some(&self.found));
                }
            }
            if self.run(pattern, subject, at)? {
                return Ok(Some(&self.found));
            }
            at += 1;
            self.count_place()?;
        }
        Ok(None)
    }

    /// The match that starts at `start`, if there is one.
    pub fn match_at(
        &mut self,
        pattern: &Pattern,
        subject: &[u8],
        start: usize,
    ) -> Result<Option<&Match>, PatternError> {
        let has_found = start <= subject.len() && self.run(pattern, subject, start)?;
        Ok(has_found.then_some(&self.found))
    }

    fn run(&mut self, pattern: &Pattern, subject: &[u8], start: usize) -> Result<bool, PatternError> {
        self.choices.clear();
        let (mut number, mut at) = (0, start);
        while let Some(item) = pattern.items.get(number) {
            let end = match *item {
                Item::One(single) => match subject.get(at) {
                    Some(byte) if pattern.takes(single, *byte) => Some(at + 1),
                    _ => None,
                },
                Item::Longest(single, at_least, _) => {
                    let end = end_of(pattern, single, subject, at);
                    if end >= at + at_least {
                        self.shrink(pattern, subject, number, at + at_least, end)
                    } else {
                        None
                    }
                }
                Item::Shortest(..) => self.grow(pattern, subject, number, at),
                Item::Optional(single) => match subject.get(at) {
                    Some(byte) if pattern.takes(single, *byte) => {
                        self.choices.push(Choice::Without { item: number, at });
                        Some(at + 1)
                    }
                    _ => Some(at),
                },
                Item::Open(capture) => {
                    self.found.captures[capture] = Capture { start: at, end: UNFINISHED };
                    Some(at)
                }
                Item::Position(capture) => {
                    self.found.captures[capture] = Capture { start: at, end: POSITION };
                    Some(at)
                }
                Item::Close(capture) => {
                    self.found.captures[capture].end = at;
                    Some(at)
                }
                Item::Back(capture) => match self.found.captures[capture] {
                    Capture { end: POSITION, .. } => None,
                    Capture { start, end } => {
                        subject[at..].starts_with(&subject[start..end]).then(|| at + end - start)
                    }
                },
                Item::Balanced(open, close) => balanced(&subject[at..], open, close).map(|len| at + len),
                Item::Frontier(set) => {
                    let set = &pattern.sets[set as usize];
                    let before = if at == 0 { 0 } else { subject[at - 1] };
                    let after = subject.get(at).copied().unwrap_or(0);
                    (!set.has(before) && set.has(after)).then_some(at)
                }
                Item::End => (at == subject.len()).then_some(at),
                Item::Malformed(error) => return Err(error),
            };
            match end {
                Some(end) => (number, at) = (number + 1, end),
                None => {
                    self.steps = self.steps.saturating_sub(1);
                    if self.steps.is_multiple_of(GLANCE) {
                        self.look_around()?;
                    }
                    match self.back(pattern, subject) {
                        Some(place) => (number, at) = place,
                        None => return Ok(false),
                    }
                }
            }
        }
        (self.found.start, self.found.end) = (start, at);
        self.found.n_captures = pattern.n_captures;
        Ok(true)
    }

    /// Where the last choice that leads anywhere goes on.
    fn back(&mut self, pattern: &Pattern, subject: &[u8]) -> Option<(usize, usize)> {
        while let Some(choice) = self.choices.pop() {
            let (item, end) = match choice {
                Choice::Without { item, at } => (item, Some(at)),
                Choice::Fewer { item, least, end } => (item, self.shrink(pattern, subject, item, least, end)),
                Choice::More { item, end } => {
                    let Item::Shortest(single, _) = pattern.items[item] else { continue };
                    match subject.get(end) {
                        Some(byte) if pattern.takes(single, *byte) => {
                            (item, self.grow(pattern, subject, item, end + 1))
                        }
                        _ => continue,
                    }
                }
            };
            if let Some(end) = end {
                return Some((item + 1, end));
            }
        }
        None
    }

    /// The last end of a repeated item that may do, of those from `least` to `end`. The ones before stay a choice.
    fn shrink(
        &mut self,
        pattern: &Pattern,
        subject: &[u8],
        item: usize,
        least: usize,
        end: usize,
    ) -> Option<usize> {
        let end = match pattern.items[item] {
            Item::Longest(_, _, Some(follow)) => {
                least + memrchr(follow, &subject[least..subject.len().min(end + 1)])?
            }
            _ => end,
        };
        if end > least {
            self.choices.push(Choice::Fewer { item, least, end: end - 1 });
        }
        Some(end)
    }

    /// The first end of a repeated item that may do, of those from `end`. The ones behind stay a choice.
    fn grow(&mut self, pattern: &Pattern, subject: &[u8], item: usize, end: usize) -> Option<usize> {
        let rest = &subject[end..];
        let end = match pattern.items[item] {
            Item::Shortest(Single::Any, Some(follow)) => end + memchr(follow, rest)?,
            Item::Shortest(single, Some(follow)) => {
                let stop = rest.iter().position(|byte| *byte == follow || !pattern.takes(single, *byte))?;
                if rest[stop] != follow {
                    return None;
                }
                end + stop
            }
            _ => end,
        };
        if end < subject.len() {
            self.choices.push(Choice::More { item, end });
        }
        Some(end)
    }
}

/// The place of the first byte that a single item takes.
fn place_of(pattern: &Pattern, single: Single, text: &[u8]) -> Option<usize> {
    match single {
        Single::Any => (!text.is_empty()).then_some(0),
        Single::Byte(byte) => memchr(byte, text),
        Single::Set(number) => {
            let set = &pattern.sets[number as usize];
            text.iter().position(|byte| set.has(*byte))
        }
    }
}

/// The end of all that a single item takes from `at` on.
fn end_of(pattern: &Pattern, single: Single, subject: &[u8], at: usize) -> usize {
    let rest = &subject[at..];
    let len = match single {
        Single::Any => None,
        Single::Byte(expected) => rest.iter().position(|byte| *byte != expected),
        Single::Set(number) => {
            let set = &pattern.sets[number as usize];
            rest.iter().position(|byte| !set.has(*byte))
        }
    };
    at + len.unwrap_or(rest.len())
}

/// How long a balanced text is. If both bytes are the same, the second one closes the first.
fn balanced(text: &[u8], open: u8, close: u8) -> Option<usize> {
    if *text.first()? != open {
        return None;
    }
    let mut depth = 1;
    for (at, byte) in text.iter().enumerate().skip(1) {
        if *byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        } else if *byte == open {
            depth += 1;
        }
    }
    None
}

/// Where a text stands in a subject, from `start` on: `find` without patterns.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::strings::find_plain(b"a.b.c", b".", 2), Some(3));
/// ```
pub fn find_plain(subject: &[u8], text: &[u8], start: usize) -> Option<usize> {
    /// So many places that only the first byte fits are looked at one by one. To prepare a quicker search takes as long.
    const FEW: usize = 8;
    let rest = subject.get(start..)?;
    let [first, behind @ ..] = text else { return Some(start) };
    let mut at = 0;
    for _ in 0..FEW {
        at += memchr(*first, &rest[at..])?;
        if rest[at + 1..].starts_with(behind) {
            return Some(start + at);
        }
        at += 1;
    }
    Some(start + at + memchr::memmem::find(&rest[at..], text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matched text, then the captures, each behind a bar.
    fn found(subject: &str, pattern: &str) -> String {
        let mut matcher = Matcher::new();
        let pattern = Pattern::new(pattern.as_bytes());
        let found = match matcher.find(&pattern, subject.as_bytes(), 0) {
            Ok(Some(found)) => found,
            Ok(None) => return "nil".to_string(),
            Err(error) => return error.to_string(),
        };
        let mut text = subject[found.start()..found.end()].to_string();
        for number in 0..found.n_captures() {
            text += "|";
            text += &match found.capture(number, subject.as_bytes()) {
                Ok(Captured::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                Ok(Captured::Position(position)) => position.to_string(),
                Err(error) => error.to_string(),
            };
        }
        text
    }

    #[test]
    fn items_match_as_in_c() {
        for (subject, pattern, expected) in [
            ("hello world", "o w", "o w"),
            ("hello", "l+", "ll"),
            ("hello", "l-o", "llo"),
            ("hello", "xl?", "nil"),
            ("hello", "el?l?l?o", "ello"),
            ("a,b,c", "(.-),(.*)", "a,b,c|a|b,c"),
            ("a,b,c", "(.*),(.-)", "a,b,|a,b|"),
            ("key = value", "^(%w+)%s*=%s*(%w+)$", "key = value|key|value"),
            ("f(a(b)c)d)", "%b()", "(a(b)c)"),
            ("f(a", "%b()", "nil"),
            ("xaxbx", "%bxx", "xax"),
            ("THE (quick) fox", "%f[%a]%a+%f[%A]", "THE"),
            ("the fox", "%f[%z]", ""),
            ("the fox", "%f[x]", ""),
            ("the fox", "%f[f]...", "fox"),
            ("the fox", "%a+", "the"),
            ("  the", "%a+", "the"),
            ("  ", "%a+", "nil"),
            ("the fox", "[^%a]", " "),
            ("the", "e+", "e"),
            ("the", "^e+", "nil"),
            ("abab", "(ab)%1", "abab|ab"),
            ("a1", "()%1", "nil"),
            ("abc", "()b()", "b|2|3"),
            ("abc", "(b", "b|unfinished capture"),
            ("a$b", "a$b", "a$b"),
            ("a^b", "a^b", "a^b"),
            ("**", "^*", "*"),
            ("", "^$", ""),
            ("aaab", "(a*)(ab)", "aaab|aa|ab"),
            ("abc", "a%", "malformed pattern (ends with '%')"),
            ("abc", "x%", "nil"),
            ("((", "((()", "|unfinished capture|unfinished capture|1"),
            ("x", "%1*", "invalid capture index"),
        ] {
            assert_eq!(found(subject, pattern), expected, "{subject} {pattern}");
        }
    }

    #[test]
    fn long_patterns_need_no_stack() {
        const LEN: usize = 200_000;
        let subject = vec![b'a'; LEN];
        for item in ["a?", "a-", "(a*", "a*"] {
            let text = item.repeat(if item == "(a*" { MAX_CAPTURES } else { LEN });
            let mut matcher = Matcher::new();
            let result =
                matcher.find(&Pattern::new(text.as_bytes()), &subject, 0).map(|found| found.map(Match::end));
            assert_eq!(result, Ok(Some(if item == "a-" { 0 } else { LEN })), "{item}");
            assert!(matcher.choices.len() <= LEN);
        }
    }

    #[test]
    fn a_start_behind_the_end_matches_nothing() {
        let mut matcher = Matcher::new();
        for text in ["", "^", "x*", "()"] {
            let pattern = Pattern::new(text.as_bytes());
            assert!(matcher.find(&pattern, b"abc", 3).expect("no fault").is_some());
            assert_eq!(matcher.find(&pattern, b"abc", 4), Ok(None));
            assert_eq!(matcher.match_at(&pattern, b"abc", 4), Ok(None));
        }
        assert_eq!(find_plain(b"abc", b"", 3), Some(3));
        assert_eq!(find_plain(b"abc", b"", 4), None);
        assert_eq!(find_plain(b"a\0bc", b"\0bc", 0), Some(1));
    }
}
