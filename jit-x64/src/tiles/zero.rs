//! Zero extension of 32-bit results: every instruction that writes 32 bits of a register clears the others, so it is free.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::float::store_alone;
use super::sequences::int::*;
use crate::encode::{Alu, Immediate, Mem, Shift, Unary};
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group zero;
    use super::address;

    const_zx: (ucast.i32.i64 (const $c)) -> reg, 2 => |cx, t| cx.mov_imm(t.out(), t.imm(0) as u32 as u64),
    bits_zx: (ucast.i32.i64 (bitcast.f32.i32 num)) -> reg, 3 => |cx, t| cx.bitcast(Type::F32, t.out(), t.reg(0)),
    // the zero-extended bits of a float, without a detour through an integer register
    store_bits_zx: (store.i64 near (ucast.i32.i64 (bitcast.f32.i32 num))) -> void, 5, temp(float) => |cx, t| store_alone(cx, t, near),
    add_zx: (ucast.i32.i64 (add.i32 reg reg)) -> reg, 2 => |cx, t| add(cx, t, Type::I32),
    add_const_zx: (ucast.i32.i64 (add.i32 reg (const $c:imm32))) -> reg, 2 => |cx, t| add_const(cx, t, Type::I32, t.imm(0)),
    sub_zx: (ucast.i32.i64 (sub.i32 reg reg)) -> reg, 2, tied(0) => |cx, t| cx.alu(Alu::Sub, Type::I32, t.out(), t.reg(1)),
    for alu in [and: Alu::And, or: Alu::Or, xor: Alu::Xor] {
        _zx: (ucast.i32.i64 (alu.i32 reg reg)) -> reg, 2, tied(0) => |cx, t| cx.alu(alu, Type::I32, t.out(), t.reg(1)),
        _const_zx: (ucast.i32.i64 (alu.i32 reg (const $c:imm32))) -> reg, 2, tied(0) => |cx, t| cx.alu(alu, Type::I32, t.out(), Immediate(t.imm(0))),
    }
    mul_zx: (ucast.i32.i64 (mul.i32 reg reg)) -> reg, 4, tied(0) => |cx, t| cx.imul(Type::I32, t.out(), t.reg(1)),
    mul_const_zx: (ucast.i32.i64 (mul.i32 reg (const $c:imm32))) -> reg, 4 => |cx, t| cx.imul_imm(Type::I32, t.out(), t.reg(0), t.imm(0)),
    mul_factor_zx: (ucast.i32.i64 (mul.i32 reg (const $c:factor))) -> reg, 3 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, 0)),
    mul_factor_add_zx: (ucast.i32.i64 (add.i32 (mul.i32 reg (const $c:factor)) (const $d:imm32))) -> reg, 4 => |cx, t| cx.lea(false, t.out(), Mem::element(t.reg(0), t.reg(0), t.imm(0) - 1, t.imm(1))),
    for unary in [neg: Unary::Neg, not: Unary::Not] {
        _zx: (ucast.i32.i64 (unary.i32 reg)) -> reg, 2, tied(0) => |cx, t| cx.unary(unary, Type::I32, t.out()),
    }
    for shift in [shl: Shift::Shl, shr: Shift::Shr, sar: Shift::Sar] {
        _const_zx: (ucast.i32.i64 (shift.i32 reg (const $c))) -> reg, 2, tied(0) => |cx, t| shift32(cx, t, shift),
    }
    rotl_const_zx: (ucast.i32.i64 (rotl.i32 reg (const $c))) -> reg, 3, tied(0) => |cx, t| shift32(cx, t, Shift::Rol),
    rotl_x_zx: (ucast.i32.i64 (rotl.i32 reg (const $c))) -> reg, 2, needs(bmi2) => |cx, t| cx.shift_x(Shift::Ror, Type::I32, t.out(), t.reg(0), Immediate(t.imm(0).wrapping_neg() & 31)),
    rotr_const_zx: (ucast.i32.i64 (rotr.i32 reg (const $c))) -> reg, 3, tied(0) => |cx, t| shift32(cx, t, Shift::Ror),
    rotr_x_zx: (ucast.i32.i64 (rotr.i32 reg (const $c))) -> reg, 2, needs(bmi2) => |cx, t| cx.shift_x(Shift::Ror, Type::I32, t.out(), t.reg(0), Immediate(t.imm(0) & 31)),
}
