//! Sets of bytes: the classes of patterns, and what stands in brackets.
//!
//! In: the letter of a class, or bytes and ranges of them. Out: a set. The classes are those of `ctype.h` in the C locale, so
//! no byte above 127 is in any of them.

/// A set of bytes, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub(super) const EMPTY: ByteSet = ByteSet([0; 4]);

    /// Whether a byte is in it.
    #[inline]
    pub(super) const fn has(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }

    /// Adds the bytes of a range, whose ends belong to it. If they are in the wrong order there are none.
    pub(super) const fn add_range(&mut self, first: u8, last: u8) {
        let mut byte = first as u16;
        while byte <= last as u16 {
            self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
            byte += 1;
        }
    }

    /// Adds the bytes of another set.
    pub(super) fn add(&mut self, other: ByteSet) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    /// All other bytes.
    pub(super) fn complement(self) -> ByteSet {
        ByteSet(self.0.map(|word| !word))
    }

    const fn of(ranges: &[(u8, u8)]) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        let mut at = 0;
        while at < ranges.len() {
            set.add_range(ranges[at].0, ranges[at].1);
            at += 1;
        }
        set
    }
}

/// The classes, by their letters.
const CLASSES: [(u8, ByteSet); 10] = [
    (b'a', ByteSet::of(&[(b'A', b'Z'), (b'a', b'z')])),
    (b'c', ByteSet::of(&[(0, 31), (127, 127)])),
    (b'd', ByteSet::of(&[(b'0', b'9')])),
    (b'l', ByteSet::of(&[(b'a', b'z')])),
    (b'p', ByteSet::of(&[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')])),
    (b's', ByteSet::of(&[(b'\t', b'\r'), (b' ', b' ')])),
    (b'u', ByteSet::of(&[(b'A', b'Z')])),
    (b'w', ByteSet::of(&[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')])),
    (b'x', ByteSet::of(&[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')])),
    (b'z', ByteSet::of(&[(0, 0)])),
];

/// The set that a letter behind `%` stands for. A capital letter stands for all bytes that are not in the class. `None` for
/// bytes that stand for themselves.
pub(super) fn class(letter: u8) -> Option<ByteSet> {
    let (_, set) = CLASSES.iter().find(|(small, _)| *small == letter.to_ascii_lowercase())?;
    Some(if letter.is_ascii_uppercase() { set.complement() } else { *set })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_rust() {
        type Predicate = fn(&u8) -> bool;
        let same: [(u8, Predicate); 9] = [
            (b'a', u8::is_ascii_alphabetic),
            (b'c', u8::is_ascii_control),
            (b'd', u8::is_ascii_digit),
            (b'l', u8::is_ascii_lowercase),
            (b'p', u8::is_ascii_punctuation),
            (b's', |byte| crate::number::is_space(*byte)),
            (b'u', u8::is_ascii_uppercase),
            (b'w', u8::is_ascii_alphanumeric),
            (b'x', u8::is_ascii_hexdigit),
        ];
        for (letter, is_in) in same {
            let (small, capital) = (class(letter).expect("a class"), class(letter - 32).expect("a class"));
            for byte in 0..=255 {
                assert_eq!(small.has(byte), is_in(&byte), "{byte} in %{}", char::from(letter));
                assert_ne!(small.has(byte), capital.has(byte));
            }
        }
        assert!([b'b', b'q', b'%', b']', b'\xe1'].iter().all(|byte| class(*byte).is_none()));
    }
}
