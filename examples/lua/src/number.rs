//! Numbers and their texts, and numbers as integers of the machine.
//!
//! In: a text, or a number. Out: what `tonumber` and `tostring` of the C implementation give on a machine of 64 bits, in the C
//! locale. Texts are read as `strtod` and `strtoul` read them, so there are hexadecimal fractions, infinities and numbers that
//! are none. A byte 0 ends a text, because it ends one in C.

use crate::digits;

/// The number that a text is. White space around it does not count.
///
/// # Examples
///
/// ```
/// use azulejo_lua::number::parse;
///
/// assert_eq!(parse(b" 0x10 "), Some(16.0));
/// assert_eq!(parse(b"1e"), None);
/// ```
pub fn parse(text: &[u8]) -> Option<f64> {
    let text = trim(until_zero(text));
    let (is_negative, text) = split_sign(text);
    let magnitude = match text {
        // So short an integer is exact whatever the order of its operations.
        [b'0'..=b'9', rest @ ..] if text.len() <= 15 && rest.iter().all(u8::is_ascii_digit) => {
            text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')) as f64
        }
        [b'0', b'x' | b'X', digits @ ..] => parse_hexadecimal(digits)?,
        [b'0'..=b'9' | b'.', ..] => parse_decimal(text)?,
        [b'i' | b'I', ..] if is_word(text, b"inf") || is_word(text, b"infinity") => f64::INFINITY,
        [b'n' | b'N', ..] if is_not_a_number(text) => f64::NAN,
        _ => return None,
    };
    // The sign bit decides how a number that is none is written.
    Some(if is_negative { -magnitude.abs() } else { magnitude.abs() })
}

/// The number that a text is in a base from 2 to 36. In base 10 this is [`parse`]; in all others the text is an integer of 64
/// bits without sign. What is greater becomes the greatest, and a minus sign negates what there is, as `strtoul` does both.
///
/// # Examples
///
/// ```
/// use azulejo_lua::number::parse_in_base;
///
/// assert_eq!(parse_in_base(b"zz", 36), Some(1295.0));
/// assert_eq!(parse_in_base(b"-1", 16), Some(18446744073709551616.0));
/// ```
pub fn parse_in_base(text: &[u8], base: u32) -> Option<f64> {
    if base == 10 {
        return parse(text);
    }
    let (is_negative, text) = split_sign(trim(until_zero(text)));
    let text = match text {
        [b'0', b'x' | b'X', rest @ ..] if base == 16 => rest,
        _ => text,
    };
    if text.is_empty() {
        return None;
    }
    let mut number = Some(0u64);
    for byte in text {
        let digit = char::from(*byte).to_digit(base)?;
        number = number.and_then(|number| number.checked_mul(base.into())?.checked_add(digit.into()));
    }
    Some(match number {
        Some(number) if is_negative => number.wrapping_neg(),
        Some(number) => number,
        None => u64::MAX,
    } as f64)
}

/// The text of a number has no more bytes than this.
pub(crate) const MOST_BYTES: usize = 32;

/// Appends a number's text, `%.14g`.
///
/// # Examples
///
/// ```
/// let mut out = Vec::new();
/// azulejo_lua::number::write(0.1, &mut out);
/// assert_eq!(out, b"0.1");
/// ```
pub fn write(value: f64, out: &mut Vec<u8>) {
    /// The smallest number that has an exponent in its text.
    const LARGE: f64 = 1e14;
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    let integer = magnitude as u64;
    if magnitude < LARGE && integer as f64 == magnitude {
        out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
    } else if magnitude.is_nan() {
        out.extend_from_slice(b"nan");
    } else if magnitude.is_infinite() {
        out.extend_from_slice(b"inf");
    } else {
        digits::general(magnitude, 14, false, out);
    }
}

