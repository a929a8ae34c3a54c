//! Conversions, including the cases that the machine leaves undefined or treats differently.

use crate::emit::{Cond, Emitter, Tile};
use crate::encode::{Alu, Bits, CL, Immediate, Shift, Sse, Unary};
use crate::regs::RCX;
use azulejo_core::vocab::Type;

/// Extends a value with its sign or with zeros.
pub(super) fn extend(cx: &mut Emitter, signed: bool, (from, to): (Type, Type), dst: u8, src: u8) {
    match signed {
        true => cx.movsx(from, to, dst, src),
        false => cx.movzx(from, dst, src),
    }
}

/// Extends a value, or takes its low bits.
pub(in crate::tiles) fn widen(cx: &mut Emitter, t: &Tile<'_>, signed: bool) {
    let (from, to) = (t.sig.from, t.sig.ty);
    if from.bits() > to.bits() {
        cx.mov(t.out(), t.reg(0));
    } else {
        extend(cx, signed, (from, to), t.out(), t.reg(0));
    }
}

/// The machine keeps the register's bits above the float: clearing it first breaks the dependency on its old value.
pub(in crate::tiles) fn signed_to_float(cx: &mut Emitter, t: &Tile<'_>, from: u8, ty: Type) {
    cx.sse_bits(Bits::Xor, t.out(), t.out());
    cx.convert(ty, t.sig.ty, t.out(), from);
}

pub(in crate::tiles) fn narrow_to_float(cx: &mut Emitter, t: &Tile<'_>, signed: bool) {
    extend(cx, signed, (t.sig.from, Type::I64), t.temp(0), t.reg(0));
    signed_to_float(cx, t, t.temp(0), Type::I64);
}

/// An integer with the highest bit set is halved, with the lost bit kept sticky for the rounding, and the result doubled.
pub(in crate::tiles) fn unsigned_to_float(cx: &mut Emitter, t: &Tile<'_>) {
    let (value, half, odd) = (t.reg(0), t.temp(0), t.temp(1));
    cx.sse_bits(Bits::Xor, t.out(), t.out());
    cx.alu(Alu::Test, Type::I64, value, value);
    let large = cx.skip(Cond::S);
    cx.convert(Type::I64, t.sig.ty, t.out(), value);
    let end = cx.skip(None);
    cx.land(large);
    cx.mov(half, value);
    cx.mov(odd, value);
    cx.shift(Shift::Shr, Type::I64, half, Immediate(1));
    cx.alu(Alu::And, Type::I32, odd, Immediate(1));
    cx.alu(Alu::Or, Type::I64, half, odd);
    cx.convert(Type::I64, t.sig.ty, t.out(), half);
    cx.sse(Sse::Add, t.sig.ty, t.out(), t.out());
    cx.land(end);
}

/// Loads 2^63 as a float into the float scratch register.
fn two_to_63(cx: &mut Emitter, t: &Tile<'_>) {
    let bits = if t.sig.from == Type::F64 { 2f64.powi(63).to_bits() } else { 2f32.powi(63).to_bits() as u64 };
    cx.float_constant(t.sig.from, t.temp(1), bits);
}

/// Converts a float from zero to below 2^64 to an unsigned integer.
pub(in crate::tiles) fn to_unsigned(cx: &mut Emitter, t: &Tile<'_>) {
    let (ty, value, out) = (t.sig.from, t.reg(0), t.out());
    two_to_63(cx, t);
    cx.sse(Sse::Ucomi, ty, value, t.temp(1));
    let large = cx.skip(Cond::Ae);
    cx.convert(ty, Type::I64, out, value);
    let end = cx.skip(None);
    cx.land(large);
    // 2^63 is subtracted from the float and added to the integer.
    cx.mov_imm(out, 1 << 63);
    cx.sse(Sse::Sub, ty, t.temp(1), value);
    let sign = cx.constant(super::float::sign(ty) as u128);
    cx.sse_bits(Bits::Xor, t.temp(1), sign);
    cx.convert(ty, Type::I64, t.temp(0), t.temp(1));
    cx.alu(Alu::Xor, Type::I64, out, t.temp(0));
    cx.land(end);
}

/// Converts a float to a signed 64-bit integer, saturating; NaN becomes zero. The machine returns the least integer for every
/// value out of range, and only the least integer overflows when one is subtracted.
fn to_signed_word(cx: &mut Emitter, t: &Tile<'_>) {
    let (ty, value, out) = (t.sig.from, t.reg(0), t.out());
    cx.convert(ty, Type::I64, out, value);
    cx.alu(Alu::Cmp, Type::I64, out, Immediate(1));
    let end = cx.skip(Cond::No);
    cx.sse_bits(Bits::Xor, t.temp(1), t.temp(1));
    cx.sse(Sse::Ucomi, ty, value, t.temp(1));
    let ordered = cx.skip(Cond::Np);
    cx.alu(Alu::Xor, Type::I32, out, out);
    cx.land(ordered);
    let small = cx.skip(Cond::Be);
    cx.mov_imm(out, i64::MAX as u64);
    cx.land(small);
    cx.land(end);
}

