//! Integer arithmetic.

use crate::emit::{Emitter, Tile};
use crate::encode::{Alu, CL, Immediate, Mem, Shift};
use azulejo_core::vocab::Type;

/// The width to work in if the upper bits of the operands do not affect the result: no prefix, no partial register.
pub(in crate::tiles) fn whole(ty: Type) -> Type {
    if ty == Type::I64 { Type::I64 } else { Type::I32 }
}

/// `add` if the result is in an operand's register, otherwise `lea`; 32 or 64 bits.
pub(in crate::tiles) fn add(cx: &mut Emitter, t: &Tile<'_>, ty: Type) {
    let (out, a, b) = (t.out(), t.reg(0), t.reg(1));
    if out == a {
        cx.alu(Alu::Add, ty, out, b);
    } else if out == b {
        cx.alu(Alu::Add, ty, out, a);
    } else {
        cx.lea(ty == Type::I64, out, Mem::element(a, b, 1, 0));
    }
}

/// `add` if the result is in the operand's register, otherwise `lea`; 32 or 64 bits.
pub(in crate::tiles) fn add_const(cx: &mut Emitter, t: &Tile<'_>, ty: Type, imm: i64) {
    if t.out() == t.reg(0) {
        cx.alu(Alu::Add, ty, t.out(), Immediate(imm));
    } else {
        cx.lea(ty == Type::I64, t.out(), Mem::at(t.reg(0), imm));
    }
}

/// A 32-bit shift by a constant, which clears the upper bits even if the constant is zero.
pub(in crate::tiles) fn shift32(cx: &mut Emitter, t: &Tile<'_>, shift: Shift) {
    match t.imm(0) & 31 {
        0 => cx.movzx(Type::I32, t.out(), t.out()),
        count => cx.shift(shift, Type::I32, t.out(), Immediate(count)),
    }
}

/// A shift of 8 or 16 bits by `cl`: the machine would count modulo 32.
pub(in crate::tiles) fn shift_narrow(cx: &mut Emitter, t: &Tile<'_>, shift: Shift) {
    cx.alu(Alu::And, Type::I32, t.reg(1), Immediate(t.sig.ty.bits() as i64 - 1));
    cx.shift(shift, t.sig.ty, t.out(), CL);
}

/// The constant count of a shift or rotation. The processor itself takes counts of 32 and 64 bits modulo the width, so all bits
/// of the byte may be the constant's, and a stencil has a whole byte there.
pub(in crate::tiles) fn shift_count(ty: Type, count: i64) -> Immediate {
    match ty {
        Type::I32 | Type::I64 => Immediate(count),
        _ => Immediate(count & (ty.bits() as i64 - 1)),
    }
}
