//! The items of `string.format`.
//!
//! In: the text of a format, and a number or a text for each item. Out: what `printf` of the C library writes, at the end of a
//! vector. [`put_literal`] goes from item to item, [`Spec::parse`] reads one. Which item takes a number and which a text its
//! [`Conversion`] says; the arguments are for the caller to check, in between, as C does.

use crate::digits;
use crate::number::{to_i32, to_i64, to_u64, until_zero, write_integer};
use std::fmt;

/// What an item of a format makes of its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// `c`: a number is a byte.
    Byte,
    /// `d` and `i`
    Signed,
    /// `u`
    Unsigned,
    /// `o`
    Octal,
    /// `x` and `X`
    Hexadecimal,
    /// `e` and `E`
    Scientific,
    /// `f`
    Fixed,
    /// `g` and `G`
    General,
    /// `q`: a text as a literal.
    Quoted,
    /// `s`: a text.
    Text,
}

/// What a letter means.
fn conversion_of(letter: u8) -> Option<Conversion> {
    Some(match letter {
        b'c' => Conversion::Byte,
        b'd' | b'i' => Conversion::Signed,
        b'u' => Conversion::Unsigned,
        b'o' => Conversion::Octal,
        b'x' | b'X' => Conversion::Hexadecimal,
        b'e' | b'E' => Conversion::Scientific,
        b'f' => Conversion::Fixed,
        b'g' | b'G' => Conversion::General,
        b'q' => Conversion::Quoted,
        b's' => Conversion::Text,
        _ => return None,
    })
}

/// Why the text of a format is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FormatError {
    /// There are more flags than there are different ones.
    RepeatedFlags,
    /// The width or the precision has more than two digits.
    TooLong,
    /// No conversion has this letter. It is 0 at the end of the format.
    InvalidOption(u8),
}

