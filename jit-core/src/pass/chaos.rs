//! Legal choices made at random, for tests.
//!
//! What is rare in real programs (a spill, an unlucky register, a value that could have been an operand in memory and
//! is not) hides faults. With a seed, passes take such ways now and then; a seed gives the same choices again.
//! Without one, every question is answered with no.

/// Random choices, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chaos(u64);

impl Chaos {
    /// The choices of this seed; none if it is zero.
    pub fn new(seed: u64) -> Chaos {
        Chaos(seed)
    }

    /// Yes once in `n` times; never without a seed.
    #[inline]
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.0 != 0 && self.next().is_multiple_of(n)
    }

    /// A number below `n`; 0 without a seed.
    #[inline]
    pub(super) fn below(&mut self, n: usize) -> usize {
        if self.0 == 0 { 0 } else { self.next() as usize % n }
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 20
    }
}
