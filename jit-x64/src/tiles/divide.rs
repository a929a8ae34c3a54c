//! Division, high products and counting bits.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::divide::*;
use crate::encode::{BitCount, Immediate, Shift, Unary};
use azulejo_core::vocab::Type;
use azulejo_macros::tile;

tile! {
    pub group divide;

    // the quotient is in rax, the remainder in rdx; narrow operands are divided as 32 bits
    div: (div.$t:i32|i64 reg reg) -> reg, 30, fixed(0 = rax), fixed(out = rax), clobber(rdx), late(1) => |cx, t| divide(cx, t, t.reg(1)),
    rem: (rem.$t:i32|i64 reg reg) -> reg, 32, fixed(0 = rax), fixed(out = rdx), clobber(rax), late(1) => |cx, t| remainder(cx, t, t.reg(1)),
    udiv: (udiv.$t:i32|i64 reg reg) -> reg, 28, fixed(0 = rax), fixed(out = rax), clobber(rdx), late(1) => |cx, t| divide_unsigned(cx, t, t.reg(1)),
    urem: (urem.$t:i32|i64 reg reg) -> reg, 28, fixed(0 = rax), fixed(out = rdx), clobber(rax), late(1) => |cx, t| divide_unsigned(cx, t, t.reg(1)),
    div_narrow: (div.$t:i8|i16 reg reg) -> reg, 30, fixed(0 = rax), fixed(out = rax), clobber(rdx), late(1), temp(int) => |cx, t| divide_narrow(cx, t, true),
    rem_narrow: (rem.$t:i8|i16 reg reg) -> reg, 30, fixed(0 = rax), fixed(out = rdx), clobber(rax), late(1), temp(int) => |cx, t| divide_narrow(cx, t, true),
    udiv_narrow: (udiv.$t:i8|i16 reg reg) -> reg, 30, fixed(0 = rax), fixed(out = rax), clobber(rdx), late(1), temp(int) => |cx, t| divide_narrow(cx, t, false),
    urem_narrow: (urem.$t:i8|i16 reg reg) -> reg, 30, fixed(0 = rax), fixed(out = rdx), clobber(rax), late(1), temp(int) => |cx, t| divide_narrow(cx, t, false),
    mulhi: (mulhi.$t:i32|i64 reg reg) -> reg, 5, fixed(0 = rax), fixed(out = rdx), clobber(rax) => |cx, t| cx.unary(Unary::Imul, t.sig.ty, t.reg(1)),
    umulhi: (umulhi.$t:i32|i64 reg reg) -> reg, 5, fixed(0 = rax), fixed(out = rdx), clobber(rax) => |cx, t| cx.unary(Unary::Mul, t.sig.ty, t.reg(1)),
    mulhi_narrow: (mulhi.$t:i8|i16 reg reg) -> reg, 8, temp(int), early => |cx, t| high_narrow(cx, t, true),
    umulhi_narrow: (umulhi.$t:i8|i16 reg reg) -> reg, 8, temp(int), early => |cx, t| high_narrow(cx, t, false),
    // counting bits, with and without the instruction for it
    clz_lzcnt: (clz.$t:int reg) -> reg, 3, needs(lzcnt) => |cx, t| leading_zeros(cx, t),
    clz: (clz.$t:int reg) -> reg, 8, early => |cx, t| leading_zeros_by_scan(cx, t),
    ctz_tzcnt: (ctz.$t:i32|i64 reg) -> reg, 2, needs(bmi1) => |cx, t| cx.count_bits(BitCount::Tzcnt, t.sig.ty, t.out(), t.reg(0)),
    ctz: (ctz.$t:int reg) -> reg, 8, early => |cx, t| trailing_zeros_by_scan(cx, t),
    popcnt_popcnt: (popcnt.$t:int reg) -> reg, 3, needs(popcnt) => |cx, t| count_bits(cx, t, BitCount::Popcnt),
    popcnt: (popcnt.$t:int reg) -> reg, 24, early, temp(int), temp(int) => |cx, t| count_ones_by_halves(cx, t),
    bswap: (bswap.$t:i32|i64 reg) -> reg, 2, tied(0) => |cx, t| cx.unary(Unary::Bswap, t.sig.ty, t.out()),
    bswap_i16: (bswap.i16 reg) -> reg, 2, tied(0) => |cx, t| cx.shift(Shift::Rol, Type::I16, t.out(), Immediate(8)),
}