/// One number to the power of another. A square is a product, as in later versions of Lua.
pub(crate) fn power(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

/// Appends an integer in a base up to 16, with small letters.
pub(crate) fn write_integer<const BASE: u64>(mut value: u64, out: &mut Vec<u8>) {
    let mut text = [0; 64];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b"0123456789abcdef"[(value % BASE) as usize];
        value /= BASE;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// The integer of a number without its fraction, as x86-64 converts: what does not fit is the smallest integer.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::number::to_i64(-1.9), -1);
/// assert_eq!(azulejo_lua::number::to_i64(1e300), i64::MIN);
/// ```
pub fn to_i64(value: f64) -> i64 {
    const LIMIT: f64 = 9223372036854775808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// The same for 32 bits. (A C function that wants an `int` argument mostly has the lower half of [`to_i64`]; `%c` has this.)
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::number::to_i32(65.5), 65);
/// assert_eq!(azulejo_lua::number::to_i32(4294967361.0), i32::MIN);
/// ```
pub fn to_i32(value: f64) -> i32 {
    i32::try_from(to_i64(value)).unwrap_or(i32::MIN)
}

/// The integer without sign of a number without its fraction, as compiled C has it on x86-64: negative numbers wrap around.
///
/// # Examples
///
/// ```
/// assert_eq!(azulejo_lua::number::to_u64(-1.0), u64::MAX);
/// assert_eq!(azulejo_lua::number::to_u64(f64::INFINITY), 0);
/// ```
pub fn to_u64(value: f64) -> u64 {
    const HALF: f64 = 9223372036854775808.0;
    match value >= HALF {
        true => to_i64(value - HALF) as u64 ^ 1 << 63,
        false => to_i64(value) as u64,
    }
}

/// Whether C's `isspace` says so.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// What C takes for the text.
pub(crate) fn until_zero(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

fn trim(text: &[u8]) -> &[u8] {
    let Some(first) = text.iter().position(|byte| !is_space(*byte)) else { return &[] };
    let last =
        text.iter().rposition(|byte| !is_space(*byte)).expect("the first byte that is no space is one");
    &text[first..=last]
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn is_word(text: &[u8], word: &[u8]) -> bool {
    text.eq_ignore_ascii_case(word)
}

/// `nan`, or `nan(…)` with letters, digits and underscores. What they say no program of Lua can find out.
fn is_not_a_number(text: &[u8]) -> bool {
    let Some((word, rest)) = text.split_at_checked(3) else { return false };
    let is_payload = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    is_word(word, b"nan")
        && match rest {
            [] => true,
            [b'(', payload @ .., b')'] => payload.iter().all(is_payload),
            _ => false,
        }
}

/// The digits at the start of a text, and what follows them.
fn split_digits(text: &[u8], is_digit: fn(&u8) -> bool) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !is_digit(byte)).unwrap_or(text.len()))
}

/// The whole part, the fraction and what follows them; nothing if there are no digits.
fn split_fraction(text: &[u8], is_digit: fn(&u8) -> bool) -> Option<(&[u8], &[u8], &[u8])> {
    let (whole, rest) = split_digits(text, is_digit);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => split_digits(rest, is_digit),
        _ => (&[][..], rest),
    };
    (!whole.is_empty() || !fraction.is_empty()).then_some((whole, fraction, rest))
}

/// The exponent that a text is, all of it, behind its letter. What is too great is as great as no text makes up for.
fn parse_exponent(text: &[u8], letter: u8) -> Option<i64> {
    let [first, text @ ..] = text else { return Some(0) };
    let (is_negative, text) = split_sign(text);
    if first.to_ascii_lowercase() != letter || text.is_empty() {
        return None;
    }
    let mut exponent = 0i64;
    for byte in text {
        let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
        exponent = (exponent * 10 + i64::from(digit)).min(1 << 56);
    }
    Some(if is_negative { -exponent } else { exponent })
}

fn parse_decimal(text: &[u8]) -> Option<f64> {
    let (_, _, exponent) = split_fraction(text, u8::is_ascii_digit)?;
    parse_exponent(exponent, b'e')?;
    // Rust reads all that C does, and rounds as well; it would accept more.
    str::from_utf8(text).ok()?.parse().ok()
}

