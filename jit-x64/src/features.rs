//! The features of a CPU beyond the x86-64 baseline.

use bitflags::bitflags;

bitflags! {
    /// CPU features that tiles may need. ORDER FEATURES: as in the tile set's list, which a test compares.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
    pub struct Features: u32 {
        /// Rounding floats.
        const SSE41 = 1;
        /// Counting ones.
        const POPCNT = 1 << 1;
        /// Counting leading zeros.
        const LZCNT = 1 << 2;
        /// Counting trailing zeros.
        const BMI1 = 1 << 3;
        /// Shifts by any register, which leave the flags as they are.
        const BMI2 = 1 << 4;
        /// 256-bit vectors and three-operand instructions; for users' tiles.
        const AVX = 1 << 5;
        /// Fused multiplication and addition; for users' tiles.
        const FMA = 1 << 6;
    }
}

impl Features {
    /// The features of the CPU that this program runs on.
    ///
    /// ```
    /// # mod azulejo { pub use azulejo_x64 as x64; }
    /// use azulejo::x64::Features;
    /// assert_eq!(Features::detect().contains(Features::BMI2), std::arch::is_x86_feature_detected!("bmi2"));
    /// ```
    pub fn detect() -> Features {
        let mut features = Features::empty();
        features.set(Features::SSE41, std::arch::is_x86_feature_detected!("sse4.1"));
        features.set(Features::POPCNT, std::arch::is_x86_feature_detected!("popcnt"));
        features.set(Features::LZCNT, std::arch::is_x86_feature_detected!("lzcnt"));
        features.set(Features::BMI1, std::arch::is_x86_feature_detected!("bmi1"));
        features.set(Features::BMI2, std::arch::is_x86_feature_detected!("bmi2"));
        features.set(Features::AVX, std::arch::is_x86_feature_detected!("avx"));
        features.set(Features::FMA, std::arch::is_x86_feature_detected!("fma"));
        features
    }

    /// The features with these names; unknown names are ignored.
    ///
    /// ```
    /// # mod azulejo { pub use azulejo_x64 as x64; }
    /// use azulejo::x64::Features;
    /// assert_eq!(Features::named(&["bmi2", "x87"]), Features::BMI2);
    /// ```
    pub fn named(names: &[&str]) -> Features {
        let all = Features::all().iter_names();
        all.filter(|(name, _)| names.iter().any(|named| named.eq_ignore_ascii_case(name)))
            .fold(Features::empty(), |set, (_, feature)| set | feature)
    }
}

#[cfg(test)]
mod tests {
    use super::Features;

    #[test]
    fn bits_are_the_tile_sets() {
        let names: Vec<String> = Features::all().iter_names().map(|(name, _)| name.to_lowercase()).collect();
        assert_eq!(names, crate::X64.tables.features);
        assert_eq!(Features::named(&["bmi2", "sse41", "x87"]), Features::BMI2 | Features::SSE41);
    }
}
