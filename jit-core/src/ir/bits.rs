//! Sets of small numbers, with one bit for each number.

use core::fmt;

/// A set of numbers below the length that it was made for. Other numbers are never in it. `W` holds the words: a set has its
/// own, or is one of [`BitSets`].
///
/// ```
/// # use azulejo_core::ir::bits::BitSet;
/// let mut set = BitSet::new(100);
/// assert!(set.insert(3) && set.insert(70) && !set.insert(3));
/// assert!(set.contains(70) && !set.contains(69) && !set.contains(1000));
/// assert_eq!(set.iter().collect::<Vec<usize>>(), [3, 70]);
///
/// let mut all = BitSet::full(100);
/// assert!(all.intersect(&set) && !all.intersect(&set));
/// assert_eq!((all.len(), format!("{all:?}")), (2, "{3, 70}".to_string()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct BitSet<W = Vec<u64>> {
    words: W,
}

/// One of several sets, to be read.
pub type Bits<'a> = BitSet<&'a [u64]>;

/// One of several sets, to be changed.
pub type BitsMut<'a> = BitSet<&'a mut [u64]>;

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

    /// Makes it what [`BitSet::new`] returns, in the same memory.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words.resize(n_words(len), 0);
    }
}

impl<W: AsRef<[u64]>> BitSet<W> {
    /// Whether a number is in the set.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        let (word, bit) = place(number);
        self.words().get(word).is_some_and(|word| word & bit != 0)
    }

    /// The first member that is at least this number.
    #[inline]
    pub fn first_from(&self, number: usize) -> Option<usize> {
        let (start, bit) = place(number);
        let words = self.words().get(start..)?;
        // Bits below the number do not count.
        let masks = core::iter::once(!(bit - 1)).chain(core::iter::repeat(u64::MAX));
        let mut found = core::iter::zip(words, masks).enumerate();
        found.find_map(|(at, (word, mask))| {
            let word = word & mask;
            (word != 0).then(|| (start + at) * u64::BITS as usize + word.trailing_zeros() as usize)
        })
    }

    /// The number of members.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether there are any")]
    pub fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The members in order.
    #[inline]
    pub fn iter(&self) -> Members<'_> {
        self.view().into_iter()
    }

    /// The same set, borrowed.
    #[inline]
    pub fn view(&self) -> Bits<'_> {
        BitSet { words: self.words() }
    }

    /// The set as words: the lowest number is the lowest bit of the first word.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        self.words.as_ref()
    }
}

impl<W: AsRef<[u64]> + AsMut<[u64]>> BitSet<W> {
    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.words.as_mut().fill(0);
    }

    /// Inserts a number, which must be below the length. Returns whether it was new.
    #[inline]
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = place(number);
        let word = &mut self.words.as_mut()[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Inserts a number, which must be below the length, unless it is in another set of the same length.
    #[inline]
    pub fn insert_but(&mut self, number: usize, but: &BitSet<impl AsRef<[u64]>>) {
        let (word, bit) = place(number);
        self.words.as_mut()[word] |= bit & !but.words()[word];
    }

    /// Removes a number, which must be below the length.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        let (word, bit) = place(number);
        self.words.as_mut()[word] &= !bit;
    }

    /// Inserts all members of another set of the same length. Returns whether the set has changed.
    pub fn unite(&mut self, other: &BitSet<impl AsRef<[u64]>>) -> bool {
        self.change(other, |word, other| word | other)
    }

    /// Inserts the members of another set that are not in a third one, all of the same length. Returns whether the set has
    /// changed.
    #[inline]
    pub fn unite_but(&mut self, other: &BitSet<impl AsRef<[u64]>>, but: &BitSet<impl AsRef<[u64]>>) -> bool {
        let mut new = 0;
        let others = core::iter::zip(other.words(), but.words());
        for (word, (other, but)) in core::iter::zip(self.words.as_mut(), others) {
            let added = other & !but & !*word;
            *word |= added;
            new |= added;
        }
        new != 0
    }

    /// Removes all numbers that are not in another set of the same length. Returns whether the set has changed.
    pub fn intersect(&mut self, other: &BitSet<impl AsRef<[u64]>>) -> bool {
        self.change(other, |word, other| word & other)
    }

    fn change(&mut self, other: &BitSet<impl AsRef<[u64]>>, of: impl Fn(u64, u64) -> u64) -> bool {
        let mut has_changed = false;
        for (word, other) in core::iter::zip(self.words.as_mut(), other.words()) {
            let new = of(*word, *other);
            has_changed |= core::mem::replace(word, new) != new;
        }
        has_changed
    }
}

impl<W: AsRef<[u64]>> fmt::Debug for BitSet<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for Bits<'a> {
    type Item = usize;
    type IntoIter = Members<'a>;

    #[inline]
    fn into_iter(self) -> Members<'a> {
        let (&bits, others) = self.words.split_first().unwrap_or((&0, &[]));
        Members { bits, word: 0, others }
    }
}

/// The members of a set in order.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    /// The remaining bits of the current word.
    bits: u64,
    /// The index of the current word.
    word: usize,
    others: &'a [u64],
}

impl Iterator for Members<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            let (&bits, others) = self.others.split_first()?;
            (self.bits, self.others) = (bits, others);
            self.word += 1;
        }
        let bit = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(self.word * u64::BITS as usize + bit)
    }
}

/// Sets of numbers below one length, which are numbered as they are added.
///
/// ```
/// # use azulejo_core::ir::bits::{BitSet, BitSets};
/// let mut sets = BitSets::default();
/// sets.reset(100);
/// let (a, b) = (sets.add(), sets.add());
/// sets.set_mut(a).insert(3);
/// sets.last_mut().insert(70);
/// assert!(sets.unite_but(a, [a, b].into_iter(), BitSet::default()));
/// assert!(sets.set(a).contains(70) && !sets.set(b).contains(3));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BitSets {
    words: Vec<u64>,
    /// How many words each set has.
    n_words: usize,
}

impl BitSets {
    /// Removes all sets. Those that are added from now on have room for the numbers below `len`.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.n_words = n_words(len);
    }

    /// Adds an empty set and returns its number.
    pub fn add(&mut self) -> usize {
        let start = self.words.len();
        self.words.resize(start + self.n_words, 0);
        start / self.n_words.max(1)
    }

    /// A set by its number.
    #[inline]
    pub fn set(&self, number: usize) -> Bits<'_> {
        BitSet { words: &self.words[number * self.n_words..][..self.n_words] }
    }

    /// A set by its number, to be changed.
    #[inline]
    pub fn set_mut(&mut self, number: usize) -> BitsMut<'_> {
        BitSet { words: &mut self.words[number * self.n_words..][..self.n_words] }
    }

    /// The set that was added last, to be changed.
    #[inline]
    pub fn last_mut(&mut self) -> BitsMut<'_> {
        let start = self.words.len() - self.n_words;
        BitSet { words: &mut self.words[start..] }
    }

    /// Inserts the members of the sets `from` that are not in `but` into the set `to`. Returns whether that has changed.
    #[inline]
    pub fn unite_but(&mut self, to: usize, from: impl Iterator<Item = usize> + Clone, but: Bits<'_>) -> bool {
        let mut new = 0;
        for word in 0..self.n_words {
            let all = from.clone().fold(0, |all, set| all | self.words[set * self.n_words + word]);
            let but = but.words.get(word).copied().unwrap_or(0);
            let place = &mut self.words[to * self.n_words + word];
            new |= all & !but & !*place;
            *place |= all & !but;
        }
        new != 0
    }
}
