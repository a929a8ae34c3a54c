//! Writes numbers as `printf` does: `%e`, `%f` and `%g` with a precision, without sign and padding.
//!
//! In: a finite number, whose sign is ignored, and a precision. Out: its digits at the end of a vector of bytes. The digits are
//! those of the exact value, rounded to nearest, ties to even: Rust's own formatting makes them, and is as exact as the C
//! library's. What is done here is the layout, as the standard has it, and a quick way for numbers of moderate size and
//! precision, whose digits are those of one integer.

use std::fmt::{self, Write};

/// The greatest precision that `string.format` accepts.
const MAX_PRECISION: usize = 99;

/// Writes `d.ddde±dd`. With `point` there is a point even if no digit follows.
pub(crate) fn scientific(value: f64, precision: usize, point: bool, out: &mut Vec<u8>) {
    let decimal = Decimal::new(value, precision + 1);
    put_scientific(decimal.digits(), decimal.exponent, point, out);
}

/// Writes `ddd.ddd`. With `point` there is a point even if no digit follows.
pub(crate) fn fixed(value: f64, precision: usize, point: bool, out: &mut Vec<u8>) {
    match scaled(value, precision as i32) {
        Some(number) => {
            // One digit is in front of the point at least.
            let n_digits = (number.max(1).ilog10() as usize + 1).max(precision + 1);
            let start = out.len();
            out.resize(start + n_digits, 0);
            put_digits(number, &mut out[start..]);
            if precision > 0 {
                out.insert(start + n_digits - precision, b'.');
            }
        }
        None => write!(Tail(out), "{:.precision$}", value.abs()).expect("a vector takes all"),
    }
    if point && precision == 0 {
        out.push(b'.');
    }
}

/// Writes what is shorter, with `precision` digits in all. Zeros at the end of a fraction go, and a point without digits too,
/// unless `alternate` says that both stay.
pub(crate) fn general(value: f64, precision: usize, alternate: bool, out: &mut Vec<u8>) {
    let decimal = Decimal::new(value, precision.max(1));
    let (mut digits, exponent) = (decimal.digits(), decimal.exponent);
    let is_fixed = -4 <= exponent && exponent < digits.len() as i32;
    if !alternate {
        let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        digits = &digits[..(digits.len() - zeros).max(1)];
    }
    if !is_fixed {
        return put_scientific(digits, exponent, alternate, out);
    }
    let Ok(before_last) = usize::try_from(exponent) else {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-1 - exponent) as usize));
        return out.extend_from_slice(digits);
    };
    let whole = before_last + 1;
    let (integer, fraction) = digits.split_at(whole.min(digits.len()));
    out.extend_from_slice(integer);
    out.extend(std::iter::repeat_n(b'0', whole - integer.len()));
    if alternate || !fraction.is_empty() {
        out.push(b'.');
    }
    out.extend_from_slice(fraction);
}

fn put_scientific(digits: &[u8], exponent: i32, point: bool, out: &mut Vec<u8>) {
    out.push(digits[0]);
    if point || digits.len() > 1 {
        out.push(b'.');
    }
    out.extend_from_slice(&digits[1..]);
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(Tail(out), "e{sign}{:02}", exponent.unsigned_abs()).expect("a vector takes all");
}

