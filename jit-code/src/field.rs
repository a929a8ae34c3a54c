//! Bits of machine code that hold a number.

/// The place of a number in an instruction: some bits of a few bytes, the lowest byte first.
///
/// ```
/// use azulejo_code::Field;
/// // The distance of a jump in instructions of four bytes: 26 bits, without the two lowest of the number, which are zero.
/// let distance = Field { bytes: 4, first: 0, width: 26, shift: 2 };
/// let mut code = 0x1400_0000_u32.to_le_bytes();
/// distance.write(&mut code, -8);
/// assert_eq!(u32::from_le_bytes(code), 0x17ff_fffe);
/// assert_eq!(distance.read(&code), -8);
/// assert!(distance.fits(1 << 20) && !distance.fits(1 << 27) && !distance.fits(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// How many bytes the field spans: one, two, four or eight.
    pub bytes: u8,
    /// The number's lowest bit in these bytes.
    pub first: u8,
    /// How many bits the field has.
    pub width: u8,
    /// How many of the number's lowest bits are not stored: they are zero.
    pub shift: u8,
}

impl Field {
    /// All bits of this many bytes.
    pub const fn whole(bytes: u8) -> Field {
        Field { bytes, first: 0, width: bytes * 8, shift: 0 }
    }

    /// A byte.
    pub const BYTE: Field = Field::whole(1);
    /// A whole word of 32 bits.
    pub const WORD: Field = Field::whole(4);
    /// The upper half of a number of 64 bits, as a whole word of 32 bits.
    pub const UPPER_WORD: Field = Field { shift: 32, ..Field::WORD };
    /// A whole word of 64 bits.
    pub const LONG: Field = Field::whole(8);

    /// Whether the field can hold a number.
    #[inline]
    pub fn fits(self, number: i64) -> bool {
        let unused = 64 - self.width;
        let shifted = number >> self.shift;
        shifted << self.shift == number && shifted << unused >> unused == shifted
    }

    /// Reads the number from the start of this code.
    #[inline]
    pub fn read(self, code: &[u8]) -> i64 {
        let unused = 64 - self.width;
        ((self.word(code) >> self.first) as i64) << unused >> unused << self.shift
    }

    /// Writes a number that [fits](Self::fits).
    #[inline(always)]
    pub fn write(self, code: &mut [u8], number: i64) {
        debug_assert!(self.fits(number), "{number} in {self:?}");
        self.put(code, number as u64);
    }

    /// Writes as many bits of a number as the field has.
    #[inline(always)]
    pub fn put(self, code: &mut [u8], number: u64) {
        match self {
            Field::WORD => code[..4].copy_from_slice(&(number as u32).to_le_bytes()),
            Field::LONG => code[..8].copy_from_slice(&number.to_le_bytes()),
            _ => self.put_bits(code, number),
        }
    }

    #[inline(never)]
    fn put_bits(self, code: &mut [u8], number: u64) {
        if self.bytes == 1 {
            let mask = 0xff_u8 >> (8 - self.width) << self.first;
            code[0] = code[0] & !mask | (number >> self.shift << self.first) as u8 & mask;
            return;
        }
        let mask = self.mask();
        let word = self.word(code) & !mask | number >> self.shift << self.first & mask;
        match self.bytes {
            2 => code[..2].copy_from_slice(&(word as u16).to_le_bytes()),
            4 => code[..4].copy_from_slice(&(word as u32).to_le_bytes()),
            _ => code[..8].copy_from_slice(&word.to_le_bytes()),
        }
    }

    /// The other bits of these bytes, with zeros in place of the number.
    pub fn around(self, code: &[u8]) -> u64 {
        self.word(code) & !self.mask()
    }

    fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.first
    }

    #[inline]
    fn word(self, code: &[u8]) -> u64 {
        fn first<const N: usize>(code: &[u8]) -> [u8; N] {
            *code.first_chunk().expect("a place is in the code")
        }
        match self.bytes {
            1 => code[0] as u64,
            2 => u16::from_le_bytes(first(code)) as u64,
            4 => u32::from_le_bytes(first(code)) as u64,
            _ => u64::from_le_bytes(first(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_changes() {
        let fields = [
            Field::whole(1),
            Field::WORD,
            Field::UPPER_WORD,
            Field::LONG,
            Field { bytes: 4, first: 10, width: 12, shift: 0 },
            Field { bytes: 4, first: 5, width: 19, shift: 2 },
            Field { bytes: 4, first: 5, width: 16, shift: 48 },
        ];
        for field in fields {
            let largest = i64::MAX >> (64 - field.width) << field.shift;
            for number in [0, 1, -1, 2, -3, 100].map(|number: i64| number << field.shift) {
                for number in [number, largest.wrapping_sub(number), !largest.wrapping_sub(number)] {
                    let number = number >> field.shift << field.shift;
                    if !field.fits(number) {
                        continue;
                    }
                    for background in [0, u64::MAX, 0x0123_4567_89ab_cdef] {
                        let mut code = background.to_le_bytes();
                        field.write(&mut code, number);
                        assert_eq!(field.read(&code), number, "{field:?}");
                        let others = |word: u64| field.around(&word.to_le_bytes());
                        assert_eq!(others(u64::from_le_bytes(code)), others(background), "{field:?}");
                        let (mask, bytes) = (field.mask(), 8 * field.bytes as u32);
                        let beside = !mask | u64::MAX.checked_shl(bytes).unwrap_or(0);
                        assert_eq!(u64::from_le_bytes(code) & beside, background & beside, "{field:?}");
                    }
                }
            }
            if field.width < 64 && field.shift + field.width < 64 {
                let beyond = 1 << (field.width - 1 + field.shift);
                assert!(!field.fits(beyond) && field.fits(-beyond) && field.fits(largest), "{field:?}");
            }
        }
    }
}
