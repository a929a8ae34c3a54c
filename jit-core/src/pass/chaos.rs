//! Legal choices made at random, for tests.
//!
//! Situations that are rare in real programs (a spill, an unlucky register, a value that could have been a memory operand
//! and is not) hide faults. With a seed, passes create them now and then. The same seed makes the same choices. Without a
//! seed, every question is answered with no.

use crate::random::Random;

/// Random choices, or none.
#[derive(Clone, Debug, Default)]
pub struct Chaos(Option<Random>);

impl Chaos {
    /// Creates the choices of this seed; none if the seed is zero.
    pub fn new(seed: u64) -> Chaos {
        Chaos((seed != 0).then(|| Random::new(seed)))
    }

    /// Whether choices are made at random.
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Returns true once in `n` times; never without a seed.
    #[inline]
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.0.as_mut().is_some_and(|random| random.one_in(n))
    }

    /// A number below `n`; 0 without a seed.
    #[inline]
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.as_mut().map_or(0, |random| random.below(n))
    }
}
