//! Signs of integers: they decide how a value is extended, and which of two operators is meant.
//!
//! In: checked operands. Out: their common sign, or an error if they have none and the operator depends on it.
//! An unsigned integer fits a wider signed one. Any other pair of different signs is [`Sign::Mixed`].

use super::ast::{Constant, Kind, Typed};
use super::check::{Checked, fail};
use crate::place::Place;
use crate::token::Token;
use azulejo_core::vocab::{Op, OpInfo, Scalar, Type, Vocabulary};

/// The sign of an integer type. All other types are unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// Signed.
    Signed,
    /// Unsigned.
    Unsigned,
    /// The result of mixing signed and unsigned operands.
    Mixed,
}

impl Sign {
    /// The sign of a scalar.
    pub fn of(scalar: Scalar) -> Sign {
        if scalar.is_signed() { Sign::Signed } else { Sign::Unsigned }
    }

    /// The common sign of values.
    pub(super) fn common<'a>(values: impl Iterator<Item = &'a Typed>) -> Option<Sign> {
        values.map(|value| (value.ty.bits(), value.sign)).reduce(join).map(|(_, sign)| sign)
    }
}

fn join(a: (u32, Sign), b: (u32, Sign)) -> (u32, Sign) {
    let sign = match (a.1, b.1) {
        (a, b) if a == b => a,
        (Sign::Signed, Sign::Unsigned) if b.0 < a.0 => Sign::Signed,
        (Sign::Unsigned, Sign::Signed) if a.0 < b.0 => Sign::Signed,
        _ => Sign::Mixed,
    };
    (a.0.max(b.0), sign)
}

/// The name of a type with this sign: `u32`, or `i32 or u32`.
pub(super) fn name(ty: Type, sign: Sign) -> String {
    let signed = ty.name();
    match sign {
        _ if !ty.is_int() => signed.to_string(),
        Sign::Signed => signed.to_string(),
        Sign::Unsigned => signed.replacen('i', "u", 1),
        Sign::Mixed => format!("{signed} or {}", signed.replacen('i', "u", 1)),
    }
}

/// The operator that is meant, if it depends on the sign of the operands. `written` are the operands as written, `common` are the
/// operands converted to their common type and sign.
pub(super) fn meant(
    vocab: Vocabulary,
    op: Op,
    written: &[Typed],
    common: &Typed,
    place: Place,
) -> Checked<(Op, &'static OpInfo)> {
    let info = vocab.info(op);
    let Some(unsigned) = info.unsigned.filter(|_| common.ty.is_int()) else {
        return Ok((op, info));
    };
    let (signed_word, unsigned_word) = (info.name, vocab.info(unsigned).name);
    match common.sign {
        Sign::Signed => Ok((op, info)),
        Sign::Unsigned => {
            let is_negative = |operand: &&Typed| operand.is_loose && is_negative(operand);
            let Some(odd) = written.iter().find(is_negative) else {
                return Ok((unsigned, vocab.info(unsigned)));
            };
            let message = format!(
                "`{signed_word}` of unsigned operands is `{unsigned_word}`, and this is negative; \
                 `(scast … {})` beside it has a sign",
                name(common.ty, Sign::Signed)
            );
            fail(odd.place, message)
        }
        Sign::Mixed => {
            let firm = written.iter().filter(|operand| !operand.is_loose);
            let mut names: Vec<String> = firm.map(|operand| name(operand.ty, operand.sign)).collect();
            names.dedup();
            let (signed, unsigned) = (name(common.ty, Sign::Signed), name(common.ty, Sign::Unsigned));
            let message = format!(
                "`{signed_word}` goes by the sign of its operands, which are {}: `({unsigned_word} …)` reads both \
                 without a sign; `(scast … {signed})` and `(ucast … {unsigned})` give one the sign of the other",
                names.join(" and ")
            );
            fail(place, message)
        }
    }
}

fn is_negative(constant: &Typed) -> bool {
    matches!(&constant.kind, Kind::Constant(Constant::Tokens(tokens)) if has_minus(tokens))
}

/// Whether a constant has a minus sign.
pub fn has_minus(tokens: &[Token]) -> bool {
    tokens.first().is_some_and(|token| token.is_punct('-'))
}
