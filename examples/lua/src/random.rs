//! Random numbers, the same as those of C's Lua on Linux: what `rand` of glibc gives for a seed.
//!
//! In: a seed. Out: numbers from 0 on, below 1 (2³¹ − 1 different ones). The same seed gives the same numbers on every machine.
//!
//! Each number is the sum of the ones that came three and 31 numbers before it, modulo 2³²; its lowest bit, which is the least random, is left
//! out.

/// How many numbers are remembered.
const DEGREE: usize = 31;
/// How far the nearer one of the two that are added lies back; where the first number is put, too.
const NEAR: usize = 3;
/// How many numbers are left out behind a seed: ten for each that is remembered.
const LEFT_OUT: usize = 10 * DEGREE;
/// The largest number of `rand`.
const MAX: u32 = i32::MAX as u32;

/// A generator.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    /// The last numbers. The oldest, which the next one takes the place of, is at `at`.
    last: [u32; DEGREE],
    at: usize,
}

impl Random {
    /// A generator whose numbers a seed decides.
    pub(crate) fn new(seed: i32) -> Random {
        let mut word = i64::from(if seed == 0 { 1 } else { seed });
        let mut last = [word as u32; DEGREE];
        for later in &mut last[1..] {
            word = (word * 16_807).rem_euclid(i64::from(MAX));
            *later = word as u32;
        }
        let mut random = Random { last, at: NEAR };
        for _ in 0..LEFT_OUT {
            random.next();
        }
        random
    }

    /// The next number, from 0 to [`MAX`].
    fn next(&mut self) -> u32 {
        let near = if self.at >= NEAR { self.at - NEAR } else { self.at + DEGREE - NEAR };
        let sum = self.last[self.at].wrapping_add(self.last[near]);
        self.last[self.at] = sum;
        self.at = if self.at + 1 == DEGREE { 0 } else { self.at + 1 };
        sum >> 1
    }

    /// A number from 0 on, below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(self.next() % MAX) / f64::from(MAX)
    }

    /// A whole number from one to another, which is no less. C's Lua counts how many there are in 32 bits, and gives others where these overflow.
    pub(crate) fn between(&mut self, low: i32, high: i32) -> f64 {
        let count = f64::from(high) - f64::from(low) + 1.0;
        (self.fraction() * count).floor() + f64::from(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_glibc() {
        // What a program in C prints for `srand(seed)` and four times `rand()`.
        for (seed, first) in [
            (1, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]),
            (42, [71_876_166, 708_592_740, 1_483_128_881, 907_283_241]),
            (-7, [1_013_596_334, 188_151_887, 775_240_502, 507_472_549]),
            (i32::MAX, [1_065_668_062, 2_142_264_300, 1_066_566_375, 1_064_012_770]),
            (i32::MIN, [1_336_741_213, 1_210_407_648, 1_447_044_896, 337_392_383]),
        ] {
            let mut random = Random::new(seed);
            assert_eq!(std::array::from_fn(|_| random.next()), first, "seed {seed}");
        }
        assert_eq!(Random::new(0).last, Random::new(1).last);
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
