//! Compares output with the output that a chapter shows.
//!
//! In: expected lines, in which `…` stands for anything, and actual ones. Out: whether they match.

/// Whether all of `actual` matches.
pub fn is_match(expected: &str, actual: &str) -> bool {
    let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let actual: Vec<&str> = actual.lines().map(str::trim_end).collect();
    match_parts(&expected, &actual, &|line| *line == "…", &|pattern, line| is_line_match(pattern, line))
}

/// Whether a part of `actual` matches.
pub fn is_part(expected: &str, actual: &str) -> bool {
    is_match(&format!("…\n{expected}…\n"), actual)
}

fn is_line_match(pattern: &str, line: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let line: Vec<char> = line.chars().collect();
    match_parts(&pattern, &line, &|c| *c == '…', &|a, b| a == b)
}

/// Matches items against a pattern whose wildcards match any number of items. It backtracks to the last wildcard only, so
/// it is not exponential.
fn match_parts<T>(
    pattern: &[T],
    items: &[T],
    is_any: &dyn Fn(&T) -> bool,
    fits: &dyn Fn(&T, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut retry = None;
    while i < items.len() {
        if p < pattern.len() && is_any(&pattern[p]) {
            p += 1;
            retry = Some((p, i));
        } else if p < pattern.len() && fits(&pattern[p], &items[i]) {
            (p, i) = (p + 1, i + 1);
        } else if let Some((from, taken)) = retry {
            (p, i) = (from, taken + 1);
            retry = Some((from, taken + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_anything() {
        for (expected, actual, fits) in [
            ("a\nb\n", "a\nb\n", true),
            ("a\nb\n", "a\nc\n", false),
            ("a\n", "a\nb\n", false),
            ("a\n…\n", "a\nb\nc\n", true),
            ("…\nc\n", "a\nb\nc\n", true),
            ("…\nc\n", "a\nc\nb\nc\n", true),
            ("took … ns\n", "took 17 ns\n", true),
            ("took … ns\n", "took 17 us\n", false),
            ("…", "", true),
        ] {
            assert_eq!(is_match(expected, actual), fits, "{expected:?} {actual:?}");
        }
        assert!(is_part("b\n", "a\nb\nc\n"));
        assert!(!is_part("a\nc\n", "a\nb\nc\n"));
    }
}
