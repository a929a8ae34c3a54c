//! The holes of a stencil: values that become known only when bytecode is compiled with it.
//!
//! While the template goes through the passes, a number stands in each hole, its *placeholder*. No real constant is mistaken
//! for a placeholder. A placeholder has the sign and the width of the hole's values, so a tile that fits the placeholder fits
//! all of them.

/// The source of a hole's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoleSource {
    /// The operand with this number.
    Operand(u8),
    /// The length of the run of registers that this operand names.
    Count(u8),
    /// The position of the last label in the run that this operand names.
    Last(u8),
    /// The address of the call cell of the function whose number this operand is.
    Cell(u8),
    /// A field of the first case of the site that this operand is: its distance from the start of the site, and its size, in bytes.
    Case(u8, u32, u8),
    /// The address of the table of all functions.
    Functions,
    /// The address of the jump table of this switch.
    Table,
    /// The value of `(cu)`.
    Unit,
    /// The index of the bytecode itself.
    Here,
    /// The address of the bytecode itself.
    Bytecode,
    /// The address of the bytecode's entry in [`SlowPaths`](super::slow_paths::SlowPaths).
    SlowPath,
    /// The address of the word that leads to the newest of the frames that are shown.
    Newest,
    /// What the function's [`ShowPlan::layout`](super::frames::ShowPlan::layout) says.
    Layout,
    /// The distance of the function's [`ShownFrame`](super::frames::ShownFrame) from the start of its frame, in bytes.
    Shown,
}

/// The range of a hole's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Numbers of 32 bits, sign-extended.
    Signed,
    /// Numbers of 32 bits, zero-extended.
    Unsigned,
    /// Numbers of 31 bits: they are the same in both ways.
    Positive,
    /// All numbers of 64 bits.
    Any,
}

/// The value of a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoleValue {
    /// The source of the value.
    pub source: HoleSource,
    /// The factor that the value is multiplied by.
    pub scale: u8,
    /// The range of the product.
    pub range: Range,
}

/// How many times a stencil is emitted, each time with other placeholders. The differences show where the holes are.
pub const ROUNDS: usize = 3;

/// A number whose distance from a placeholder is less than this is taken for the placeholder plus an offset.
pub const REACH: i64 = 1 << 14;

/// The greatest number of holes in one template: this many placeholders differ in their low bits.
pub const MAX_HOLES: usize = 28;

/// The placeholder of the hole with this number.
///
/// The passes see the placeholders of the first round. The last round's have the opposite sign, if values may have either, which reveals
/// code that depends on the sign. An instruction may hold only some bits of a constant. Any such part distinguishes the placeholders, if
/// not in each round, then in all rounds together. The low bits are never 0 or 1, which have shorter encodings.
pub const fn placeholder(number: usize, range: Range, round: usize) -> i64 {
    debug_assert!(number < MAX_HOLES && round < ROUNDS);
    let low_bits = [2 + number, 0x20 | (29 - number), 0xc0 | (2 + (number + 11) % MAX_HOLES)][round] as u32;
    let third_byte = [0, 0x40_0000, 0x80_0000][round] | (number as u32) << 16;
    let fourth_byte = ([0xa0, 0xc0, 0x20][round] | number as u32) << 24;
    let low = fourth_byte | third_byte | REACH as u32 | ([0, 0x1500, 0x2b00][round] + low_bits);
    match range {
        Range::Signed => low as i32 as i64,
        Range::Unsigned => low as i64,
        Range::Positive => (low & 0x1fff_ffff | [0x2000_0000, 0x4000_0000, 0x6000_0000][round]) as i64,
        Range::Any => {
            // The hole's number is repeated, so that any twelve consecutive bits contain it. The highest bits contain a part
            // of it, which differs by round.
            let number = number as u32;
            let highest = [number & 7, number >> 2, number & 7][round] << 28;
            let spread = (number << 4 | number << 14 | (number & 15) << 24) ^ highest;
            let high = [0x5ac3_91e7, 0x2c95_3a6e, 0xc293_b4e6][round] ^ spread;
            ((high as u64) << 32 | low as u64) as i64
        }
    }
}

/// The holes of one template.
#[derive(Clone, Debug, Default)]
pub struct HoleValues {
    list: Vec<HoleValue>,
    /// The placeholders of each hole, by round.
    placeholders: Vec<[i64; ROUNDS]>,
    is_full: bool,
}

impl HoleValues {
    /// Removes all holes.
    pub fn clear(&mut self) {
        self.list.clear();
        self.placeholders.clear();
        self.is_full = false;
    }

    /// Whether more holes were requested than [`MAX_HOLES`].
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The values of all holes, by number.
    pub fn list(&self) -> &[HoleValue] {
        &self.list
    }

