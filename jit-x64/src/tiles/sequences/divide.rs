//! Division, high products and counting bits. Divisors have been checked: they are not zero, and the quotient fits.

use super::convert::extend;
use crate::emit::{Cond, Emitter, Tile};
use crate::encode::{Alu, BitCount, Immediate, Shift, Unary};
use crate::regs::{RAX, RDX};
use azulejo_core::vocab::Type;
use dynasmrt::dynasm;

const EAX: u8 = RAX.number();
const EDX: u8 = RDX.number();

/// Sign-extends `rax` into `rdx`, of 32 or 64 bits.
fn spread_sign(cx: &mut Emitter, ty: Type) {
    match ty {
        Type::I64 => dynasm!(cx; .arch x64; cqo),
        _ => dynasm!(cx; .arch x64; cdq),
    }
}

pub(in crate::tiles) fn divide(cx: &mut Emitter, t: &Tile<'_>, divisor: u8) {
    spread_sign(cx, t.sig.ty);
    cx.unary(Unary::Idiv, t.sig.ty, divisor);
}

/// The machine traps on the least integer divided by minus one; the remainder by minus one is always zero.
pub(in crate::tiles) fn remainder(cx: &mut Emitter, t: &Tile<'_>, divisor: u8) {
    cx.alu(Alu::Xor, Type::I32, EDX, EDX);
    cx.alu(Alu::Cmp, t.sig.ty, divisor, Immediate(-1));
    let end = cx.skip(Cond::E);
    divide(cx, t, divisor);
    cx.land(end);
}

pub(in crate::tiles) fn divide_unsigned(cx: &mut Emitter, t: &Tile<'_>, divisor: u8) {
    cx.alu(Alu::Xor, Type::I32, EDX, EDX);
    cx.unary(Unary::Div, t.sig.ty, divisor);
}

/// Operands of 8 and 16 bits are divided as 32.
pub(in crate::tiles) fn divide_narrow(cx: &mut Emitter, t: &Tile<'_>, signed: bool) {
    let (ty, divisor) = (t.sig.ty, t.temp(0));
    extend(cx, signed, (ty, Type::I32), divisor, t.reg(1));
    extend(cx, signed, (ty, Type::I32), EAX, EAX);
    match signed {
        true => spread_sign(cx, Type::I32),
        false => cx.alu(Alu::Xor, Type::I32, EDX, EDX),
    }
    cx.unary(if signed { Unary::Idiv } else { Unary::Div }, Type::I32, divisor);
}

/// The upper half of a product of 8 or 16 bits, computed from the whole product.
pub(in crate::tiles) fn high_narrow(cx: &mut Emitter, t: &Tile<'_>, signed: bool) {
    let (ty, out, temp) = (t.sig.ty, t.out(), t.temp(0));
    extend(cx, signed, (ty, Type::I32), out, t.reg(0));
    extend(cx, signed, (ty, Type::I32), temp, t.reg(1));
    cx.imul(Type::I32, out, temp);
    cx.shift(Shift::Shr, Type::I32, out, Immediate(ty.bits() as i64));
}

/// Counts bits; a narrow operand is zero-extended.
pub(in crate::tiles) fn count_bits(cx: &mut Emitter, t: &Tile<'_>, count: BitCount) {
    let (ty, out) = (t.sig.ty, t.out());
    if ty.bits() >= 32 {
        return cx.count_bits(count, ty, out, t.reg(0));
    }
    cx.movzx(ty, out, t.reg(0));
    cx.count_bits(count, Type::I32, out, out);
}

pub(in crate::tiles) fn leading_zeros(cx: &mut Emitter, t: &Tile<'_>) {
    count_bits(cx, t, BitCount::Lzcnt);
    if t.sig.ty.bits() < 32 {
        cx.alu(Alu::Sub, Type::I32, t.out(), Immediate(32 - t.sig.ty.bits() as i64));
    }
}

/// `bsr` returns the number of the highest set bit, and nothing for zero.
pub(in crate::tiles) fn leading_zeros_by_scan(cx: &mut Emitter, t: &Tile<'_>) {
    let (out, bits) = (t.out(), t.sig.ty.bits() as i64);
    count_bits(cx, t, BitCount::Bsr);
    let found = cx.skip(Cond::Ne);
    cx.mov_imm(out, 2 * bits as u64 - 1);
    cx.land(found);
    cx.alu(Alu::Xor, Type::I32, out, Immediate(bits - 1));
}

/// `bsf` returns the number of the lowest set bit, and nothing for zero; a narrow operand gets a set bit above it.
pub(in crate::tiles) fn trailing_zeros_by_scan(cx: &mut Emitter, t: &Tile<'_>) {
    let (ty, out, bits) = (t.sig.ty, t.out(), t.sig.ty.bits());
    if bits >= 32 {
        cx.count_bits(BitCount::Bsf, ty, out, t.reg(0));
        let found = cx.skip(Cond::Ne);
        cx.mov_imm(out, bits as u64);
        cx.land(found);
    } else {
        cx.mov(out, t.reg(0));
        cx.alu(Alu::Or, Type::I32, out, Immediate(1 << bits));
        cx.count_bits(BitCount::Bsf, Type::I32, out, out);
    }
}

/// Counts the set bits of pairs, of fours, of eights, then adds all of them by a multiplication.
pub(in crate::tiles) fn count_ones_by_halves(cx: &mut Emitter, t: &Tile<'_>) {
    let (out, part, mask) = (t.out(), t.temp(0), t.temp(1));
    match t.sig.ty {
        Type::I64 => cx.mov(out, t.reg(0)),
        ty => cx.movzx(ty, out, t.reg(0)),
    }
    cx.mov(part, out);
    cx.shift(Shift::Shr, Type::I64, part, Immediate(1));
    cx.mov_imm(mask, 0x5555_5555_5555_5555);
    cx.alu(Alu::And, Type::I64, part, mask);
    cx.alu(Alu::Sub, Type::I64, out, part);
    cx.mov(part, out);
    cx.mov_imm(mask, 0x3333_3333_3333_3333);
    cx.alu(Alu::And, Type::I64, out, mask);
    cx.shift(Shift::Shr, Type::I64, part, Immediate(2));
    cx.alu(Alu::And, Type::I64, part, mask);
    cx.alu(Alu::Add, Type::I64, out, part);
    cx.mov(part, out);
    cx.shift(Shift::Shr, Type::I64, part, Immediate(4));
    cx.alu(Alu::Add, Type::I64, out, part);
    cx.mov_imm(mask, 0x0f0f_0f0f_0f0f_0f0f);
    cx.alu(Alu::And, Type::I64, out, mask);
    cx.mov_imm(mask, 0x0101_0101_0101_0101);
    cx.imul(Type::I64, out, mask);
    cx.shift(Shift::Shr, Type::I64, out, Immediate(56));
}
