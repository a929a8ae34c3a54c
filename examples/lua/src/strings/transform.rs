//! Texts from texts, and the arithmetic of positions.
//!
//! In: a text, and numbers as `to_i64` makes them of arguments. Out: another text, or a range of positions from 0. Positions in
//! programs count from 1, and from the end if they are negative.

use std::ops::Range;

/// The position from 1 that a position of a program means; 0 if it is before the text.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::strings::transform::position(-1, 5), 5);
/// ```
pub fn position(position: i64, len: usize) -> i64 {
    if position < 0 { (position + len as i64 + 1).max(0) } else { position }
}

/// The bytes that `sub` takes, from position `first` to `last`.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::strings::transform::sub_range(5, 2, -2), 1..4);
/// ```
pub fn sub_range(len: usize, first: i64, last: i64) -> Range<usize> {
    let first = position(first, len).max(1);
    let last = position(last, len).min(len as i64);
    if first <= last { first as usize - 1..last as usize } else { 0..0 }
}

/// The bytes that `byte` gives, from position `first`, which is 1 if a program does not say it, to `last`, or only that one.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::strings::transform::byte_range(5, 2, None), 1..2);
/// ```
pub fn byte_range(len: usize, first: i64, last: Option<i64>) -> Range<usize> {
    let first = position(first, len);
    // A first position that is before the text is not the last one, too.
    sub_range(len, first, last.map_or(first, |last| position(last, len)))
}

/// Where `find` and `match` start, from 0, if a program says `position`.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::strings::transform::find_start(5, 100), 5);
/// ```
pub fn find_start(len: usize, first: i64) -> usize {
    (position(first, len) - 1).clamp(0, len as i64) as usize
}

/// Appends the text backwards.
pub fn reverse(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().rev());
}

/// Appends the text with small letters, in the C locale.
pub fn lower(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().map(u8::to_ascii_lowercase));
}

/// Appends the text with capital letters, in the C locale.
pub fn upper(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().map(u8::to_ascii_uppercase));
}

/// Appends the text so many times.
///
/// # Examples
///
/// ```
/// use azulejo_lua::strings::transform::repeat;
///
/// let mut out = b"x".to_vec();
/// repeat(b"ab", 2, &mut out);
/// assert_eq!(out, b"xabab");
/// ```
pub fn repeat(text: &[u8], count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    if count == 0 {
        return;
    }
    out.extend_from_slice(text);
    let end = start + text.len() * count;
    // What is there is doubled, so that a short text is not copied by itself often.
    while out.len() < end {
        let more = (out.len() - start).min(end - out.len());
        out.extend_from_within(start..start + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut() {
        let cases = [
            (1, -1, 0..5),
            (0, 3, 0..3),
            (-100, 100, 0..5),
            (3, 2, 0..0),
            (6, 9, 0..0),
            (-2, -1, 3..5),
            (i64::MIN, i64::MAX, 0..5),
            (i64::MAX, i64::MIN, 0..0),
            (2, i64::MIN, 0..0),
        ];
        for (first, last, expected) in cases {
            assert_eq!(sub_range(5, first, last), expected, "{first} {last}");
        }
        assert_eq!(byte_range(5, 0, None), 0..0);
        assert_eq!(byte_range(5, -9, None), 0..0);
        assert_eq!(byte_range(5, -5, None), 0..1);
        assert_eq!(byte_range(5, 0, Some(2)), 0..2);
        assert_eq!([i64::MIN, -5, 0, 1, 6, i64::MAX].map(|first| find_start(5, first)), [0, 0, 0, 0, 5, 5]);
        assert_eq!(find_start(5, -1), 4);
    }

    #[test]
    fn only_letters_of_ascii_change() {
        let mut out = Vec::new();
        upper(b"a\xe4Z1", &mut out);
        lower(b"a\xc4Z1", &mut out);
        reverse(b"a\0b", &mut out);
        assert_eq!(out, b"A\xe4Z1a\xc4z1b\0a");
    }

    #[test]
    fn texts_are_repeated_behind_others() {
        for (text, count) in [("", 0), ("", 5), ("ab", 0), ("ab", 1), ("ab", 2), ("abc", 3), ("x", 1000)] {
            let mut out = b"-".to_vec();
            repeat(text.as_bytes(), count, &mut out);
            assert_eq!(out, [b"-", text.repeat(count).as_bytes()].concat(), "{text} {count}");
        }
    }
}
