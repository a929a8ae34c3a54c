//! Conversions between types.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::convert::*;
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group convert;

    scast: (scast reg) -> reg, 2 => |cx, t| widen(cx, t, true),
    ucast: (ucast reg) -> reg, 2 => |cx, t| widen(cx, t, false),
    // movsxd out, low: the low bits of a whole register, as bytecode reads a narrow value that it keeps in 64 bits
    scast_low: (scast.$f:i8|i16|i32.i64 (ucast.i64.$f reg)) -> reg, 2 => |cx, t| widen(cx, t, true),
    ucast_low: (ucast.$f:i8|i16|i32.i64 (ucast.i64.$f reg)) -> reg, 2 => |cx, t| widen(cx, t, false),
    to_float_bits: (bitcast.$f:i32|i64.$t:float reg) -> num, 3 => |cx, t| cx.bitcast(t.sig.from, t.out(), t.reg(0)),
    to_int_bits: (bitcast.$f:float.$t:i32|i64 num) -> reg, 3 => |cx, t| cx.bitcast(t.sig.from, t.out(), t.reg(0)),
    // The machine keeps the register's bits above the float.
    fcast: (fcast.$f:float.$t:float num) -> num, 4, tied(0) => |cx, t| cx.convert(t.sig.from, t.sig.ty, t.out(), t.out()),
    stof: (stof.$f:i32|i64.$t:float reg) -> num, 5 => |cx, t| signed_to_float(cx, t, t.reg(0), t.sig.from),
    stof_narrow: (stof.$f:i8|i16.$t:float reg) -> num, 6, temp(int) => |cx, t| narrow_to_float(cx, t, true),
    utof_narrow: (utof.$f:i8|i16|i32.$t:float reg) -> num, 6, temp(int) => |cx, t| narrow_to_float(cx, t, false),
    utof: (utof.i64.$t:float reg) -> num, 12, temp(int), temp(int) => |cx, t| unsigned_to_float(cx, t),
    ftos_trap: (ftos_trap.$f:float.$t:int num) -> reg, 5 => |cx, t| cx.convert(t.sig.from, Type::I64, t.out(), t.reg(0)),
    ftos_least: (ftos_least.$f:float.$t:i32|i64 num) -> reg, 5 => |cx, t| cx.convert(t.sig.from, t.sig.ty, t.out(), t.reg(0)),
    ftou_trap_narrow: (ftou_trap.$f:float.$t:i8|i16|i32 num) -> reg, 5 => |cx, t| cx.convert(t.sig.from, Type::I64, t.out(), t.reg(0)),
    ftou_trap: (ftou_trap.$f:float.i64 num) -> reg, 12, early, temp(int), temp(float) => |cx, t| to_unsigned(cx, t),
    ftos_sat: (ftos_sat.$f:float.$t:int num) -> reg, 14, early, temp(int), temp(float) => |cx, t| to_signed_saturating(cx, t),
    ftou_sat_narrow: (ftou_sat.$f:float.$t:i8|i16|i32 num) -> reg, 14, early, temp(int), temp(float) => |cx, t| to_narrow_unsigned_saturating(cx, t),
    ftou_sat: (ftou_sat.$f:float.i64 num) -> reg, 16, early, temp(int), temp(float) => |cx, t| to_unsigned_saturating(cx, t),
    ftoi_wrap: (ftoi_wrap.$f:float.$t:int num) -> reg, 20, early, temp(int), temp(int), temp(float), clobber(rcx) => |cx, t| to_int_wrapping(cx, t),
}
