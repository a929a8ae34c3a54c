//! Float arithmetic.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::float::*;
use crate::encode::{Bits, Sse};
use azulejo_macros::tile;

tile! {
    pub group float;
    use super::address;

    constant_float: (const.$t:float $c) -> num, 4 => |cx, t| cx.float_constant(t.sig.ty, t.out(), t.sig.ty.truncate(t.imm(0) as u64)),
    zero_float: (const.$t:float $c:zero) -> num, 1 => |cx, t| cx.sse_bits(Bits::Xor, t.out(), t.out()),
    for sse in [add: Sse::Add, sub: Sse::Sub, mul: Sse::Mul] {
        _float: (sse.$t:float num num) -> num, 4, tied(0) => |cx, t| cx.sse(sse, t.sig.ty, t.out(), t.reg(1)),
        _float_const: (sse.$t:float num (const $c)) -> num, 7, tied(0) => |cx, t| arithmetic_const(cx, t, sse),
        _float: (sse.$t:float num (load.$t mem)) -> num, 7, tied(0) => |cx, t| cx.sse(sse, t.sig.ty, t.out(), mem),
    }
    div_float: (div.$t:float num num) -> num, 13, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), t.reg(1)),
    div_float_const: (div.$t:float num (const $c)) -> num, 16, tied(0) => |cx, t| arithmetic_const(cx, t, Sse::Div),
    div_float: (div.$t:float num (load.$t mem)) -> num, 16, tied(0) => |cx, t| cx.sse(Sse::Div, t.sig.ty, t.out(), mem),
    // The machine keeps the register's bits above the float: of another register the result would depend on what that had before.
    sqrt: (sqrt.$t:float num) -> num, 15, tied(0) => |cx, t| cx.sse(Sse::Sqrt, t.sig.ty, t.out(), t.out()),
    min: (min.$t:float num num) -> num, 10, tied(0), late(1) => |cx, t| extreme(cx, t, Sse::Min, Bits::Or),
    max: (max.$t:float num num) -> num, 10, tied(0), late(1) => |cx, t| extreme(cx, t, Sse::Max, Bits::And),
    neg_float: (neg.$t:float num) -> num, 4, tied(0) => |cx, t| flip_sign(cx, t),
    abs: (abs.$t:float num) -> num, 4, tied(0) => |cx, t| clear_sign(cx, t),
    copysign: (copysign.$t:float num num) -> num, 8, tied(0), late(1), temp(float) => |cx, t| copy_sign(cx, t),
    canonical_nan: (canonical_nan.$t:float num) -> num, 5, tied(0) => |cx, t| one_nan(cx, t),
    // the number is the rounding mode
    for mode in [nearest: 0, floor: 1, ceil: 2, trunc: 3] {
        _round: (mode.$t:float num) -> num, 6, needs(sse41), tied(0) => |cx, t| cx.round(mode, t.sig.ty, t.out(), t.out()),
        _: (mode.$t:float num) -> num, 30, tied(0), temp(int), temp(float), temp(float) => |cx, t| round_without_sse41(cx, t, mode),
    }
}
