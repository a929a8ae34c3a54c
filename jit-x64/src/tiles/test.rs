//! Tests of bits, overflow, and comparisons of floats.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use super::sequences::compare::*;
use crate::emit::Cond;
use crate::encode::Unary;
use azulejo_macros::tile;

tile! {
    pub group test;

    // test a, b
    nz: (nz.$t:int reg) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), t.reg(0), Cond::Ne),
    nz_and: (nz.$t:int (and.$t reg reg)) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), t.reg(1), Cond::Ne),
    nz_and_const: (nz.$t:int (and.$t reg (const $c:imm32))) -> flag, 2 => |cx, t| test_const(cx, t, t.reg(0), t.imm(0), Cond::Ne),
    nz_mem_base: (nz.$t:int (load.$t reg)) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::base(t, 0, 0), 0, Cond::Ne),
    nz_and_mem_base: (nz.$t:int (and.$t reg (load.$t reg))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::Ne),
    nz_and_mem_const_base: (nz.$t:int (and.$t (load.$t reg) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::base(t, 0, 0), t.imm(0), Cond::Ne),
    nz_mem_ofs: (nz.$t:int (load.$t (addr reg $o))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::ofs(t, 0, 0), 0, Cond::Ne),
    nz_and_mem_ofs: (nz.$t:int (and.$t reg (load.$t (addr reg $o)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::Ne),
    nz_and_mem_const_ofs: (nz.$t:int (and.$t (load.$t (addr reg $o)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::ofs(t, 0, 0), t.imm(1), Cond::Ne),
    nz_mem_elem: (nz.$t:int (load.$t (idx reg reg $s))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::elem(t, 0, 0), 0, Cond::Ne),
    nz_and_mem_elem: (nz.$t:int (and.$t reg (load.$t (idx reg reg $s)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::elem(t, 1, 0), Cond::Ne),
    nz_and_mem_const_elem: (nz.$t:int (and.$t (load.$t (idx reg reg $s)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::elem(t, 0, 0), t.imm(1), Cond::Ne),
    nz_mem_elem_ofs: (nz.$t:int (load.$t (addr (idx reg reg $s) $o))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::elem_ofs(t, 0, 0), 0, Cond::Ne),
    nz_and_mem_elem_ofs: (nz.$t:int (and.$t reg (load.$t (addr (idx reg reg $s) $o)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::elem_ofs(t, 1, 0), Cond::Ne),
    nz_and_mem_const_elem_ofs: (nz.$t:int (and.$t (load.$t (addr (idx reg reg $s) $o)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::elem_ofs(t, 0, 0), t.imm(2), Cond::Ne),
    // test a, b
    zr: (zr.$t:int reg) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), t.reg(0), Cond::E),
    zr_and: (zr.$t:int (and.$t reg reg)) -> flag, 2 => |cx, t| test(cx, t, t.reg(0), t.reg(1), Cond::E),
    zr_and_const: (zr.$t:int (and.$t reg (const $c:imm32))) -> flag, 2 => |cx, t| test_const(cx, t, t.reg(0), t.imm(0), Cond::E),
    zr_mem_base: (zr.$t:int (load.$t reg)) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::base(t, 0, 0), 0, Cond::E),
    zr_and_mem_base: (zr.$t:int (and.$t reg (load.$t reg))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::E),
    zr_and_mem_const_base: (zr.$t:int (and.$t (load.$t reg) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::base(t, 0, 0), t.imm(0), Cond::E),
    zr_mem_ofs: (zr.$t:int (load.$t (addr reg $o))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::ofs(t, 0, 0), 0, Cond::E),
    zr_and_mem_ofs: (zr.$t:int (and.$t reg (load.$t (addr reg $o)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::E),
    zr_and_mem_const_ofs: (zr.$t:int (and.$t (load.$t (addr reg $o)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::ofs(t, 0, 0), t.imm(1), Cond::E),
    zr_mem_elem: (zr.$t:int (load.$t (idx reg reg $s))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::elem(t, 0, 0), 0, Cond::E),
    zr_and_mem_elem: (zr.$t:int (and.$t reg (load.$t (idx reg reg $s)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::elem(t, 1, 0), Cond::E),
    zr_and_mem_const_elem: (zr.$t:int (and.$t (load.$t (idx reg reg $s)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::elem(t, 0, 0), t.imm(1), Cond::E),
    zr_mem_elem_ofs: (zr.$t:int (load.$t (addr (idx reg reg $s) $o))) -> flag, 5 => |cx, t| compare_mem_const(cx, t, mem::elem_ofs(t, 0, 0), 0, Cond::E),
    zr_and_mem_elem_ofs: (zr.$t:int (and.$t reg (load.$t (addr (idx reg reg $s) $o)))) -> flag, 5 => |cx, t| test(cx, t, t.reg(0), mem::elem_ofs(t, 1, 0), Cond::E),
    zr_and_mem_const_elem_ofs: (zr.$t:int (and.$t (load.$t (addr (idx reg reg $s) $o)) (const $c:imm32))) -> flag, 5 => |cx, t| test_const(cx, t, mem::elem_ofs(t, 0, 0), t.imm(2), Cond::E),
    // the flags of an addition, a subtraction, a multiplication
    addo: (addo.$t:int reg reg) -> flag, 3, temp(int) => |cx, t| sum_flags(cx, t, Cond::O),
    uaddo: (uaddo.$t:int reg reg) -> flag, 3, temp(int) => |cx, t| sum_flags(cx, t, Cond::B),
    subo: (subo.$t:int reg reg) -> flag, 2 => |cx, t| compare(cx, t, t.reg(0), t.reg(1), Cond::O),
    usubo: (usubo.$t:int reg reg) -> flag, 2 => |cx, t| compare(cx, t, t.reg(0), t.reg(1), Cond::B),
    mulo: (mulo.$t:i16|i32|i64 reg reg) -> flag, 5, temp(int) => |cx, t| product_flags(cx, t),
    mulo_i8: (mulo.i8 reg reg) -> flag, 8, temp(int), temp(int) => |cx, t| product_fits_i8(cx, t),
    umulo: (umulo.$t:i32|i64 reg reg) -> flag, 6, fixed(0 = rax), clobber(rax, rdx) => |cx, t| { cx.unary(Unary::Mul, t.sig.from, t.reg(1)); cx.flag(Cond::O) },
    umulo_narrow: (umulo.$t:i8|i16 reg reg) -> flag, 8, temp(int), temp(int) => |cx, t| product_fits_unsigned(cx, t),
    // ucomis: above and above-or-equal are false for NaN, so less-than swaps the operands
    lt_float: (lt.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(1), t.reg(0), Cond::A),
    le_float: (le.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(1), t.reg(0), Cond::Ae),
    gt_float: (gt.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(0), t.reg(1), Cond::A),
    ge_float: (ge.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(0), t.reg(1), Cond::Ae),
    eq_float: (eq.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(0), t.reg(1), Cond::OrderedE),
    ne_float: (ne.$t:float num num) -> flag, 4 => |cx, t| compare_floats(cx, t, t.reg(0), t.reg(1), Cond::UnorderedNe),
    gt_float_base: (gt.$t:float num (load.$t reg)) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::A),
    ge_float_base: (ge.$t:float num (load.$t reg)) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::Ae),
    eq_float_base: (eq.$t:float num (load.$t reg)) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::OrderedE),
    ne_float_base: (ne.$t:float num (load.$t reg)) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::base(t, 1, 0), Cond::UnorderedNe),
    lt_float_base: (lt.$t:float (load.$t reg) num) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(1), mem::base(t, 0, 0), Cond::A),
    le_float_base: (le.$t:float (load.$t reg) num) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(1), mem::base(t, 0, 0), Cond::Ae),
    gt_float_ofs: (gt.$t:float num (load.$t (addr reg $o))) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::A),
    ge_float_ofs: (ge.$t:float num (load.$t (addr reg $o))) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::Ae),
    eq_float_ofs: (eq.$t:float num (load.$t (addr reg $o))) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::OrderedE),
    ne_float_ofs: (ne.$t:float num (load.$t (addr reg $o))) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(0), mem::ofs(t, 1, 0), Cond::UnorderedNe),
    lt_float_ofs: (lt.$t:float (load.$t (addr reg $o)) num) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(1), mem::ofs(t, 0, 0), Cond::A),
    le_float_ofs: (le.$t:float (load.$t (addr reg $o)) num) -> flag, 7 => |cx, t| compare_floats(cx, t, t.reg(1), mem::ofs(t, 0, 0), Cond::Ae),
}
