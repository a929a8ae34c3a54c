//! What a stencil leaves open: values that are known only when bytecode is compiled with it.
//!
//! While the template goes through the passes, an open value stands there as a number that no real value is
//! mistaken for, its *stand-in*. A stand-in has the sign and the width of the values that it stands for, so that
//! tiles which fit it fit all of them.

/// Where an open value comes from.
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

/// Which numbers an open value may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// 32 bits, extended with the sign.
    Signed,
    /// 32 bits, extended with zeros.
    Unsigned,
    /// Any.
    Any,
}

/// An open value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    /// Where it comes from.
    pub source: Source,
    /// What that is multiplied with.
    pub scale: u8,
    /// What it may be.
    pub range: Range,
}

/// In how many ways stand-ins are written, to see that code depends on them in their places only.
pub const ROUNDS: usize = 3;

/// How far from a stand-in a number is taken for that stand-in and a distance.
pub const REACH: i64 = 1 << 14;

/// How many values of one template can be open: so many stand-ins differ in their low bits.
pub const MAX_OPEN: usize = 28;

/// The number that stands for the open value with this number.
///
/// The first round is what the passes see. The others differ from it in every byte, and in the last the sign is another,
/// so that code which depends on the sign is found out. The low byte tells stand-ins apart even where only a few bits of
/// it are used, and which; those bits are never 0 or 1, for which there are shorter forms.
pub const fn stand_in(number: usize, range: Range, round: usize) -> i64 {
    debug_assert!(number < MAX_OPEN && round < ROUNDS);
    let low_bits = [2 + number, 0x20 | (29 - number), 0xc0 | (2 + (number + 11) % MAX_OPEN)][round] as i64;
    let low = (number as i64) << 16 | REACH | ([0, 0x1500, 0x2b00][round] + low_bits);
    match range {
        Range::Signed => {
            [0x8a00_0000u32 as i32 as i64, 0xc540_0000u32 as i32 as i64, 0x3180_0000][round] + low
        }
        Range::Unsigned => [0x9a00_0000, 0xd540_0000, 0x2180_0000][round] + low,
        Range::Any => [0x5ac3_91e7_7b00_0000, 0x2c95_3a6e_e840_0000, -0x3d6c_4b19_5580_0000][round] + low,
    }
}

/// Everything that is open in one template.
#[derive(Clone, Debug, Default)]
pub struct Opens {
    list: Vec<Open>,
    is_too_much: bool,
}

impl Opens {
    /// Nothing is.
    pub fn clear(&mut self) {
        self.list.clear();
        self.is_too_much = false;
    }

    /// Whether more was to be open than [`MAX_OPEN`].
    pub fn is_too_much(&self) -> bool {
        self.is_too_much
    }

    /// All, by number.
    pub fn list(&self) -> &[Open] {
        &self.list
    }

    /// The stand-in of an open value; equal ones have one.
    pub fn stand_in(&mut self, open: Open) -> i64 {
        let known = self.list.iter().position(|known| *known == open);
        let number = known.unwrap_or(self.list.len());
        self.is_too_much |= number == MAX_OPEN;
        if known.is_none() && !self.is_too_much {
            self.list.push(open);
        }
        stand_in(number.min(MAX_OPEN - 1), open.range, 0)
    }

    /// Which open value a number stands for, and how much is added to it.
    pub fn find(&self, value: i64) -> Option<(usize, i64)> {
        self.list.iter().enumerate().find_map(|(number, open)| {
            let distance = value.wrapping_sub(stand_in(number, open.range, 0));
            (-REACH..REACH).contains(&distance).then_some((number, distance))
        })
    }

    /// The number that stands in another round where this one stands in the first.
    pub fn in_round(&self, value: i64, round: usize) -> i64 {
        let other = |value| {
            let (number, distance) = self.find(value)?;
            Some(stand_in(number, self.list[number].range, round) + distance)
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
    fn stand_ins_are_told_apart_in_each_round() {
        for ranges in
            [[Range::Signed, Range::Unsigned, Range::Any], [Range::Any, Range::Signed, Range::Signed]]
        {
            let mut opens = Opens::default();
            let open = |number: usize| {
                let source = Source::Operand(number as u8);
                Open { source, scale: 1, range: ranges[number % 3] }
            };
            (0..MAX_OPEN).for_each(|number| _ = opens.stand_in(open(number)));
            assert!(!opens.is_too_much());
            told_apart(&opens);
            opens.stand_in(open(0));
            assert!(!opens.is_too_much(), "it is known");
            opens.stand_in(open(MAX_OPEN));
            assert!(opens.is_too_much());
        }
    }

    fn told_apart(opens: &Opens) {
        for round in 0..ROUNDS {
            for (number, open) in opens.list().iter().enumerate() {
                for distance in [-REACH, -1, 0, 7, REACH - 1] {
                    let first = stand_in(number, open.range, 0) + distance;
                    let now = stand_in(number, open.range, round) + distance;
                    assert_eq!(opens.find(first), Some((number, distance)));
                    assert_eq!(opens.in_round(first, round), now);
                    let fits = match open.range {
                        Range::Signed => now == now as i32 as i64,
                        Range::Unsigned => now == now as u32 as i64,
                        Range::Any => now != now as i32 as i64 && now != now as u32 as i64,
                    };
                    assert!(fits, "{now:#x}");
                    if open.range == Range::Signed {
                        assert_eq!(opens.in_round(first as u32 as i64, round), now as u32 as i64);
                    }
                }
            }
        }
        for (number, open) in opens.list().iter().enumerate() {
            let low = |round| stand_in(number, open.range, round) as u8;
            for bit in 0..8 {
                let mask = 1 << bit;
                assert!((0..ROUNDS).any(|round| low(round) & mask != 0), "bit {bit} is used");
            }
            assert!((0..ROUNDS).all(|round| low(round) & 31 > 1));
        }
        for plain in [0, 1, -1, 8, i32::MIN as i64, i32::MAX as i64, u32::MAX as i64, i64::MIN, i64::MAX] {
            assert_eq!(opens.in_round(plain, 1), plain);
        }
    }
}
