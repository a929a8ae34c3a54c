//! What a judge can say, and whether tests made it say all of it.
//!
//! In: a judge's source, and what it said to damages. Every text of two words or more in the source is something it can say, with
//! places for values in braces.

/// Fails unless exactly these things were said, in some order.
#[track_caller]
pub(crate) fn exactly(found: &[String], expected: &[&str], about: impl FnOnce() -> String) {
    let is_said = |words: &&str| {
        let wanted = expected.iter().filter(|other| *other == words).count();
        found.iter().filter(|said| said.contains(*words)).count() == wanted
    };
    let is_exact = found.len() == expected.len() && expected.iter().all(is_said);
    assert!(is_exact, "{expected:?}: {found:?}\n{}", about());
}

/// Fails unless all that the source can say was said.
#[track_caller]
pub(crate) fn all_were_said(source: &str, said: &[String]) {
    let never: Vec<&str> =
        texts(source).into_iter().filter(|text| !said.iter().any(|said| is_of(said, text))).collect();
    assert!(
        !texts(source).is_empty() && never.is_empty(),
        "no damage is noticed with these words: {never:?}"
    );
}

/// The texts between quotes that have blanks in them.
fn texts(source: &str) -> Vec<&str> {
    let mut texts = Vec::new();
    for line in source.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let mut parts = line.split('"');
        while let (Some(before), Some(text)) = (parts.next(), parts.next()) {
            if text.contains(' ') && !before.ends_with("expect(") {
                texts.push(text);
            }
        }
    }
    texts
}

/// Whether a text with values in its braces is this.
fn is_of(said: &str, text: &str) -> bool {
    let mut rest = said;
    text.split('{').enumerate().all(|(at, part)| {
        let part = if at == 0 { part } else { part.split_once('}').map_or(part, |(_, part)| part) };
        match rest.find(part) {
            Some(start) => {
                rest = &rest[start + part.len()..];
                true
            }
            None => false,
        }
    })
}
