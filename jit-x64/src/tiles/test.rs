//! Tests of bits, overflow, and comparisons of floats.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::compare::*;
use crate::emit::Cond;
use crate::encode::{Immediate, Unary};
use azulejo_macros::tile;

tile! {
    pub group test;
    use super::address;

    // test a, b
    for sense in [nz: Cond::Ne, zr: Cond::E] {
        _: (sense.$t:int reg) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), t.reg(0), sense),
        _and: (sense.$t:int (and.$t reg reg)) -> flag, 2 => |cx, t| test(cx, t, t.reg(1), t.reg(0), sense),
        _and_const: (sense.$t:int (and.$t reg (const $c:imm32))) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), Immediate(t.imm(0)), sense),
        for mem {
            _mem: (sense.$t:int (load.$t mem)) -> flag, 5 => |cx, t| compare(cx, t, mem, Immediate(0), sense),
            _and_mem: (sense.$t:int (and.$t reg (load.$t mem))) -> flag, 5 => |cx, t| test(cx, t, mem, t.reg(0), sense),
            _and_mem_const: (sense.$t:int (and.$t (load.$t mem) (const $c:imm32))) -> flag, 5 => |cx, t| test(cx, t, mem, Immediate(t.imm(0)), sense),
        }
    }
    // the flags of an addition, a subtraction, a multiplication
    for sum in [addo: Cond::O, uaddo: Cond::B] {
        _: (sum.$t:int reg reg) -> flag, 3, temp(int) => |cx, t| sum_flags(cx, t, sum),
    }
    for difference in [subo: Cond::O, usubo: Cond::B] {
        _: (difference.$t:int reg reg) -> flag, 2 => |cx, t| compare(cx, t, t.reg(0), t.reg(1), difference),
    }
    mulo: (mulo.$t:i16|i32|i64 reg reg) -> flag, 5, temp(int) => |cx, t| product_flags(cx, t),
    mulo_i8: (mulo.i8 reg reg) -> flag, 8, temp(int), temp(int) => |cx, t| product_fits_i8(cx, t),
    umulo: (umulo.$t:i32|i64 reg reg) -> flag, 6, fixed(0 = rax), clobber(rax, rdx) => |cx, t| { cx.unary(Unary::Mul, t.sig.from, t.reg(1)); cx.flag(Cond::O) },
    umulo_narrow: (umulo.$t:i8|i16 reg reg) -> flag, 8, temp(int), temp(int) => |cx, t| product_fits_unsigned(cx, t),
    // ucomis: above and above-or-equal are false for NaN, so less-than swaps the operands
    for less in [lt: Cond::A, le: Cond::Ae] {
        _float: (less.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(1), t.reg(0), less),
    }
    for other in [gt: Cond::A, ge: Cond::Ae, eq: Cond::OrderedE, ne: Cond::UnorderedNe] {
        _float: (other.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(0), t.reg(1), other),
    }
    for near {
        for other in [gt: Cond::A, ge: Cond::Ae, eq: Cond::OrderedE, ne: Cond::UnorderedNe] {
            _float: (other.$t:float num (load.$t near)) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), near, other),
        }
        for less in [lt: Cond::A, le: Cond::Ae] {
            _float: (less.$t:float (load.$t near) num) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(1), near, less),
        }
    }
}
