//! Constants and integer arithmetic on registers.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::int::*;
use crate::encode::{Alu, CL, Immediate, Mem, Shift, Unary};
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group int;
    use super::address;

    // mov out, imm   xor out, out
    constant: (const.$t:int $c) -> reg, 2 => |cx, t| cx.mov_const(t.sig.ty, t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    zero: (const.$t:int $c:zero) -> reg, 1 => |cx, t| cx.alu(Alu::Xor, Type::I32, t.out(), t.out()),
    // add or lea: no operand is overwritten
    add: (add.$t:int reg reg) -> reg, 2 => |cx, t| add(cx, t, whole(t.sig.ty)),
    add_const: (add.$t:int reg (const $c:imm32)) -> reg, 2 => |cx, t| add_const(cx, t, whole(t.sig.ty), t.imm(0)),
    add_shifted: (add.i64 reg (shl.i64 reg (const $c:one))) -> reg, 3 => |cx, t| cx.lea(true, t.out(), Mem::element(t.reg(0), t.reg(1), 2, 0)),
    for alu in [sub: Alu::Sub, and: Alu::And, or: Alu::Or, xor: Alu::Xor] {
        _: (alu.$t:int reg reg) -> reg, 2, tied(0) => |cx, t| cx.alu(alu, whole(t.sig.ty), t.out(), t.reg(1)),
        _const: (alu.$t:int reg (const $c:imm32)) -> reg, 2, tied(0) => |cx, t| cx.alu(alu, t.sig.ty, t.out(), Immediate(t.imm(0))),
    }
    mul: (mul.$t:int reg reg) -> reg, 4, tied(0) => |cx, t| cx.imul(whole(t.sig.ty), t.out(), t.reg(1)),
    mul_const: (mul.$t:int reg (const $c:imm32)) -> reg, 4 => |cx, t| cx.imul_imm(whole(t.sig.ty), t.out(), t.reg(0), t.imm(0)),
    // lea out, [x + x * 4]: one cycle or two where imul takes three
    mul_factor: (mul.i32 reg (const $c:factor)) -> reg, 3 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, 0)),
    mul_factor_add: (add.i32 (mul.i32 reg (const $c:factor)) (const $d:imm32)) -> reg, 4 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, t.imm(1))),
    mul_load: (mul.$t:i32|i64 reg (load.$t near)) -> reg, 7, tied(0) => |cx, t| cx.imul(t.sig.ty, t.out(), near),
    for unary in [neg: Unary::Neg, not: Unary::Not] {
        _: (unary.$t:int reg) -> reg, 2, tied(0) => |cx, t| cx.unary(unary, whole(t.sig.ty), t.out()),
    }
    // shifts by a constant, by cl, by any register
    for shift in [shl: Shift::Shl, shr: Shift::Shr, sar: Shift::Sar] {
        _const: (shift.$t:int reg (const $c)) -> reg, 2, tied(0) => |cx, t| cx.shift(shift, t.sig.ty, t.out(), shift_count(t.sig.ty, t.imm(0))),
        _: (shift.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift(shift, t.sig.ty, t.out(), CL),
        _narrow: (shift.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, shift),
        _x: (shift.$t:i32|i64 reg reg) -> reg, 3, needs(bmi2) => |cx, t| cx.shift_x(shift, t.sig.ty, t.out(), t.reg(0), t.reg(1)),
    }
    for rotate in [rotl: Shift::Rol, rotr: Shift::Ror] {
        _const: (rotate.$t:int reg (const $c)) -> reg, 3, tied(0) => |cx, t| cx.shift(rotate, t.sig.ty, t.out(), shift_count(t.sig.ty, t.imm(0))),
        _: (rotate.$t:i32|i64 reg reg) -> reg, 4, tied(0), fixed(1 = rcx) => |cx, t| cx.shift(rotate, t.sig.ty, t.out(), CL),
        _narrow: (rotate.$t:i8|i16 reg reg) -> reg, 6, tied(0), fixed(1 = rcx), clobber(rcx) => |cx, t| shift_narrow(cx, t, rotate),
    }
    rotl_x: (rotl.$t:i32|i64 reg (const $c)) -> reg, 2, needs(bmi2) => |cx, t| cx.shift_x(Shift::Ror, t.sig.ty, t.out(), t.reg(0), Immediate(t.imm(0).wrapping_neg() & (t.sig.ty.bits() as i64 - 1))),
    rotr_x: (rotr.$t:i32|i64 reg (const $c)) -> reg, 2, needs(bmi2) => |cx, t| cx.shift_x(Shift::Ror, t.sig.ty, t.out(), t.reg(0), shift_count(t.sig.ty, t.imm(0))),
}
