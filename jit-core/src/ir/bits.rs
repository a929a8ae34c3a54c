//! A set of small numbers, with one bit for each.

use core::fmt;

/// A set of numbers below the length that it was made for. Other numbers are never in it.
///
/// ```
/// # use azulejo_core::ir::bits::BitSet;
/// let mut set = BitSet::new(100);
/// assert!(set.insert(3) && set.insert(70) && !set.insert(3));
/// assert!(set.contains(70) && !set.contains(69) && !set.contains(1000));
///
/// let mut all = BitSet::full(100);
/// assert!(all.intersect(&set) && !all.intersect(&set));
/// assert_eq!((all.len(), format!("{all:?}")), (2, "{3, 70}".to_string()));
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct BitSet {
    words: Vec<u64>,
}

/// The number of words that hold the numbers below `len`.
const fn n_words(len: usize) -> usize {
    len.div_ceil(u64::BITS as usize)
}

/// The index of the word that holds a number's bit, and the bit's mask.
const fn place(number: usize) -> (usize, u64) {
    (number / u64::BITS as usize, 1 << (number % u64::BITS as usize))
}

impl BitSet {
    /// The empty set, with room for the numbers below `len`.
    pub fn new(len: usize) -> BitSet {
        BitSet { words: vec![0; n_words(len)] }
    }

    /// The set of all numbers below `len`, and perhaps of some greater ones.
    pub fn full(len: usize) -> BitSet {
        BitSet { words: vec![u64::MAX; n_words(len)] }
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        let (word, bit) = place(number);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Inserts a number, which must be below the length. Returns whether it was new.
    #[inline]
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = place(number);
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Removes a number, which must be below the length.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        let (word, bit) = place(number);
        self.words[word] &= !bit;
    }

    /// Inserts all members of another set of the same length. Returns whether the set has changed.
    pub fn unite(&mut self, other: &BitSet) -> bool {
        self.change(other, |word, other| word | other)
    }

    /// Removes all numbers that are not in another set of the same length. Returns whether the set has changed.
    pub fn intersect(&mut self, other: &BitSet) -> bool {
        self.change(other, |word, other| word & other)
    }

    fn change(&mut self, other: &BitSet, of: impl Fn(u64, u64) -> u64) -> bool {
        let mut has_changed = false;
        for (word, other) in core::iter::zip(&mut self.words, &other.words) {
            let new = of(*word, *other);
            has_changed |= core::mem::replace(word, new) != new;
        }
        has_changed
    }

    /// The number of members.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether there are any")]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The set as words: the lowest number is the lowest bit of the first word.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl fmt::Debug for BitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = 0..self.words.len() * u64::BITS as usize;
        f.debug_set().entries(numbers.filter(|number| self.contains(*number))).finish()
    }
}
