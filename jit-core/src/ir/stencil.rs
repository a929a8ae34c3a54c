//! The holes of a stencil: values that are known only when bytecode is compiled with it.
//!
//! While the template goes through the passes, a number stands in each hole, its *placeholder*. No real constant is mistaken for a
//! placeholder, and a placeholder has the sign and the width of the hole's values, so that a tile which fits it fits them all.

/// Where a hole's value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The operand of this number.
    Operand(u8),
    /// How many registers the run is that an operand names.
    Count(u8),
    /// The position of the last label of the run that an operand names.
    Last(u8),
    /// The address of the call cell of the function that this operand numbers.
    Cell(u8),
    /// The address of the table that tells of all functions.
    Functions,
    /// The address of the table that this switch jumps by.
    Table,
    /// What `(cu)` is.
    Unit,
    /// The index of the bytecode itself.
    Here,
}

/// Which numbers may stand in a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// 32 bits, extended with the sign.
    Signed,
    /// 32 bits, extended with zeros.
    Unsigned,
    /// Any.
    Any,
}

/// The value of a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoleValue {
    /// Where it comes from.
    pub source: Source,
    /// What it is multiplied by.
    pub scale: u8,
    /// Which numbers it may be.
    pub range: Range,
}

/// How many times a stencil is emitted, each time with other placeholders: the differences show where the holes are.
pub const ROUNDS: usize = 3;

/// A number that is this near to a placeholder is taken for the placeholder plus an offset.
pub const REACH: i64 = 1 << 14;

/// The most holes of one template: so many placeholders differ in their low bits.
pub const MAX_HOLES: usize = 28;

/// The placeholder of the hole with this number.
///
/// The passes see the first round's. The last round's has the opposite sign of the others, which shows code that depends on the
/// sign. Each part that a machine's instructions may hold of a constant tells placeholders apart: all together if not in every
/// round, however few bits it has. The low bits are never 0 or 1, which have shorter encodings.
pub const fn placeholder(number: usize, range: Range, round: usize) -> i64 {
    debug_assert!(number < MAX_HOLES && round < ROUNDS);
    let low_bits = [2 + number, 0x20 | (29 - number), 0xc0 | (2 + (number + 11) % MAX_HOLES)][round] as u32;
    let third_byte = [0, 0x40_0000, 0x80_0000][round] | (number as u32) << 16;
    let fourth_byte = ([0xa0, 0xc0, 0x20][round] | number as u32) << 24;
    let low = fourth_byte | third_byte | REACH as u32 | ([0, 0x1500, 0x2b00][round] + low_bits);
    match range {
        Range::Signed => low as i32 as i64,
        Range::Unsigned => low as i64,
        Range::Any => {
            // The number stands where any twelve bits in a row have it; of the highest bits a round has a part of it.
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
    is_full: bool,
}

impl HoleValues {
    /// Removes all.
    pub fn clear(&mut self) {
        self.list.clear();
        self.is_full = false;
    }

    /// Whether more holes were asked for than [`MAX_HOLES`].
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// All, by number.
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
        }
        placeholder(number.min(MAX_HOLES - 1), value.range, 0)
    }

    /// The hole whose placeholder a number is, by number, and what is added to it.
    pub fn find(&self, value: i64) -> Option<(usize, i64)> {
        self.list.iter().enumerate().find_map(|(number, open)| {
            let distance = value.wrapping_sub(placeholder(number, open.range, 0));
            (-REACH..REACH).contains(&distance).then_some((number, distance))
        })
    }

    /// The number in another round's code where this number is in the first round's.
    pub fn in_round(&self, value: i64, round: usize) -> i64 {
        let other = |value| {
            let (number, distance) = self.find(value)?;
            Some(placeholder(number, self.list[number].range, round) + distance)
        };
        // A constant of 32 bits may be held with zeros above them.
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
        for ranges in [mixed, [Range::Any, Range::Signed, Range::Signed], [Range::Any; 3]] {
            let mut values = HoleValues::default();
            let open = |number: usize| {
                let source = Source::Operand(number as u8);
                HoleValue { source, scale: 1, range: ranges[number % 3] }
            };
            (0..MAX_HOLES).for_each(|number| _ = values.placeholder(open(number)));
            assert!(!values.is_full());
            told_apart(&values);
            values.placeholder(open(0));
            assert!(!values.is_full(), "it is known");
            values.placeholder(open(MAX_HOLES));
            assert!(values.is_full());
        }
    }

    fn told_apart(values: &HoleValues) {
        for round in 0..ROUNDS {
            for (number, open) in values.list().iter().enumerate() {
                for distance in [-REACH, -1, 0, 7, REACH - 1] {
                    let first = placeholder(number, open.range, 0) + distance;
                    let now = placeholder(number, open.range, round) + distance;
                    assert_eq!(values.find(first), Some((number, distance)));
                    assert_eq!(values.in_round(first, round), now);
                    let fits = match open.range {
                        Range::Signed => now == now as i32 as i64,
                        Range::Unsigned => now == now as u32 as i64,
                        Range::Any => now != now as i32 as i64 && now != now as u32 as i64,
                    };
                    assert!(fits, "{now:#x}");
                    if open.range == Range::Signed {
                        assert_eq!(values.in_round(first as u32 as i64, round), now as u32 as i64);
                    }
                }
            }
        }
        for (number, open) in values.list().iter().enumerate() {
            let low = |round| placeholder(number, open.range, round) as u8;
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
            for (number, open) in values.list().iter().enumerate() {
                if shift + width > 32 && open.range != Range::Any {
                    continue;
                }
                let part =
                    |round| placeholder(number, open.range, round) << (64 - shift - width) >> (64 - width);
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
