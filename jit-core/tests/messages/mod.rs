//! The messages that a judge has, and whether tests made it use all of them.
//!
//! In: a judge's source, and its messages on damages. Every string literal of two words or more in the source is a message,
//! with values in braces.

/// Fails unless the messages are exactly the expected ones, in any order.
#[track_caller]
pub(crate) fn exactly(found: &[String], expected: &[&str], about: impl FnOnce() -> String) {
    let is_said = |words: &&str| {
        let wanted = expected.iter().filter(|other| *other == words).count();
        found.iter().filter(|said| said.contains(*words)).count() == wanted
    };
    let is_exact = found.len() == expected.len() && expected.iter().all(is_said);
    assert!(is_exact, "{expected:?}: {found:?}\n{}", about());
}

/// Fails unless every message in the source was used.
#[track_caller]
pub(crate) fn all_were_said(source: &str, said: &[String]) {
    let never: Vec<&str> =
        texts(source).into_iter().filter(|text| !said.iter().any(|said| is_of(said, text))).collect();
    assert!(
        !texts(source).is_empty() && never.is_empty(),
        "no damage is noticed with these words: {never:?}"
    );
}

/// The string literals that contain spaces.
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

/// Whether a message is an instance of a text with values in braces.
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