/// `value × 10^power` without sign, rounded to nearest, ties to even. `None` if that takes more bits than there are.
fn scaled(value: f64, power: i32) -> Option<u64> {
    /// The greatest power of 5 below 2^63.
    const MAX_POWER: u32 = 27;
    let power = u32::try_from(power).ok().filter(|power| *power <= MAX_POWER)?;
    let bits = value.abs().to_bits();
    let (mantissa, exponent) = match bits >> 52 {
        0 => (bits, -1074),
        exponent => (bits & ((1 << 52) - 1) | 1 << 52, exponent as i32 - 1075),
    };
    // At most 53 bits by 63. The power of 2 in the power of 10 goes into the exponent.
    let product = u128::from(mantissa) * u128::from(5u64.pow(power));
    let exponent = exponent + power as i32;
    if exponent >= 0 {
        let has_room = exponent < product.leading_zeros() as i32;
        return has_room.then(|| product << exponent).and_then(|number| u64::try_from(number).ok());
    }
    let shift = exponent.unsigned_abs();
    if shift >= u128::BITS {
        // That is less than half.
        return Some(0);
    }
    let (quotient, rest) = (product >> shift, product & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    let is_up = rest > half || rest == half && quotient & 1 == 1;
    u64::try_from(quotient + u128::from(is_up)).ok()
}

/// Fills a line with the last digits of a number.
fn put_digits(mut number: u64, line: &mut [u8]) {
    for digit in line.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// A number as `d.ddd… × 10^exponent`, rounded to some digits.
struct Decimal {
    text: [u8; MAX_PRECISION + 16],
    n_digits: usize,
    exponent: i32,
}

impl Decimal {
    /// Rounds a number to `n_digits` digits, of which there is at least one.
    fn new(value: f64, n_digits: usize) -> Decimal {
        Decimal::quick(value, n_digits).unwrap_or_else(|| Decimal::exact(value, n_digits))
    }

    /// The same for a number of moderate size and not too many digits.
    fn quick(value: f64, n_digits: usize) -> Option<Decimal> {
        const MAX_DIGITS: usize = 17;
        if n_digits > MAX_DIGITS || !value.is_normal() {
            return None;
        }
        // The logarithm of 2 as a fraction. What comes out may be too small by one.
        let binary = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let mut exponent = (binary * 1233) >> 12;
        let limit = 10u64.pow(n_digits as u32);
        let mut number = scaled(value, n_digits as i32 - 1 - exponent)?;
        if number >= limit {
            exponent += 1;
            number = scaled(value, n_digits as i32 - 1 - exponent)?;
        }
        if number >= limit || number < limit / 10 {
            return None;
        }
        let mut text = [0; MAX_PRECISION + 16];
        put_digits(number, &mut text[..n_digits]);
        Some(Decimal { text, n_digits, exponent })
    }

    /// The same for any number.
    fn exact(value: f64, n_digits: usize) -> Decimal {
        let mut text = DigitLine { bytes: [0; MAX_PRECISION + 16], len: 0 };
        let fraction = n_digits - 1;
        write!(text, "{:.fraction$e}", value.abs()).expect("the line has room for the greatest precision");
        let DigitLine { mut bytes, len } = text;
        // `d.ddd` without the point, or `d`; then `e` and the exponent.
        let end = if fraction == 0 { 1 } else { n_digits + 1 };
        let (is_negative, digits) = match &bytes[end + 1..len] {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let magnitude = digits.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'));
        if fraction > 0 {
            bytes[1] = bytes[0];
            bytes.copy_within(1..end, 0);
        }
        Decimal { text: bytes, n_digits, exponent: if is_negative { -magnitude } else { magnitude } }
    }

    fn digits(&self) -> &[u8] {
        &self.text[..self.n_digits]
    }
}

/// A line of text with a fixed room.
struct DigitLine {
    bytes: [u8; MAX_PRECISION + 16],
    len: usize,
}

impl Write for DigitLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Text goes to the end of a vector.
struct Tail<'a>(&'a mut Vec<u8>);

impl Write for Tail<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(write: fn(f64, usize, bool, &mut Vec<u8>), value: f64, precision: usize, point: bool) -> String {
        let mut out = Vec::new();
        write(value, precision, point, &mut out);
        String::from_utf8(out).expect("digits are ASCII")
    }

    #[test]
    fn general_is_as_c_has_it() {
        let cases = [
            (100000.0, 6, false, "100000"),
            (1000000.0, 6, false, "1e+06"),
            (999999.5, 6, false, "1e+06"),
            (0.0001, 6, false, "0.0001"),
            (0.00001, 6, false, "1e-05"),
            (0.0, 6, true, "0.00000"),
            (1.0, 1, true, "1."),
            (999999.99, 6, true, "1.00000e+06"),
            (99999.99, 6, true, "100000."),
            (1.0, 0, true, "1."),
            (2.5, 0, false, "2"),
            (1e100, 3, true, "1.00e+100"),
            (0.1, 14, false, "0.1"),
        ];
        for (value, precision, alternate, expected) in cases {
            assert_eq!(
                with(general, value, precision, alternate),
                expected,
                "{value} {precision} {alternate}"
            );
        }
        assert!(with(general, f64::MAX, 99, false).ends_with("e+308"));
    }

    #[test]
    fn the_quick_way_is_exact() {
        let (mut state, mut n_quick) = (1u64, 0);
        for round in 0..200_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let integer = state >> (11 + (state >> 33) % 53);
            let value = match round % 4 {
                0 => integer as f64 / 1024.0,
                1 => integer as f64 / 1e6,
                // Next to a power of ten.
                2 => f64::from_bits(10f64.powi((state >> 50) as i32 % 30 - 10).to_bits() + (state >> 61) - 4),
                _ => f64::from_bits((state >> 2) | 1 << 61),
            };
            let precision = (state >> 40) as usize % 18;
            if let Some(quick) = Decimal::quick(value, precision + 1) {
                let exact = Decimal::exact(value, precision + 1);
                assert_eq!(
                    (quick.digits(), quick.exponent),
                    (exact.digits(), exact.exponent),
                    "{value:e} {precision}"
                );
                n_quick += 1;
            }
            assert_eq!(with(fixed, value, precision, false), format!("{value:.precision$}"), "{value:e}");
        }
        assert!(n_quick > 50_000, "{n_quick}");
    }

    #[test]
    fn ties_go_to_even() {
        for (value, expected) in
            [(0.5, "0"), (1.5, "2"), (2.5, "2"), (3.5, "4"), (1e15 + 0.5, "1000000000000000")]
        {
            assert_eq!(with(fixed, value, 0, false), expected);
        }
        assert_eq!(with(scientific, 2.5, 0, false), "2e+00");
        assert_eq!(with(scientific, 0.125, 1, false), "1.2e-01");
        assert_eq!(with(scientific, 0.0, 2, false), "0.00e+00");
        assert_eq!(with(fixed, 3.0, 0, true), "3.");
    }
}
