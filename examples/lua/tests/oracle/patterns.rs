//! Patterns from a grammar with every item, on subjects over a small alphabet; and the rest of the library.

use crate::random::Random;
use crate::{Cases, Outcome, Value, literal};
use azulejo_lua::strings::{
    Captured, Gsub, Match, Matcher, Pattern, PatternError, Patterns, find_plain, gsub, is_plain, transform,
};

const SUBJECTS: &[u8] = b"aaabbc(()) ,.1A-%]^\0\r\x0b\x7f\xe4";

/// A text to search in, mostly a short one.
fn subject(random: &mut Random) -> Vec<u8> {
    let limit = random.pick(&[6, 16, 16, 50]);
    random.text(SUBJECTS, limit)
}

/// A set in brackets.
fn set(random: &mut Random) -> Vec<u8> {
    let mut set = b"[".to_vec();
    set.extend(random.pick(&[&b""[..], b"", b"^", b"]", b"^]", b"-"]));
    for _ in 0..random.below(4) {
        match random.below(6) {
            0 => set.extend([b'%', random.pick(b"acdlpsuwxzACDLPSUWXZ%]-^q")]),
            1 => set.extend([random.pick(b"aA0(%"), b'-', random.pick(b"cZ9)%")]),
            2 => set.push(random.pick(b"%-^]\0")),
            _ => set.push(random.pick(SUBJECTS)),
        }
    }
    if !random.one_in(30) {
        set.push(b']');
    }
    set
}

fn single(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0 => b".".to_vec(),
        1 => vec![b'%', random.pick(b"acdlpsuwxzACDLPSUWXZ")],
        2 => vec![b'%', random.pick(b".()%+-*?[^$]q")],
        3 => set(random),
        4 => vec![random.pick(b"+*?-^$]b")],
        _ => vec![random.pick(b"aabbc ,1A")],
    }
}

fn pattern(random: &mut Random) -> Vec<u8> {
    let mut pattern = random.pick(&[&b""[..], b"", b"", b"^"]).to_vec();
    let mut n_open = 0;
    for _ in 0..random.below(7) {
        match random.below(14) {
            0 => pattern.extend(b"()"),
            1 => {
                pattern.push(b'(');
                n_open += 1;
            }
            2 | 3 if n_open > 0 => {
                pattern.push(b')');
                n_open -= 1;
            }
            4 => pattern.extend([b'%', random.pick(b"0123")]),
            5 => pattern.extend(random.pick(&[b"%b()", b"%bab", b"%baa"])),
            6 => pattern.extend([b"%f".to_vec(), set(random)].concat()),
            _ => {
                pattern.extend(single(random));
                pattern.extend(random.pick(&[&b""[..], b"", b"*", b"+", b"-", b"?"]));
            }
        }
    }
    // Mostly what is open is closed, and what is left is a mistake now and then.
    if !random.one_in(8) {
        pattern.extend(std::iter::repeat_n(b')', n_open));
    }
    if random.one_in(4) {
        pattern.extend(random.pick(&[&b"$"[..], b"$", b"$", b"%", b"[", b")", b"\0x", b"%f", b"%b", b"%b("]));
    }
    pattern
}

fn value(captured: Captured) -> Value {
    match captured {
        Captured::Text(text) => Value::Text(text.to_vec()),
        Captured::Position(position) => Value::Number(position as f64),
    }
}

fn values(found: &Match, count: usize, subject: &[u8]) -> Result<Vec<Value>, PatternError> {
    (0..count).map(|number| found.capture(number, subject).map(value)).collect()
}

fn text_of(outcome: Result<Vec<Value>, PatternError>) -> Outcome {
    outcome.map_err(|error| error.to_string().into_bytes())
}

/// What is kept from call to call, on purpose.
#[derive(Default)]
struct Library {
    matcher: Matcher,
    patterns: Patterns,
}

impl Library {
    fn find(
        &mut self,
        subject: &[u8],
        pattern: &[u8],
        first: i64,
        plain: bool,
    ) -> Result<Vec<Value>, PatternError> {
        let start = transform::find_start(subject.len(), first);
        let ends =
            |start: usize, end: usize| vec![Value::Number(start as f64 + 1.0), Value::Number(end as f64)];
        if plain || is_plain(pattern) {
            let start = find_plain(subject, pattern, start);
            return Ok(start.map_or(vec![Value::Nil], |start| ends(start, start + pattern.len())));
        }
        let pattern = self.patterns.get(pattern);
        let Some(found) = self.matcher.find(&pattern, subject, start)? else { return Ok(vec![Value::Nil]) };
        Ok([ends(found.start(), found.end()), values(found, found.n_captures(), subject)?].concat())
    }

    fn first_match(
        &mut self,
        subject: &[u8],
        pattern: &[u8],
        first: i64,
    ) -> Result<Vec<Value>, PatternError> {
        let start = transform::find_start(subject.len(), first);
        let pattern = self.patterns.get(pattern);
        let Some(found) = self.matcher.find(&pattern, subject, start)? else { return Ok(vec![Value::Nil]) };
        values(found, found.n_values(), subject)
    }

    /// The first two values of each match.
    fn all(&mut self, subject: &[u8], pattern: &[u8]) -> Result<Vec<Value>, PatternError> {
        let pattern = self.patterns.get_unanchored(pattern);
        let (mut all, mut at) = (Vec::new(), 0);
        while let Some(found) = self.matcher.find(&pattern, subject, at)? {
            let mut values = values(found, found.n_values(), subject)?;
            values.resize(2, Value::False);
            all.extend(values);
            at = found.resume();
        }
        Ok(all)
    }

