//! Constants and integer arithmetic on registers.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use super::sequences::int::*;
use crate::encode::{Alu, Mem, Shift, Unary};
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group int;

    // mov out, imm   xor out, out
    constant: (const.$t:int $c) -> reg, 2 => |cx, t| cx.mov_imm(t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    zero: (const.$t:int $c:zero) -> reg, 1 => |cx, t| cx.alu(Alu::Xor, Type::I32, t.out(), t.out()),
    // add or lea: no operand is lost
    add: (add.$t:int reg reg) -> reg, 2 => |cx, t| add(cx, t, whole(t.sig.ty)),
    add_const: (add.$t:int reg (const $c:imm32)) -> reg, 2 => |cx, t| add_const(cx, t, whole(t.sig.ty), t.imm(0)),
    add_shifted: (add.i64 reg (shl.i64 reg (const $c:one))) -> reg, 3 => |cx, t| cx.lea(true, t.out(), Mem::element(t.reg(0), t.reg(1), 2, 0)),
    sub: (sub.$t:int reg reg) -> reg, 2, tied(0) => |cx, t| cx.alu(Alu::Sub, whole(t.sig.ty), t.out(), t.reg(1)),
    sub_const: (sub.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| cx.alu_imm(Alu::Sub, t.sig.ty, t.out(), t.imm(0)),
    and: (and.$t:int reg reg) -> reg, 2, tied(0) => |cx, t| cx.alu(Alu::And, whole(t.sig.ty), t.out(), t.reg(1)),
    and_const: (and.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| cx.alu_imm(Alu::And, t.sig.ty, t.out(), t.imm(0)),
    or: (or.$t:int reg reg) -> reg, 2, tied(0) => |cx, t| cx.alu(Alu::Or, whole(t.sig.ty), t.out(), t.reg(1)),
    or_const: (or.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| cx.alu_imm(Alu::Or, t.sig.ty, t.out(), t.imm(0)),
    xor: (xor.$t:int reg reg) -> reg, 2, tied(0) => |cx, t| cx.alu(Alu::Xor, whole(t.sig.ty), t.out(), t.reg(1)),
    xor_const: (xor.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| cx.alu_imm(Alu::Xor, t.sig.ty, t.out(), t.imm(0)),
    mul: (mul.$t:int reg reg) -> reg, 4, tied(0) => |cx, t| cx.imul(whole(t.sig.ty), t.out(), t.reg(1)),
    mul_const: (mul.$t:int reg (const $c:imm32)) -> reg, 4 => |cx, t| cx.imul_imm(whole(t.sig.ty), t.out(), t.reg(0), t.imm(0)),
    // lea out, [x + x * 4]: one cycle or two where imul takes three
    mul_factor: (mul.i32 reg (const $c:factor)) -> reg, 3 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, 0)),
    mul_factor_add: (add.i32 (mul.i32 reg (const $c:factor)) (const $d:imm32)) -> reg, 4 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, t.imm(1))),
    mul_load_base: (mul.$t:i32|i64 reg (load.$t reg)) -> reg, 7, tied(0) => |cx, t| cx.imul(t.sig.ty, t.out(), mem::base(t, 1, 0)),
    mul_load_ofs: (mul.$t:i32|i64 reg (load.$t (addr reg $o))) -> reg, 7, tied(0) => |cx, t| cx.imul(t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    neg: (neg.$t:int reg) -> reg, 2, tied(0) => |cx, t| cx.unary(Unary::Neg, whole(t.sig.ty), t.out()),
    not: (not.$t:int reg) -> reg, 2, tied(0) => |cx, t| cx.unary(Unary::Not, whole(t.sig.ty), t.out()),
    // shifts by a constant, by cl, by any register
    shl_const: (shl.$t:int reg (const $c)) -> reg, 2, tied(0) => |cx, t| cx.shift_imm(Shift::Shl, t.sig.ty, t.out(), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
    shl: (shl.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift_cl(Shift::Shl, t.sig.ty, t.out()),
    shl_narrow: (shl.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, Shift::Shl),
    shl_x: (shl.$t:i32|i64 reg reg) -> reg, 3, needs(bmi2) => |cx, t| cx.shift_x(Shift::Shl, t.sig.ty, t.out(), t.reg(0), t.reg(1)),
    shr_const: (shr.$t:int reg (const $c)) -> reg, 2, tied(0) => |cx, t| cx.shift_imm(Shift::Shr, t.sig.ty, t.out(), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
    shr: (shr.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift_cl(Shift::Shr, t.sig.ty, t.out()),
    shr_narrow: (shr.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, Shift::Shr),
    shr_x: (shr.$t:i32|i64 reg reg) -> reg, 3, needs(bmi2) => |cx, t| cx.shift_x(Shift::Shr, t.sig.ty, t.out(), t.reg(0), t.reg(1)),
    sar_const: (sar.$t:int reg (const $c)) -> reg, 2, tied(0) => |cx, t| cx.shift_imm(Shift::Sar, t.sig.ty, t.out(), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
    sar: (sar.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift_cl(Shift::Sar, t.sig.ty, t.out()),
    sar_narrow: (sar.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, Shift::Sar),
    sar_x: (sar.$t:i32|i64 reg reg) -> reg, 3, needs(bmi2) => |cx, t| cx.shift_x(Shift::Sar, t.sig.ty, t.out(), t.reg(0), t.reg(1)),
    rotl_const: (rotl.$t:int reg (const $c)) -> reg, 3, tied(0) => |cx, t| cx.shift_imm(Shift::Rol, t.sig.ty, t.out(), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
    rotl: (rotl.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift_cl(Shift::Rol, t.sig.ty, t.out()),
    rotl_narrow: (rotl.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, Shift::Rol),
    rotr_const: (rotr.$t:int reg (const $c)) -> reg, 3, tied(0) => |cx, t| cx.shift_imm(Shift::Ror, t.sig.ty, t.out(), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
    rotr: (rotr.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift_cl(Shift::Ror, t.sig.ty, t.out()),
    rotr_narrow: (rotr.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, Shift::Ror),
    rotl_x: (rotl.$t:i32|i64 reg (const $c)) -> reg, 2, needs(bmi2) => |cx, t| cx.rorx(t.sig.ty, t.out(), t.reg(0), t.imm(0).wrapping_neg() & (t.sig.ty.bits() as i64 - 1)),
    rotr_x: (rotr.$t:i32|i64 reg (const $c)) -> reg, 2, needs(bmi2) => |cx, t| cx.rorx(t.sig.ty, t.out(), t.reg(0), t.imm(0) & (t.sig.ty.bits() as i64 - 1)),
}
