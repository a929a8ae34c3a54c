//! Random numbers and texts.
//!
//! In: the seed of a test. Out: numbers of all sizes, and texts over an alphabet.

/// A sequence of numbers (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of a test.
    pub(crate) fn new(test: u64) -> Random {
        let seed = std::env::var("LUA_ORACLE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0u64);
        Random((seed.wrapping_mul(1000).wrapping_add(test) * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Any number.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// A text over an alphabet, shorter than `limit`.
    pub(crate) fn text(&mut self, alphabet: &[u8], limit: usize) -> Vec<u8> {
        (0..self.below(limit)).map(|_| self.pick(alphabet)).collect()
    }

    /// A number: an integer, a short fraction, a tie, one next to a power of ten, or any bits.
    pub(crate) fn number(&mut self) -> f64 {
        const SPECIAL: [f64; 14] = [
            0.0,
            f64::INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            4294967296.0,
            2147483648.0,
            9223372036854775808.0,
            18446744073709551616.0,
            99999999999999.0,
            1e14,
            1e15,
            9007199254740993.0,
        ];
        let magnitude = match self.below(9) {
            0 => self.pick(&SPECIAL),
            1 => self.below(1000) as f64,
            2 => (self.bits() >> self.below(64)) as f64,
            3 => self.below(100_000) as f64 / 10f64.powi(self.below(6) as i32),
            4 => self.below(1000) as f64 + 0.5,
            5 => {
                let power = format!("1e{}", self.below(640) as i32 - 330).parse::<f64>().expect("a number");
                f64::from_bits((power.to_bits() + self.below(3) as u64).saturating_sub(1))
            }
            6 => (self.bits() >> 11) as f64 / (1u64 << self.below(64)) as f64,
            7 => f64::from_bits(self.bits() >> (12 + self.below(52))),
            _ => f64::from_bits(self.bits()).abs(),
        };
        if self.one_in(3) { -magnitude } else { magnitude }
    }
}