    fn replace(
        &mut self,
        subject: &[u8],
        pattern: &[u8],
        replacement: &[u8],
        limit: Option<i32>,
    ) -> Result<Vec<Value>, PatternError> {
        let mut out = Vec::new();
        let pattern = self.patterns.get(pattern);
        let count = gsub(&mut self.matcher, &pattern, subject, replacement, limit, &mut out)?;
        Ok(vec![Value::Text(out), Value::Number(count as f64)])
    }
}

#[test]
fn patterns_find_the_same() {
    let (mut random, mut cases, mut library) = (Random::new(6), Cases::default(), Library::default());
    for _ in 0..15_000 {
        let subject = subject(&mut random);
        let pattern = pattern(&mut random);
        let first = random.pick(&[1, 1, 1, 2, 5, -3, -100, 100, 0]);
        let arguments = [literal(&subject), literal(&pattern), first.to_string()];
        cases.add("string.find", &arguments, text_of(library.find(&subject, &pattern, first, false)));
        cases.add("string.match", &arguments, text_of(library.first_match(&subject, &pattern, first)));
    }
    cases.run();
}

#[test]
fn patterns_go_on_the_same() {
    let (mut random, mut cases, mut library) = (Random::new(7), Cases::default(), Library::default());
    for _ in 0..15_000 {
        let subject = subject(&mut random);
        let pattern = pattern(&mut random);
        cases.add("all", &[literal(&subject), literal(&pattern)], text_of(library.all(&subject, &pattern)));
        let replacement = random.text(b"%%%%001234x%", 6);
        let limit = random.pick(&[None, None, Some(0), Some(1), Some(2), Some(-1)]);
        let mut arguments = vec![literal(&subject), literal(&pattern), literal(&replacement)];
        arguments.extend(limit.map(|limit| limit.to_string()));
        let outcome = library.replace(&subject, &pattern, &replacement, limit);
        cases.add("string.gsub", &arguments, text_of(outcome));
    }
    cases.run();
}

#[test]
fn texts_are_searched_the_same() {
    let (mut random, mut cases, mut library) = (Random::new(8), Cases::default(), Library::default());
    for _ in 0..5_000 {
        let subject = random.text(b"aab.%\0", 100);
        let text = random.text(b"aab.%\0", 6);
        let first = random.below(40) as i64 - 10;
        let arguments = [literal(&subject), literal(&text), first.to_string(), "true".to_string()];
        cases.add("string.find", &arguments, text_of(library.find(&subject, &text, first, true)));
    }
    cases.run();
}

#[test]
fn texts_are_transformed_the_same() {
    let (mut random, mut cases) = (Random::new(9), Cases::default());
    let number = |random: &mut Random| match random.below(12) {
        0 => random.pick(&[i64::from(i32::MAX), i64::from(i32::MIN), 1 << 53, -(1 << 53)]),
        _ => random.below(24) as i64 - 12,
    };
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..random.below(10)).map(|_| random.bits() as u8).collect();
        let (text, len) = (literal(&bytes), bytes.len());
        let one = std::slice::from_ref(&text);
        let mut add = |function: &str, arguments: &[String], result: Vec<u8>| {
            cases.add(function, arguments, Ok(vec![Value::Text(result)]));
        };
        type Transform = fn(&[u8], &mut Vec<u8>);
        let same: [(&str, Transform); 3] =
            [("upper", transform::upper), ("lower", transform::lower), ("reverse", transform::reverse)];
        for (name, transform) in same {
            let mut out = Vec::new();
            transform(&bytes, &mut out);
            add(&format!("string.{name}"), one, out);
        }
        let count = random.below(6) as i32 - 1;
        let mut repeated = Vec::new();
        transform::repeat(&bytes, count.max(0) as usize, &mut repeated);
        add("string.rep", &[text.clone(), count.to_string()], repeated);
        let (first, last) = (number(&mut random), number(&mut random));
        let part = bytes[transform::sub_range(len, first, last)].to_vec();
        add("string.sub", &[text.clone(), first.to_string(), last.to_string()], part);
        let numbers = |part: &[u8]| part.iter().map(|byte| Value::Number(f64::from(*byte))).collect();
        let part = numbers(&bytes[transform::byte_range(len, first, Some(last))]);
        cases.add("string.byte", &[text.clone(), first.to_string(), last.to_string()], Ok(part));
        let part = numbers(&bytes[transform::byte_range(len, first, None)]);
        cases.add("string.byte", &[text, first.to_string()], Ok(part));
    }
    cases.run();
}

#[test]
fn matches_are_replaced_by_functions_the_same() {
    let (mut random, mut cases, mut matcher) = (Random::new(10), Cases::default(), Matcher::new());
    for _ in 0..5_000 {
        let (subject, text) = (subject(&mut random), pattern(&mut random));
        let pattern = Pattern::new(&text);
        let (mut state, mut out) = (Gsub::new(None), Vec::new());
        let outcome = (|| {
            while let Some(found) = state.next(&mut matcher, &pattern, &subject, &mut out)? {
                out.extend(format!("<{}>", values(found, found.n_values(), &subject)?.len()).bytes());
            }
            state.finish(&subject, &mut out)?;
            Ok(vec![Value::Text(std::mem::take(&mut out)), Value::Number(state.count() as f64)])
        })();
        let function = "function(...) return \"<\" .. select(\"#\", ...) .. \">\" end".to_string();
        cases.add("string.gsub", &[literal(&subject), literal(&text), function], text_of(outcome));
    }
    cases.run();
}
