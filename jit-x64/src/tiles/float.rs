//! Float arithmetic.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use super::sequences::float::*;
use crate::encode::{Bits, Sse};
use azulejo_macros::tile;

tile! {
    pub group float;

    constant_float: (const.$t:float $c) -> num, 4 => |cx, t| cx.float_constant(t.sig.ty, t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    zero_float: (const.$t:float $c:zero) -> num, 1 => |cx, t| cx.sse_bits(Bits::Xor, t.out(), t.out()),
    add_float: (add.$t:float num num) -> num, 4, tied(0) => |cx, t| cx.sse(Sse::Add, t.sig.ty, t.out(), t.reg(1)),
    add_float_const: (add.$t:float num (const $c)) -> num, 7, tied(0) => |cx, t| arithmetic_const(cx, t, Sse::Add),
    add_float_base: (add.$t:float num (load.$t reg)) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Add, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    add_float_ofs: (add.$t:float num (load.$t (addr reg $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Add, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    add_float_elem: (add.$t:float num (load.$t (idx reg reg $s))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Add, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    add_float_elem_ofs: (add.$t:float num (load.$t (addr (idx reg reg $s) $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Add, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    sub_float: (sub.$t:float num num) -> num, 4, tied(0) => |cx, t| cx.sse(Sse::Sub, t.sig.ty, t.out(), t.reg(1)),
    sub_float_const: (sub.$t:float num (const $c)) -> num, 7, tied(0) => |cx, t| arithmetic_const(cx, t, Sse::Sub),
    sub_float_base: (sub.$t:float num (load.$t reg)) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Sub, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    sub_float_ofs: (sub.$t:float num (load.$t (addr reg $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Sub, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    sub_float_elem: (sub.$t:float num (load.$t (idx reg reg $s))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Sub, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    sub_float_elem_ofs: (sub.$t:float num (load.$t (addr (idx reg reg $s) $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Sub, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    mul_float: (mul.$t:float num num) -> num, 4, tied(0) => |cx, t| cx.sse(Sse::Mul, t.sig.ty, t.out(), t.reg(1)),
    mul_float_const: (mul.$t:float num (const $c)) -> num, 7, tied(0) => |cx, t| arithmetic_const(cx, t, Sse::Mul),
    mul_float_base: (mul.$t:float num (load.$t reg)) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Mul, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    mul_float_ofs: (mul.$t:float num (load.$t (addr reg $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Mul, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    mul_float_elem: (mul.$t:float num (load.$t (idx reg reg $s))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Mul, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    mul_float_elem_ofs: (mul.$t:float num (load.$t (addr (idx reg reg $s) $o))) -> num, 7, tied(0) => |cx, t| cx.sse(Sse::Mul, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    div_float: (div.$t:float num num) -> num, 13, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), t.reg(1)),
    div_float_const: (div.$t:float num (const $c)) -> num, 16, tied(0) => |cx, t| arithmetic_const(cx, t, Sse::Div),
    div_float_base: (div.$t:float num (load.$t reg)) -> num, 16, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    div_float_ofs: (div.$t:float num (load.$t (addr reg $o))) -> num, 16, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    div_float_elem: (div.$t:float num (load.$t (idx reg reg $s))) -> num, 16, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    div_float_elem_ofs: (div.$t:float num (load.$t (addr (idx reg reg $s) $o))) -> num, 16, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    sqrt: (sqrt.$t:float num) -> num, 15 => |cx, t| cx.sse(Sse::Sqrt, t.sig.ty, t.out(), t.reg(0)),
    min: (min.$t:float num num) -> num, 10, tied(0), late(1) => |cx, t| extreme(cx, t, Sse::Min, Bits::Or),
    max: (max.$t:float num num) -> num, 10, tied(0), late(1) => |cx, t| extreme(cx, t, Sse::Max, Bits::And),
    neg_float: (neg.$t:float num) -> num, 4, tied(0) => |cx, t| flip_sign(cx, t),
    abs: (abs.$t:float num) -> num, 4, tied(0) => |cx, t| clear_sign(cx, t),
    copysign: (copysign.$t:float num num) -> num, 8, tied(0), late(1), temp(float) => |cx, t| copy_sign(cx, t),
    canonical_nan: (canonical_nan.$t:float num) -> num, 5, tied(0) => |cx, t| one_nan(cx, t),
    nearest_round: (nearest.$t:float num) -> num, 6, needs(sse41) => |cx, t| cx.round(0, t.sig.ty, t.out(), t.reg(0)),
    nearest: (nearest.$t:float num) -> num, 30, tied(0), temp(int), temp(float), temp(float) => |cx, t| round_without_sse41(cx, t, 0),
    floor_round: (floor.$t:float num) -> num, 6, needs(sse41) => |cx, t| cx.round(1, t.sig.ty, t.out(), t.reg(0)),
    floor: (floor.$t:float num) -> num, 30, tied(0), temp(int), temp(float), temp(float) => |cx, t| round_without_sse41(cx, t, 1),
    ceil_round: (ceil.$t:float num) -> num, 6, needs(sse41) => |cx, t| cx.round(2, t.sig.ty, t.out(), t.reg(0)),
    ceil: (ceil.$t:float num) -> num, 30, tied(0), temp(int), temp(float), temp(float) => |cx, t| round_without_sse41(cx, t, 2),
    trunc_round: (trunc.$t:float num) -> num, 6, needs(sse41) => |cx, t| cx.round(3, t.sig.ty, t.out(), t.reg(0)),
    trunc: (trunc.$t:float num) -> num, 30, tied(0), temp(int), temp(float), temp(float) => |cx, t| round_without_sse41(cx, t, 3),
}