/// Clamps the result to a range.
fn clamp(cx: &mut Emitter, t: &Tile<'_>, least: i64, most: i64) {
    let (out, limit) = (t.out(), t.temp(0));
    cx.mov_imm(limit, most as u64);
    cx.alu(Alu::Cmp, Type::I64, out, limit);
    cx.move_if(Cond::G, true, out, limit);
    cx.mov_imm(limit, least as u64);
    cx.alu(Alu::Cmp, Type::I64, out, limit);
    cx.move_if(Cond::L, true, out, limit);
}

pub(in crate::tiles) fn to_signed_saturating(cx: &mut Emitter, t: &Tile<'_>) {
    to_signed_word(cx, t);
    if t.sig.ty != Type::I64 {
        let most = (t.sig.ty.mask() >> 1) as i64;
        clamp(cx, t, -most - 1, most);
    }
}

pub(in crate::tiles) fn to_narrow_unsigned_saturating(cx: &mut Emitter, t: &Tile<'_>) {
    to_signed_word(cx, t);
    clamp(cx, t, 0, t.sig.ty.mask() as i64);
}

pub(in crate::tiles) fn to_unsigned_saturating(cx: &mut Emitter, t: &Tile<'_>) {
    let (ty, value, out) = (t.sig.from, t.reg(0), t.out());
    // Zero for values that are not above zero, NaN included.
    cx.alu(Alu::Xor, Type::I32, out, out);
    cx.sse_bits(Bits::Xor, t.temp(1), t.temp(1));
    cx.sse(Sse::Ucomi, ty, value, t.temp(1));
    let not_above = cx.skip(Cond::Be);
    let unordered = cx.skip(Cond::P);
    to_unsigned(cx, t);
    // Above the range: all ones. The scratch register gets 2^64 as 2^63 twice.
    two_to_63(cx, t);
    cx.sse(Sse::Add, ty, t.temp(1), t.temp(1));
    cx.sse(Sse::Ucomi, ty, value, t.temp(1));
    let fits = cx.skip(Cond::B);
    cx.mov_imm(out, u64::MAX);
    cx.land(fits);
    cx.land(unordered);
    cx.land(not_above);
}

/// A value that the machine cannot convert is a whole number of at least 2^63 (or NaN or infinite): its mantissa is shifted to
/// its place modulo 2^64.
pub(in crate::tiles) fn to_int_wrapping(cx: &mut Emitter, t: &Tile<'_>) {
    let (out, bits, mantissa, wide) = (t.out(), t.temp(0), t.temp(1), t.temp(2));
    let value = t.reg(0);
    cx.convert(t.sig.from, Type::I64, out, value);
    cx.alu(Alu::Cmp, Type::I64, out, Immediate(1));
    let end = cx.skip(Cond::No);
    if t.sig.from == Type::F32 {
        cx.convert(Type::F32, Type::F64, wide, value);
        cx.bitcast(Type::F64, bits, wide);
    } else {
        cx.bitcast(Type::F64, bits, value);
    }
    let count = RCX.number();
    cx.mov(count, bits);
    cx.shift(Shift::Shr, Type::I64, count, Immediate(52));
    cx.alu(Alu::And, Type::I32, count, Immediate(0x7ff));
    cx.alu(Alu::Sub, Type::I32, count, Immediate(1075));
    cx.alu(Alu::Xor, Type::I32, out, out);
    cx.alu(Alu::Cmp, Type::I32, count, Immediate(64));
    let nothing = cx.skip(Cond::Ae);
    cx.mov(mantissa, bits);
    cx.shift(Shift::Shl, Type::I64, mantissa, Immediate(12));
    cx.shift(Shift::Shr, Type::I64, mantissa, Immediate(12));
    cx.mov_imm(out, 1 << 52);
    cx.alu(Alu::Or, Type::I64, out, mantissa);
    cx.shift(Shift::Shl, Type::I64, out, CL);
    cx.alu(Alu::Test, Type::I64, bits, bits);
    let positive = cx.skip(Cond::Ns);
    cx.unary(Unary::Neg, Type::I64, out);
    cx.land(positive);
    cx.land(nothing);
    cx.land(end);
}
