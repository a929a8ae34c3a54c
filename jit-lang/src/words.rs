//! The known name that was probably meant by an unknown one.

/// The name that is closest to what was written, if it is close enough. Of equally close ones it is one that goes on where the word ends.
pub fn closest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, _, name) =
        names.map(|name| (distance(word, name), !name.starts_with(word), name)).min()?;
    (distance <= 1 + word.len() / 3).then_some(name)
}

/// `; did you mean …?`, if some name is close to what was written.
pub fn did_you_mean<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    closest(word, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// The edit distance, in which swapping two neighboring letters counts as one change.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let changed = row[j] + (a[i] != b[j]) as usize;
            let mut least = changed.min(next[j] + 1).min(row[j + 1] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_are_one_change() {
        let cases =
            [("", "add", 3), ("ad", "add", 1), ("sbu", "sub", 1), ("fats", "fast", 1), ("load", "store", 4)];
        for (a, b, expected) in cases {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_names_that_are_close_are_meant() {
        let names = || ["add", "and", "sub", "rotate"].into_iter();
        assert_eq!(closest("aed", names()), Some("add"), "of equally close names the first by the alphabet");
        assert_eq!(closest("letv", ["let:", "letv:"].into_iter()), Some("letv:"));
        assert_eq!(closest("sbu", names()), Some("sub"));
        assert_eq!(closest("rotaet_", names()), Some("rotate"));
        assert_eq!(closest("frobnicate", names()), None);
        assert_eq!(did_you_mean("sbu", names()), "; did you mean `sub`?");
        assert_eq!(did_you_mean("frobnicate", names()), "");
    }
}
