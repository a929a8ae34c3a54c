//! Float arithmetic.

use crate::emit::{Cond, Emitter, Tile};
use crate::encode::{Bits, Mem, Sse};
use azulejo_core::vocab::Type;

/// Arithmetic whose second operand is a constant.
pub(in crate::tiles) fn arithmetic_const(cx: &mut Emitter, t: &Tile<'_>, sse: Sse) {
    let constant = cx.constant(t.sig.ty.truncate(t.imm(0) as u64) as u128);
    cx.sse(sse, t.sig.ty, t.out(), constant);
}

/// Stores a float of 32 bits, zero-extended to 64.
pub(in crate::tiles) fn store_alone(cx: &mut Emitter, t: &Tile<'_>, mem: Mem) {
    let (alone, float) = (t.temp(0), t.reg(t.operands() - 1));
    cx.sse_bits(Bits::Xor, alone, alone);
    // From register to register this leaves the bits above.
    cx.load(Type::F32, alone, float);
    cx.store(Type::F64, mem, alone);
}

pub(super) fn sign(ty: Type) -> u64 {
    ty.mask() ^ ty.mask() >> 1
}

pub(in crate::tiles) fn flip_sign(cx: &mut Emitter, t: &Tile<'_>) {
    let sign = cx.constant(sign(t.sig.ty) as u128);
    cx.sse_bits(Bits::Xor, t.out(), sign);
}

pub(in crate::tiles) fn clear_sign(cx: &mut Emitter, t: &Tile<'_>) {
    let others = cx.constant((t.sig.ty.mask() >> 1) as u128);
    cx.sse_bits(Bits::And, t.out(), others);
}

pub(in crate::tiles) fn copy_sign(cx: &mut Emitter, t: &Tile<'_>) {
    let (sign, other) = (sign(t.sig.ty), t.temp(0));
    let (others, sign) = (cx.constant((t.sig.ty.mask() ^ sign) as u128), cx.constant(sign as u128));
    cx.movaps(other, t.reg(1));
    cx.sse_bits(Bits::And, other, sign);
    cx.sse_bits(Bits::And, t.out(), others);
    cx.sse_bits(Bits::Or, t.out(), other);
}

/// The bits of the NaN that `canonical_nan` returns.
fn nan(ty: Type) -> u64 {
    match ty {
        Type::F32 => 0x7fc0_0000,
        _ => 0x7ff8 << 48,
    }
}

/// A well-predicted jump does not delay the users of the value; a select would.
pub(in crate::tiles) fn one_nan(cx: &mut Emitter, t: &Tile<'_>) {
    cx.sse(Sse::Ucomi, t.sig.ty, t.out(), t.out());
    let number = cx.skip(Cond::Np);
    cx.float_constant(t.sig.ty, t.out(), nan(t.sig.ty));
    cx.land(number);
}

/// The machine's minimum and maximum return the second operand for NaN and for zeros of either sign. Equal operands (zeros
/// among them) are combined bitwise, and an addition makes NaN.
pub(in crate::tiles) fn extreme(cx: &mut Emitter, t: &Tile<'_>, sse: Sse, equal: Bits) {
    let (ty, out, other) = (t.sig.ty, t.out(), t.reg(1));
    cx.sse(Sse::Ucomi, ty, out, other);
    let nan = cx.skip(Cond::P);
    let differ = cx.skip(Cond::Ne);
    cx.sse_bits(equal, out, other);
    let end = cx.skip(None);
    cx.land(differ);
    cx.sse(sse, ty, out, other);
    let end_too = cx.skip(None);
    cx.land(nan);
    cx.sse(Sse::Add, ty, out, other);
    cx.land(end_too);
    cx.land(end);
}

/// Rounds without the instruction for it: 0 to nearest even, 1 down, 2 up, 3 toward zero. A value of 2^52 (2^23 for 32 bits) or
/// more is whole already, and NaN stays. A smaller one goes through an integer, or, to nearest, through a sum with that power
/// of two; the sign is put back for results of zero.
pub(in crate::tiles) fn round_without_sse41(cx: &mut Emitter, t: &Tile<'_>, mode: u8) {
    let (ty, value, bits) = (t.sig.ty, t.out(), t.temp(0));
    let (rounded, other) = (t.temp(1), t.temp(2));
    let float_bits =
        |value: f64| if ty == Type::F64 { value.to_bits() } else { (value as f32).to_bits() as u64 };
    let whole = if ty == Type::F64 { 2f64.powi(52) } else { 2f64.powi(23) };
    cx.float_constant(ty, other, ty.mask() >> 1);
    cx.movaps(rounded, value);
    cx.sse_bits(Bits::And, rounded, other);
    cx.float_constant(ty, other, float_bits(whole));
    cx.sse(Sse::Ucomi, ty, rounded, other);
    let unordered = cx.skip(Cond::P);
    let large = cx.skip(Cond::Ae);
    if mode == 0 {
        cx.sse(Sse::Add, ty, rounded, other);
        cx.sse(Sse::Sub, ty, rounded, other);
    } else {
        cx.convert(ty, Type::I64, bits, value);
        cx.sse_bits(Bits::Xor, rounded, rounded);
        cx.convert(Type::I64, ty, rounded, bits);
    }
    if mode == 1 || mode == 2 {
        // If rounding toward zero went the wrong way, the result is one off.
        let (a, b) = if mode == 1 { (rounded, value) } else { (value, rounded) };
        cx.sse(Sse::Ucomi, ty, a, b);
        let right = cx.skip(Cond::Be);
        cx.float_constant(ty, other, float_bits(1.0));
        cx.sse(if mode == 1 { Sse::Sub } else { Sse::Add }, ty, rounded, other);
        cx.land(right);
    }
    cx.float_constant(ty, other, sign(ty));
    cx.sse_bits(Bits::And, value, other);
    cx.sse_bits(Bits::Or, value, rounded);
    cx.land(large);
    cx.land(unordered);
}
