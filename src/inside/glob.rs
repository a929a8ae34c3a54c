//! Selection of names by a pattern with `*` and `?`.

/// Whether a pattern matches all of a name: `*` matches any text, `?` any character, and each other character itself.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // The positions at which to retry if the pattern after the last star does not match.
    let mut again: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                again = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match &mut again {
                Some((after, from)) => {
                    *from += 1;
                    (p, n) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_are_any_text_and_question_marks_any_character() {
        for (pattern, name, fits) in [
            ("sum", "sum", true),
            ("sum", "sums", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("s*m", "sum", true),
            ("s*m", "s of m", true),
            ("s*m", "sums", false),
            ("*sum*", "checksums", true),
            ("*a*b", "abab", true),
            ("*a*b", "abba", false),
            ("f?", "f1", true),
            ("f?", "f", false),
            ("f?", "f12", false),
            ("?*é", "caé", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