    /// The placeholder of a hole with this value. Holes with equal values share it.
    pub fn placeholder(&mut self, value: HoleValue) -> i64 {
        let known = self.list.iter().position(|known| *known == value);
        let number = known.unwrap_or(self.list.len());
        self.is_full |= number == MAX_HOLES;
        if known.is_none() && !self.is_full {
            self.list.push(value);
            let in_round = |round| placeholder(number, value.range, round);
            self.placeholders.push(core::array::from_fn(in_round));
        }
        placeholder(number.min(MAX_HOLES - 1), value.range, 0)
    }

    /// The placeholder of a hole, by number, in a round.
    pub fn in_hole(&self, number: usize, round: usize) -> i64 {
        self.placeholders[number][round]
    }

    /// The placeholders of the holes for signed numbers of 32 bits, in a round.
    pub fn signed(&self, round: usize) -> impl Iterator<Item = i64> {
        let all = self.list.iter().zip(&self.placeholders);
        all.filter(|(hole, _)| hole.range == Range::Signed).map(move |(_, placeholders)| placeholders[round])
    }

    /// Finds the hole that a number refers to. Returns the hole's number and the offset from its placeholder.
    pub fn find(&self, value: i64) -> Option<(usize, i64)> {
        self.placeholders.iter().enumerate().find_map(|(number, [first, ..])| {
            let distance = value.wrapping_sub(*first);
            (-REACH..REACH).contains(&distance).then_some((number, distance))
        })
    }

    /// The number that replaces `value`, from the code of the first round, in the code of another round.
    pub fn in_round(&self, value: i64, round: usize) -> i64 {
        let other = |value| {
            let (number, distance) = self.find(value)?;
            Some(self.in_hole(number, round) + distance)
        };
        // An instruction may hold a constant of 32 bits zero-extended.
        let held = u32::try_from(value).ok();
        let whole = || other(value);
        let short = || other(held? as i32 as i64).map(|other| other as u32 as i64);
        whole().or_else(short).unwrap_or(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_apart_in_each_round() {
        let mixed = [Range::Signed, Range::Unsigned, Range::Any];
        let with_positive = [Range::Positive, Range::Signed, Range::Positive];
        for ranges in [mixed, with_positive, [Range::Any, Range::Signed, Range::Signed], [Range::Any; 3]] {
            let mut values = HoleValues::default();
            let hole = |number: usize| {
                let source = HoleSource::Operand(number as u8);
                HoleValue { source, scale: 1, range: ranges[number % 3] }
            };
            (0..MAX_HOLES).for_each(|number| _ = values.placeholder(hole(number)));
            assert!(!values.is_full());
            told_apart(&values);
            values.placeholder(hole(0));
            assert!(!values.is_full(), "it is known");
            values.placeholder(hole(MAX_HOLES));
            assert!(values.is_full());
        }
    }

    fn told_apart(values: &HoleValues) {
        for round in 0..ROUNDS {
            for (number, hole) in values.list().iter().enumerate() {
                for distance in [-REACH, -1, 0, 7, REACH - 1] {
                    let first = placeholder(number, hole.range, 0) + distance;
                    let now = placeholder(number, hole.range, round) + distance;
                    assert_eq!(values.find(first), Some((number, distance)));
                    assert_eq!(values.in_round(first, round), now);
                    let fits = match hole.range {
                        Range::Signed => now == now as i32 as i64,
                        Range::Unsigned => now == now as u32 as i64,
                        Range::Positive => now == now as i32 as i64 && now > 0,
                        Range::Any => now != now as i32 as i64 && now != now as u32 as i64,
                    };
                    assert!(fits, "{now:#x}");
                    if hole.range == Range::Signed {
                        assert_eq!(values.in_round(first as u32 as i64, round), now as u32 as i64);
                    }
                }
            }
        }
        for (number, hole) in values.list().iter().enumerate() {
            let low = |round| placeholder(number, hole.range, round) as u8;
            for bit in 0..8 {
                let mask = 1 << bit;
                assert!((0..ROUNDS).any(|round| low(round) & mask != 0), "bit {bit} is used");
            }
            assert!((0..ROUNDS).all(|round| low(round) & 31 > 1));
        }
        let parts: [(u32, u32); 9] =
            [(0, 12), (12, 12), (24, 12), (36, 12), (48, 12), (60, 4), (24, 8), (0, 32), (32, 32)];
        for (shift, width) in parts {
            let mut known = Vec::new();
            for (number, hole) in values.list().iter().enumerate() {
                if shift + width > 32 && hole.range != Range::Any {
                    continue;
                }
                let part =
                    |round| placeholder(number, hole.range, round) << (64 - shift - width) >> (64 - width);
                let found: [i64; ROUNDS] = core::array::from_fn(part);
                assert!(!known.contains(&found), "{width} bits from {shift} are those of another hole");
                assert!(found[1..].iter().any(|other| *other != found[0]), "they differ");
                known.push(found);
            }
        }
        for plain in [0, 1, -1, 8, i32::MIN as i64, i32::MAX as i64, u32::MAX as i64, i64::MIN, i64::MAX] {
            assert_eq!(values.in_round(plain, 1), plain);
        }
    }
}
