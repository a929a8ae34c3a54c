//! Random numbers: xoshiro256++ (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators").
//!
//! In: a seed. Out: numbers from 0 on, below 1. The same seed gives the same numbers on every machine. They are others than those of C.

/// A generator.
#[derive(Clone, Debug)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// A generator whose state is made of a seed by splitmix64, so that seeds next to each other have nothing in common.
    pub(crate) fn new(seed: u64) -> Random {
        let mut at = seed;
        Random(std::array::from_fn(|_| {
            at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (at ^ at >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        }))
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number from 0 on, below 1, with all bits that it can have.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from one to another, which is no less.
    pub(crate) fn between(&mut self, low: i32, high: i32) -> f64 {
        let count = f64::from(high) - f64::from(low) + 1.0;
        (self.fraction() * count).floor() + f64::from(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_the_paper() {
        // What the authors' program gives for this state.
        let mut random = Random([1, 2, 3, 4]);
        let first = std::array::from_fn(|_| random.next());
        assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn fractions_are_spread() {
        let mut random = Random::new(0);
        let mut counts = [0; 16];
        for _ in 0..16_000 {
            counts[(random.fraction() * 16.0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