impl FormatError {
    /// The error's text, in which the letter stands as it is, be it no text.
    pub fn text(&self) -> Vec<u8> {
        match self {
            FormatError::InvalidOption(letter) => {
                let mut text = b"invalid option '%".to_vec();
                text.extend((*letter != 0).then_some(letter));
                text.extend_from_slice(b"' to 'format'");
                text
            }
            FormatError::RepeatedFlags => b"invalid format (repeated flags)".to_vec(),
            FormatError::TooLong => b"invalid format (width or precision too long)".to_vec(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

impl std::error::Error for FormatError {}

/// Appends a format's text up to the next item. The result is where that is, behind its `%`.
///
/// # Examples
///
/// ```
/// let mut out = Vec::new();
/// assert_eq!(azulejo_lua::strings::put_literal(b"100%% %d", 0, &mut out), Some(7));
/// assert_eq!(out, b"100% ");
/// ```
pub fn put_literal(format: &[u8], mut at: usize, out: &mut Vec<u8>) -> Option<usize> {
    /// So far what is looked for is mostly near: a quicker search takes longer to begin.
    const NEAR: usize = 16;
    loop {
        let rest = &format[at..];
        let near = rest.iter().take(NEAR).position(|byte| *byte == b'%');
        let Some(len) = near.or_else(|| Some(NEAR + memchr::memchr(b'%', rest.get(NEAR..)?)?)) else {
            out.extend_from_slice(rest);
            return None;
        };
        out.extend_from_slice(&rest[..len]);
        if rest.get(len + 1) != Some(&b'%') {
            return Some(at + len + 1);
        }
        out.push(b'%');
        at += len + 2;
    }
}

/// One item of a format.
///
/// # Examples
///
/// ```
/// use azulejo_lua::strings::Spec;
///
/// let (spec, end) = Spec::parse(b"%+08.3f!", 1).unwrap();
/// let mut out = Vec::new();
/// spec.put_number(2.5, &mut out);
/// assert_eq!((out.as_slice(), end), (&b"+002.500"[..], 7));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Some of the flags below, and whether the letter is a capital one.
    flags: u8,
    width: u8,
    precision: Option<u8>,
    conversion: Conversion,
}

/// `-`
const LEFT: u8 = 1;
/// `+`
const PLUS: u8 = 2;
/// A blank in place of a plus.
const BLANK: u8 = 4;
/// `#`
const ALTERNATE: u8 = 8;
/// `0`
const ZEROS: u8 = 16;
/// The letter is a capital one.
const CAPITAL: u8 = 32;

impl Spec {
    /// Reads an item, from behind its `%`. The result is also where it ends.
    #[inline]
    pub fn parse(format: &[u8], start: usize) -> Result<(Spec, usize), FormatError> {
        /// How many flags there are.
        const FLAGS: usize = 5;
        let (mut at, mut flags) = (start, 0);
        loop {
            flags |= match format.get(at) {
                Some(b'-') => LEFT,
                Some(b'+') => PLUS,
                Some(b' ') => BLANK,
                Some(b'#') => ALTERNATE,
                Some(b'0') => ZEROS,
                _ => break,
            };
            at += 1;
        }
        if at - start > FLAGS {
            return Err(FormatError::RepeatedFlags);
        }
        let width = two_digits(format, &mut at);
        let mut precision = None;
        if format.get(at) == Some(&b'.') {
            at += 1;
            precision = Some(two_digits(format, &mut at));
        }
        let letter = format.get(at).copied().unwrap_or(0);
        if letter.is_ascii_digit() {
            return Err(FormatError::TooLong);
        }
        let conversion = conversion_of(letter).ok_or(FormatError::InvalidOption(letter))?;
        if letter.is_ascii_uppercase() {
            flags |= CAPITAL;
        }
        Ok((Spec { flags, width, precision, conversion }, at + 1))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// How many digits or bytes it says.
    fn precision(&self) -> Option<usize> {
        self.precision.map(usize::from)
    }

    /// What it makes of its argument.
    pub fn conversion(&self) -> Conversion {
        self.conversion
    }

    /// Whether its argument is a number.
    pub fn takes_number(&self) -> bool {
        !matches!(self.conversion, Conversion::Quoted | Conversion::Text)
    }

    /// Appends a number, as the item says. If it takes a text, nothing is appended.
    pub fn put_number(&self, value: f64, out: &mut Vec<u8>) {
        let start = out.len();
        match self.conversion {
            Conversion::Byte => self.put_byte(to_i32(value) as u8, out),
            Conversion::Signed => {
                let value = to_i64(value);
                self.put_sign(value < 0, out);
                self.put_integer(value.unsigned_abs(), start, out);
            }
            Conversion::Unsigned | Conversion::Octal | Conversion::Hexadecimal => {
                self.put_integer(to_u64(value), start, out);
            }
            Conversion::Scientific | Conversion::Fixed | Conversion::General => {
                self.put_float(value, start, out)
            }
            Conversion::Quoted | Conversion::Text => {}
        }
        if self.has(CAPITAL) {
            out[start..].make_ascii_uppercase();
        }
    }

    /// So many bytes [`put_text`](Spec::put_text) appends at most.
    pub fn most_bytes(&self, text: &[u8]) -> usize {
        /// What a width or a precision asks for has two digits.
        const PADDED: usize = 100;
        let quoted = |byte: &u8| match byte {
            0 => 4,
            b'"' | b'\\' | b'\n' | b'\r' => 2,
            _ => 1,
        };
        match self.conversion {
            Conversion::Quoted => 2 + text.iter().map(quoted).sum::<usize>(),
            _ => text.len().max(PADDED),
        }
    }

    /// Appends a text, as the item says. If it takes a number, nothing is appended.
    pub fn put_text(&self, text: &[u8], out: &mut Vec<u8>) {
        match (self.conversion, self.precision()) {
            (Conversion::Quoted, _) => put_quoted(text, out),
            // What the C implementation does not hand on to `printf`. What it does hand on ends at a byte 0.
            (Conversion::Text, None) if text.len() >= 100 => out.extend_from_slice(text),
            (Conversion::Text, precision) => {
                let text = until_zero(&text[..text.len().min(precision.unwrap_or(usize::MAX))]);
                let start = out.len();
                out.extend_from_slice(text);
                self.pad(start, out);
            }
            _ => {}
        }
    }

    /// Appends a byte. The C implementation takes a byte 0 for the end of what was written.
    fn put_byte(&self, byte: u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(byte);
        self.pad(start, out);
        if byte == 0 {
            let len = until_zero(&out[start..]).len();
            out.truncate(start + len);
        }
    }

    fn put_sign(&self, is_negative: bool, out: &mut Vec<u8>) {
        match (is_negative, self.has(PLUS), self.has(BLANK)) {
            (true, ..) => out.push(b'-'),
            (_, true, _) => out.push(b'+'),
            (.., true) => out.push(b' '),
            _ => {}
        }
    }

    /// Appends the digits of an integer, and pads the item.
    fn put_integer(&self, value: u64, start: usize, out: &mut Vec<u8>) {
        if self.has(ALTERNATE) && self.conversion == Conversion::Hexadecimal && value != 0 {
            out.extend_from_slice(b"0x");
        }
        let digits = out.len();
        match self.conversion {
            // Without digits zero is nothing.
            _ if value == 0 && self.precision == Some(0) => {}
            Conversion::Octal => write_integer::<8>(value, out),
            Conversion::Hexadecimal => write_integer::<16>(value, out),
            _ => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        }
        let missing = self.precision().unwrap_or(0).saturating_sub(out.len() - digits);
        insert(missing, b'0', digits, out);
        if self.has(ALTERNATE) && self.conversion == Conversion::Octal && out.get(digits) != Some(&b'0') {
            out.insert(digits, b'0');
        }
        if self.precision.is_none() {
            self.pad_zeros(start, digits, out);
        }
        self.pad(start, out);
    }

    fn put_float(&self, value: f64, start: usize, out: &mut Vec<u8>) {
        self.put_sign(value.is_sign_negative(), out);
        let digits = out.len();
        let precision = self.precision().unwrap_or(6);
        match self.conversion {
            _ if value.is_nan() => out.extend_from_slice(b"nan"),
            _ if value.is_infinite() => out.extend_from_slice(b"inf"),
            Conversion::Scientific => digits::scientific(value, precision, self.has(ALTERNATE), out),
            Conversion::Fixed => digits::fixed(value, precision, self.has(ALTERNATE), out),
            _ => digits::general(value, precision, self.has(ALTERNATE), out),
        }
        if value.is_finite() {
            self.pad_zeros(start, digits, out);
        }
        self.pad(start, out);
    }

    /// Fills the width with zeros in front of the digits, if the item has that flag.
    fn pad_zeros(&self, start: usize, digits: usize, out: &mut Vec<u8>) {
        if self.has(ZEROS) && !self.has(LEFT) {
            insert((start + usize::from(self.width)).saturating_sub(out.len()), b'0', digits, out);
        }
    }

    /// Fills the width with blanks.
    fn pad(&self, start: usize, out: &mut Vec<u8>) {
        let missing = (start + usize::from(self.width)).saturating_sub(out.len());
        let at = if self.has(LEFT) { out.len() } else { start };
        insert(missing, b' ', at, out);
    }
}

/// A number of at most two digits, which the place goes behind. Without digits it is 0.
fn two_digits(text: &[u8], at: &mut usize) -> u8 {
    let end = *at + 2;
    let mut number = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(*at)
        && *at < end
    {
        number = number * 10 + (digit - b'0');
        *at += 1;
    }
    number
}

/// Puts the same byte so many times into a vector.
fn insert(count: usize, byte: u8, at: usize, out: &mut Vec<u8>) {
    if count > 0 {
        let end = out.len();
        out.resize(end + count, byte);
        if at < end {
            out.copy_within(at..end, at + count);
            out[at..(at + count).min(end)].fill(byte);
        }
    }
}

/// Appends a text as a literal that the language reads as the same text.
fn put_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' | b'\n' => out.extend_from_slice(&[b'\\', *byte]),
            b'\r' => out.extend_from_slice(b"\\r"),
            0 => out.extend_from_slice(b"\\000"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(format: &str) -> Spec {
        let (spec, end) = Spec::parse(format.as_bytes(), 1).expect("a right format");
        assert_eq!(end, format.len());
        spec
    }

    #[test]
    fn numbers_are_written_as_by_c() {
        let cases: &[(&str, f64, &str)] = &[
            ("%d", -1.9, "-1"),
            ("%5d", 42.0, "   42"),
            ("%-5d", 42.0, "42   "),
            ("%05d", -42.0, "-0042"),
            ("%+d", 0.0, "+0"),
            ("% i", 7.0, " 7"),
            ("%+ d", 7.0, "+7"),
            ("%.0d", 0.0, ""),
            ("%+.0d", 0.0, "+"),
            ("%08.3d", 7.0, "     007"),
            ("%d", 1e300, "-9223372036854775808"),
            ("%u", -1.0, "18446744073709551615"),
            ("%#x", 0.0, "0"),
            ("%#x", 255.0, "0xff"),
            ("%#08X", 255.0, "0X0000FF"),
            ("%#o", 8.0, "010"),
            ("%#.0o", 0.0, "0"),
            ("%#.3o", 8.0, "010"),
            ("%o", -1.0, "1777777777777777777777"),
            ("%f", 0.5, "0.500000"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 2.5, "2."),
            ("%.f", 2.5, "2"),
            ("%08.2f", -1.5, "-0001.50"),
            ("%05f", f64::INFINITY, "  inf"),
            ("%-05g", 0.0, "0    "),
            ("%+G", f64::NAN, "+NAN"),
            ("%E", 1e-7, "1.000000E-07"),
            ("%g", 1e-5, "1e-05"),
            ("%#g", 1.0, "1.00000"),
            ("%g", -0.0, "-0"),
            ("%3c", 65.0, "  A"),
            ("%-3c", 65.0, "A  "),
            ("%03c", 65.0, "  A"),
            ("%3c", 0.0, "  "),
            ("%-3c", 256.0, ""),
        ];
        for (format, value, expected) in cases {
            let mut out = b"<".to_vec();
            item(format).put_number(*value, &mut out);
            assert_eq!(String::from_utf8_lossy(&out[1..]), *expected, "{format} {value}");
        }
    }

    #[test]
    fn texts_are_cut_and_padded() {
        let long = [b'x'; 100];
        let cases: &[(&str, &[u8], &[u8])] = &[
            ("%5s", b"abc", b"  abc"),
            ("%-5s", b"abc", b"abc  "),
            ("%05s", b"abc", b"  abc"),
            ("%5.2s", b"abc", b"   ab"),
            ("%.s", b"abc", b""),
            ("%3s", b"a\0b", b"  a"),
            ("%99s", &long, &long),
            ("%.1s", &long, b"x"),
            ("%q", b"a\"\\\n\r\0\x01\xc8", b"\"a\\\"\\\\\\\n\\r\\000\x01\xc8\""),
        ];
        for (format, text, expected) in cases {
            let mut out = b"<".to_vec();
            item(format).put_text(text, &mut out);
            assert_eq!(&out[1..], *expected, "{format} {}", text.escape_ascii());
        }
    }

    #[test]
    fn wrong_formats_are_refused() {
        let cases: &[(&[u8], &[u8])] = &[
            (b"", b"invalid option '%' to 'format'"),
            (b"\0d", b"invalid option '%' to 'format'"),
            (b"ld", b"invalid option '%l' to 'format'"),
            (b"F", b"invalid option '%F' to 'format'"),
            (b"a", b"invalid option '%a' to 'format'"),
            (b"\xc8", b"invalid option '%\xc8' to 'format'"),
            (b"------d", b"invalid format (repeated flags)"),
            (b"123d", b"invalid format (width or precision too long)"),
            (b".123d", b"invalid format (width or precision too long)"),
        ];
        for (format, expected) in cases {
            let error = Spec::parse(format, 0).expect_err("a wrong format");
            assert_eq!(error.text(), *expected, "{}", format.escape_ascii());
        }
        assert_eq!(FormatError::InvalidOption(b'y').to_string(), "invalid option '%y' to 'format'");
        assert!(Spec::parse(b"-----d", 0).is_ok());
    }
}
