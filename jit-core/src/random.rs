//! Pseudo-random numbers: the same seed, or the same bytes, always produce the same sequence.
//!
//! In: a seed, or bytes that a fuzzer chose. Out: numbers. A choice consumes as few bytes as it needs, so that changing one
//! byte changes one choice and leaves the others.

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub struct Random {
    /// The given bytes that are not used yet, the next one last.
    bytes: Vec<u8>,
    /// The state of the generator (xorshift64*), which takes over when the bytes are used up.
    state: u64,
}

impl Random {
    /// The sequence of this seed.
    pub const fn new(seed: u64) -> Random {
        let state = seed.wrapping_mul(2).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random { bytes: Vec::new(), state }
    }

    /// The sequence that these bytes determine. When they are used up, the sequence of a fixed seed follows: a choice that is
    /// repeated until it fits would never end if only zeros came.
    pub fn from_bytes(bytes: &[u8]) -> Random {
        Random { bytes: bytes.iter().rev().copied().collect(), ..Random::new(0) }
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> u64 {
        match self.bytes.is_empty() {
            true => self.next(),
            false => self.take(8),
        }
    }

    /// A number below `n`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        if self.bytes.is_empty() {
            return (self.next() >> 33) as usize % n;
        }
        let greatest = n as u64 - 1;
        self.take((64 - greatest.leading_zeros()).div_ceil(8)) as usize % n
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// The next `count` of the given bytes as one number. Missing bytes count as zeros.
    fn take(&mut self, count: u32) -> u64 {
        let next = |_| self.bytes.pop().unwrap_or(0);
        (0..count).map(next).fold(0, |number, byte| number << 8 | byte as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_again() {
        let numbers = |seed| {
            core::array::from_fn::<u64, 8, _>({
                let mut random = Random::new(seed);
                move |_| random.number()
            })
        };
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(numbers(3), numbers(4));
    }

    #[test]
    fn a_choice_takes_as_few_bytes_as_it_needs() {
        let mut random = Random::from_bytes(&[7, 1, 2, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(256), 7);
        assert_eq!(random.below(257), 0x102 % 257);
        assert_eq!(random.below(100), 0xff % 100);
        assert_eq!(random.number(), 0x0102_0304_0506_0708);
        assert_eq!(random.number(), 9 << 56);
    }

    #[test]
    fn behind_the_bytes_follows_a_seed() {
        let (mut random, mut seeded) = (Random::from_bytes(&[5]), Random::new(0));
        assert_eq!(random.below(9), 5);
        assert_eq!(random.number(), seeded.number());
    }
}
