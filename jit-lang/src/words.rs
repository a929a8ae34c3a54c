//! Edit distance between words, for "did you mean" hints.

/// The number of letters to insert, drop or change.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.chars().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], at + 1);
        for (column, other) in b.iter().enumerate() {
            let changed = diagonal + (letter != *other) as usize;
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}