fn parse_hexadecimal(text: &[u8]) -> Option<f64> {
    let (whole, fraction, exponent) = split_fraction(text, u8::is_ascii_hexdigit)?;
    let mut exponent = parse_exponent(exponent, b'p')?;
    // Sixty bits and more are kept; of what follows it counts only whether it is zero.
    let (mut bits, mut is_more) = (0u64, false);
    for (at, byte) in whole.iter().chain(fraction).enumerate() {
        let digit = char::from(*byte).to_digit(16).expect("the digits were checked");
        let is_kept = bits >> 60 == 0;
        match is_kept {
            true => bits = bits << 4 | u64::from(digit),
            false => is_more |= digit != 0,
        }
        exponent += match (at < whole.len(), is_kept) {
            (true, false) => 4,
            (false, true) => -4,
            _ => 0,
        };
    }
    Some(scale(bits, is_more, exponent))
}

/// `bits × 2^exponent`, rounded once, to nearest, ties to even. With `is_more` it is a bit more than that.
fn scale(bits: u64, is_more: bool, exponent: i64) -> f64 {
    /// The exponent of the smallest number that has all bits, and how many bits that is.
    const SMALLEST: i64 = -1022;
    const WIDTH: i64 = 53;
    if bits == 0 {
        return 0.0;
    }
    let bits_before = i64::from(bits.leading_zeros());
    let bits = u128::from(bits << bits_before);
    let highest = exponent - bits_before + 63;
    if highest > 1023 {
        return f64::INFINITY;
    }
    let kept = if highest < SMALLEST { WIDTH - (SMALLEST - highest) } else { WIDTH };
    if kept < 0 {
        return 0.0;
    }
    let (quotient, rest) = (bits >> (64 - kept), bits & ((1 << (64 - kept)) - 1));
    let half = 1 << (63 - kept);
    let is_up = rest > half || rest == half && (is_more || quotient & 1 == 1);
    let rounded = quotient as u64 + u64::from(is_up);
    // A number that is rounded up to the next power of two carries into its exponent, be it to infinity.
    match highest < SMALLEST {
        true => f64::from_bits(rounded),
        false => f64::from_bits((((highest + 1022) as u64) << 52) + rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_as_in_c() {
        let cases: &[(&[u8], f64)] = &[
            (b"1.", 1.0),
            (b".5", 0.5),
            (b"5.e3", 5000.0),
            (b"\x0b1\x0c", 1.0),
            (b"1\0abc", 1.0),
            (b"+5", 5.0),
            (b"0x10", 16.0),
            (b"-0x10", -16.0),
            (b"0x1p4", 16.0),
            (b"0X1P-3", 0.125),
            (b"0x.8", 0.5),
            (b"0x10.", 16.0),
            (b"0x1.8", 1.5),
            (b"0x1ffffffffffffffff", 36893488147419103232.0),
            (b"0x1ffffffffffffffffffffffp3", 4951760157141521099596496896.0),
            (b"0x0.0000000000000000000000000000000000001p150", 4.0),
            (b"0x1p99999999999999999999999999", f64::INFINITY),
            (b"0x0p99999999999999999999999999", 0.0),
            (b"0x1p-1074", 5e-324),
            (b"0x1p-1075", 0.0),
            (b"0x1.00000000000000000000001p-1075", 5e-324),
            (b"0x1.8p-1074", 1e-323),
            (b"0x1.fffffffffffff8p1023", f64::INFINITY),
            (b"0x1.fffffffffffff7p1023", f64::MAX),
            (b"0x0.fffffffffffffcp-1022", f64::MIN_POSITIVE),
            (b"1e5000000000000000000000", f64::INFINITY),
            (b"1e-400", 0.0),
            (b"iNfInItY", f64::INFINITY),
            (b"-inf", f64::NEG_INFINITY),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Some(*expected), "{}", text.escape_ascii());
        }
        for text in [&b"nan"[..], b"NaN()", b"nan(0x_1)", b" +nan "] {
            assert!(parse(text).is_some_and(|number| number.is_nan() && number.is_sign_positive()));
        }
        assert!(parse(b"-nan").is_some_and(|number| number.is_nan() && number.is_sign_negative()));
        assert!(parse(b"-0").is_some_and(f64::is_sign_negative));
    }

    #[test]
    fn other_texts_are_none() {
        let texts: &[&[u8]] = &[
            b"", b" ", b"\0", b"0x", b"0xg", b"0x.", b"0x1e+", b"0x1p", b"0xp1", b"0x-5", b"0x 5", b"0x0x5",
            b"1e", b"1e+", b"1e1.5", b"1x", b"1f", b"1 1", b"1_0", b"- 5", b"--5", b"-", b".", b"..", b".e1",
            b"e1", b"infx", b"in", b"na", b"nan(", b"nan(-)", b"nan)", b"0b1",
        ];
        for text in texts {
            assert_eq!(parse(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn bases_are_those_of_strtoul() {
        const GREATEST: f64 = 18446744073709551615.0;
        let cases: &[(&[u8], u32, Option<f64>)] = &[
            (b" 10 ", 2, Some(2.0)),
            (b"0x10", 16, Some(16.0)),
            (b"-0x10", 16, Some(GREATEST)),
            (b"0x", 16, None),
            (b"0x", 36, Some(33.0)),
            (b"0x10", 10, Some(16.0)),
            (b"1e1", 10, Some(10.0)),
            (b"1e1", 16, Some(481.0)),
            (b"08", 8, None),
            (b"0b1", 2, None),
            (b"", 36, None),
            (b"-", 36, None),
            (b"- 1", 36, None),
            (b"1\0z", 2, Some(1.0)),
            (b"-ffffffffffffffffff", 16, Some(GREATEST)),
            (b"-ffffffffffffffff", 16, Some(1.0)),
            (b"ffffffffffffffffg", 16, None),
            (b"\xb5", 36, None),
        ];
        for (text, base, expected) in cases {
            assert_eq!(parse_in_base(text, *base), *expected, "{} in base {base}", text.escape_ascii());
        }
    }

    #[test]
    fn numbers_have_fourteen_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (-42.0, "-42"),
            (99999999999999.0, "99999999999999"),
            (1e14, "1e+14"),
            (123456789012345.0, "1.2345678901234e+14"),
            (0.1, "0.1"),
            (-1.5, "-1.5"),
            (1.0 / 3.0, "0.33333333333333"),
            (99999999999999.5, "1e+14"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (5e-324, "4.9406564584125e-324"),
            (f64::MAX, "1.7976931348623e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "-nan"),
        ];
        for (number, expected) in cases {
            let mut out = Vec::new();
            write(number, &mut out);
            assert_eq!(out, expected.as_bytes(), "{number}");
        }
    }

    #[test]
    fn conversions_are_those_of_the_machine() {
        const HALF: f64 = 9223372036854775808.0;
        for (number, signed, unsigned) in [
            (1.9, 1, 1),
            (-1.9, -1, u64::MAX),
            (HALF, i64::MIN, 1 << 63),
            (-HALF, i64::MIN, 1 << 63),
            (HALF * 1.5, i64::MIN, 3 << 62),
            (HALF * 2.0, i64::MIN, 0),
            (f64::NEG_INFINITY, i64::MIN, 1 << 63),
            (f64::INFINITY, i64::MIN, 0),
            (f64::NAN, i64::MIN, 1 << 63),
        ] {
            assert_eq!((to_i64(number), to_u64(number)), (signed, unsigned), "{number}");
        }
        assert_eq!([2147483647.5, 2147483648.0, f64::NAN].map(to_i32), [i32::MAX, i32::MIN, i32::MIN]);
    }
}
