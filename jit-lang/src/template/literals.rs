//! Integer literals, and the types that have room for them.
//!
//! In: a constant as it is written, and the type that it gets. Out: the constant with that type, or an error. Constants of Rust are no
//! literals: rustc knows what they are.

use super::ast::{Constant, Kind, Typed};
use super::check::{Checked, fail};
use super::signs::{self, Sign};
use crate::place::Place;
use crate::token::text;
use azulejo_core::vocab::Type;

/// Gives a constant without a type this one.
pub(super) fn typed(value: Typed, ty: Type, sign: Sign) -> Checked<Typed> {
    if let Kind::Constant(constant) = &value.kind {
        fits(constant, ty, sign, value.place)?;
    }
    Ok(Typed { ty, sign, is_loose: false, ..value })
}

/// Checks that a type has room for a constant, if that is a literal: as a number with a sign, or as one without.
pub(super) fn fits(constant: &Constant, ty: Type, sign: Sign, place: Place) -> Checked<()> {
    let Constant::Tokens(tokens) = constant else { return Ok(()) };
    let written = text(tokens);
    let Some(number) = number(&written).filter(|_| ty.is_int()) else { return Ok(()) };
    let most = 1_i128 << ty.bits();
    if (-most / 2..most).contains(&number) {
        return Ok(());
    }
    fail(place, format!("{written} does not fit {}", signs::name(ty, sign)))
}

/// The value of a literal; `None` if it is none, or has a type of its own.
fn number(written: &str) -> Option<i128> {
    let digits = written.replace(['_', ' '], "");
    let (is_negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, &*digits),
    };
    let radix = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter();
    let other = radix.filter_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix))).next();
    let (digits, radix) = other.unwrap_or((digits, 10));
    let number = i128::from_str_radix(digits, radix).ok()?;
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn literals_are_read_as_rust_reads_them() {
        let cases = [
            ("300", Some(300)),
            ("- 1", Some(-1)),
            ("0xffff_ffff", Some(0xffff_ffff)),
            ("-0b101", Some(-5)),
            ("0o17", Some(15)),
            ("1_000", Some(1000)),
            ("7u8", None),
            ("LIMIT", None),
            ("-LIMIT", None),
        ];
        for (written, expected) in cases {
            assert_eq!(number(written), expected, "{written}");
        }
    }
}
