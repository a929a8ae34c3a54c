//! Sequences that set flags.

use crate::emit::{Cond, Emitter, Tile};
use crate::encode::{Alu, Immediate, Operand, Rm, Sse};
use azulejo_core::vocab::Type;

pub(in crate::tiles) fn compare(
    cx: &mut Emitter,
    t: &Tile<'_>,
    a: impl Into<Rm>,
    b: impl Into<Operand>,
    condition: Cond,
) {
    cx.alu(Alu::Cmp, t.sig.from, a, b);
    cx.flag(condition);
}

pub(in crate::tiles) fn compare_const(cx: &mut Emitter, t: &Tile<'_>, a: u8, imm: i64, condition: Cond) {
    match imm {
        // `test` sets the flags as `cmp` with zero does: no carry, no overflow.
        0 => cx.alu(Alu::Test, t.sig.from, a, a),
        _ => cx.alu(Alu::Cmp, t.sig.from, a, Immediate(imm)),
    }
    cx.flag(condition);
}

pub(in crate::tiles) fn test(
    cx: &mut Emitter,
    t: &Tile<'_>,
    a: impl Into<Rm>,
    b: impl Into<Operand>,
    condition: Cond,
) {
    cx.alu(Alu::Test, t.sig.from, a, b);
    cx.flag(condition);
}

/// The flags of a sum; the sum itself is discarded.
pub(in crate::tiles) fn sum_flags(cx: &mut Emitter, t: &Tile<'_>, condition: Cond) {
    cx.mov(t.temp(0), t.reg(0));
    cx.alu(Alu::Add, t.sig.from, t.temp(0), t.reg(1));
    cx.flag(condition);
}

/// Whether a signed product does not fit; the product itself is discarded.
pub(in crate::tiles) fn product_flags(cx: &mut Emitter, t: &Tile<'_>) {
    cx.mov(t.temp(0), t.reg(0));
    cx.imul(t.sig.from, t.temp(0), t.reg(1));
    cx.flag(Cond::O);
}

/// Whether the whole product of two bytes differs from its sign-extended low byte.
pub(in crate::tiles) fn product_fits_i8(cx: &mut Emitter, t: &Tile<'_>) {
    let (product, other) = (t.temp(0), t.temp(1));
    cx.movsx(Type::I8, Type::I32, product, t.reg(0));
    cx.movsx(Type::I8, Type::I32, other, t.reg(1));
    cx.imul(Type::I32, product, other);
    cx.movsx(Type::I8, Type::I32, other, product);
    cx.alu(Alu::Cmp, Type::I32, product, other);
    cx.flag(Cond::Ne);
}

/// Whether the whole unsigned product of 8 or 16 bits exceeds the type's maximum.
pub(in crate::tiles) fn product_fits_unsigned(cx: &mut Emitter, t: &Tile<'_>) {
    let (ty, product, other) = (t.sig.from, t.temp(0), t.temp(1));
    cx.movzx(ty, product, t.reg(0));
    cx.movzx(ty, other, t.reg(1));
    cx.imul(Type::I32, product, other);
    cx.alu(Alu::Cmp, Type::I32, product, Immediate(ty.mask() as i64));
    cx.flag(Cond::A);
}

pub(in crate::tiles) fn compare_floats(
    cx: &mut Emitter,
    t: &Tile<'_>,
    a: u8,
    b: impl Into<Rm>,
    condition: Cond,
) {
    cx.sse(Sse::Ucomi, t.sig.from, a, b);
    cx.flag(condition);
}
