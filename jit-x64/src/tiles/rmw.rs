//! Arithmetic that reads memory, or reads and writes it.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use crate::encode::{Alu, Shift, Unary};
use azulejo_macros::tile;

tile! {
    pub group rmw;

    // add out, [mem]   add [mem], reg   add [mem], imm
    add_load_base: (add.$t:int reg (load.$t reg)) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Add, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    add_mem_base: (store.$t:int $p@reg (add.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Add, t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    add_mem_const_base: (store.$t:int $p@reg (add.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Add, t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    add_load_ofs: (add.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Add, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    add_mem_ofs: (store.$t:int $p@(addr reg $o) (add.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Add, t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    add_mem_const_ofs: (store.$t:int $p@(addr reg $o) (add.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Add, t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    add_load_elem: (add.$t:int reg (load.$t (idx reg reg $s))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Add, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    add_mem_elem: (store.$t:int $p@(idx reg reg $s) (add.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Add, t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    add_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (add.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Add, t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    add_load_elem_ofs: (add.$t:int reg (load.$t (addr (idx reg reg $s) $o))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Add, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    add_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (add.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Add, t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    add_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (add.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Add, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    // sub out, [mem]   sub [mem], reg   sub [mem], imm
    sub_load_base: (sub.$t:int reg (load.$t reg)) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Sub, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    sub_mem_base: (store.$t:int $p@reg (sub.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Sub, t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    sub_mem_const_base: (store.$t:int $p@reg (sub.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Sub, t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    sub_load_ofs: (sub.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Sub, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    sub_mem_ofs: (store.$t:int $p@(addr reg $o) (sub.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Sub, t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    sub_mem_const_ofs: (store.$t:int $p@(addr reg $o) (sub.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Sub, t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    sub_load_elem: (sub.$t:int reg (load.$t (idx reg reg $s))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Sub, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    sub_mem_elem: (store.$t:int $p@(idx reg reg $s) (sub.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Sub, t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    sub_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (sub.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Sub, t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    sub_load_elem_ofs: (sub.$t:int reg (load.$t (addr (idx reg reg $s) $o))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Sub, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    sub_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (sub.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Sub, t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    sub_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (sub.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Sub, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    // and out, [mem]   and [mem], reg   and [mem], imm
    and_load_base: (and.$t:int reg (load.$t reg)) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::And, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    and_mem_base: (store.$t:int $p@reg (and.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::And, t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    and_mem_const_base: (store.$t:int $p@reg (and.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::And, t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    and_load_ofs: (and.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::And, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    and_mem_ofs: (store.$t:int $p@(addr reg $o) (and.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::And, t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    and_mem_const_ofs: (store.$t:int $p@(addr reg $o) (and.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::And, t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    and_load_elem: (and.$t:int reg (load.$t (idx reg reg $s))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::And, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    and_mem_elem: (store.$t:int $p@(idx reg reg $s) (and.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::And, t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    and_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (and.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::And, t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    and_load_elem_ofs: (and.$t:int reg (load.$t (addr (idx reg reg $s) $o))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::And, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    and_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (and.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::And, t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    and_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (and.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::And, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    // or out, [mem]   or [mem], reg   or [mem], imm
    or_load_base: (or.$t:int reg (load.$t reg)) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Or, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    or_mem_base: (store.$t:int $p@reg (or.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Or, t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    or_mem_const_base: (store.$t:int $p@reg (or.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Or, t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    or_load_ofs: (or.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Or, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    or_mem_ofs: (store.$t:int $p@(addr reg $o) (or.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Or, t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    or_mem_const_ofs: (store.$t:int $p@(addr reg $o) (or.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Or, t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    or_load_elem: (or.$t:int reg (load.$t (idx reg reg $s))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Or, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    or_mem_elem: (store.$t:int $p@(idx reg reg $s) (or.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Or, t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    or_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (or.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Or, t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    or_load_elem_ofs: (or.$t:int reg (load.$t (addr (idx reg reg $s) $o))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Or, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    or_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (or.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Or, t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    or_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (or.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Or, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    // xor out, [mem]   xor [mem], reg   xor [mem], imm
    xor_load_base: (xor.$t:int reg (load.$t reg)) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Xor, t.sig.ty, t.out(), mem::base(t, 1, 0)),
    xor_mem_base: (store.$t:int $p@reg (xor.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Xor, t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    xor_mem_const_base: (store.$t:int $p@reg (xor.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Xor, t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    xor_load_ofs: (xor.$t:int reg (load.$t (addr reg $o))) -> reg, 5, tied(0) => |cx, t| cx.alu(Alu::Xor, t.sig.ty, t.out(), mem::ofs(t, 1, 0)),
    xor_mem_ofs: (store.$t:int $p@(addr reg $o) (xor.$t (load.$t $p) reg)) -> void, 6 => |cx, t| cx.alu_to_mem(Alu::Xor, t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    xor_mem_const_ofs: (store.$t:int $p@(addr reg $o) (xor.$t (load.$t $p) (const $c:imm32))) -> void, 6 => |cx, t| cx.alu_imm(Alu::Xor, t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    xor_load_elem: (xor.$t:int reg (load.$t (idx reg reg $s))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Xor, t.sig.ty, t.out(), mem::elem(t, 1, 0)),
    xor_mem_elem: (store.$t:int $p@(idx reg reg $s) (xor.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Xor, t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    xor_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (xor.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Xor, t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    xor_load_elem_ofs: (xor.$t:int reg (load.$t (addr (idx reg reg $s) $o))) -> reg, 6, tied(0) => |cx, t| cx.alu(Alu::Xor, t.sig.ty, t.out(), mem::elem_ofs(t, 1, 0)),
    xor_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (xor.$t (load.$t $p) reg)) -> void, 7 => |cx, t| cx.alu_to_mem(Alu::Xor, t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    xor_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (xor.$t (load.$t $p) (const $c:imm32))) -> void, 7 => |cx, t| cx.alu_imm(Alu::Xor, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    // neg [mem]
    neg_mem_base: (store.$t:int $p@reg (neg.$t (load.$t $p))) -> void, 6 => |cx, t| cx.unary(Unary::Neg, t.sig.from, mem::base(t, 0, 0)),
    neg_mem_ofs: (store.$t:int $p@(addr reg $o) (neg.$t (load.$t $p))) -> void, 6 => |cx, t| cx.unary(Unary::Neg, t.sig.from, mem::ofs(t, 0, 0)),
    neg_mem_elem: (store.$t:int $p@(idx reg reg $s) (neg.$t (load.$t $p))) -> void, 7 => |cx, t| cx.unary(Unary::Neg, t.sig.from, mem::elem(t, 0, 0)),
    neg_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (neg.$t (load.$t $p))) -> void, 7 => |cx, t| cx.unary(Unary::Neg, t.sig.from, mem::elem_ofs(t, 0, 0)),
    // not [mem]
    not_mem_base: (store.$t:int $p@reg (not.$t (load.$t $p))) -> void, 6 => |cx, t| cx.unary(Unary::Not, t.sig.from, mem::base(t, 0, 0)),
    not_mem_ofs: (store.$t:int $p@(addr reg $o) (not.$t (load.$t $p))) -> void, 6 => |cx, t| cx.unary(Unary::Not, t.sig.from, mem::ofs(t, 0, 0)),
    not_mem_elem: (store.$t:int $p@(idx reg reg $s) (not.$t (load.$t $p))) -> void, 7 => |cx, t| cx.unary(Unary::Not, t.sig.from, mem::elem(t, 0, 0)),
    not_mem_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (not.$t (load.$t $p))) -> void, 7 => |cx, t| cx.unary(Unary::Not, t.sig.from, mem::elem_ofs(t, 0, 0)),
    // shl [mem], imm
    shl_mem_const_base: (store.$t:int $p@reg (shl.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Shl, t.sig.from, mem::base(t, 0, 0), t.imm(0) & (t.sig.from.bits() as i64 - 1)),
    shl_mem_const_ofs: (store.$t:int $p@(addr reg $o) (shl.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Shl, t.sig.from, mem::ofs(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    shl_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (shl.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Shl, t.sig.from, mem::elem(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    shl_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (shl.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Shl, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2) & (t.sig.from.bits() as i64 - 1)),
    // shr [mem], imm
    shr_mem_const_base: (store.$t:int $p@reg (shr.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Shr, t.sig.from, mem::base(t, 0, 0), t.imm(0) & (t.sig.from.bits() as i64 - 1)),
    shr_mem_const_ofs: (store.$t:int $p@(addr reg $o) (shr.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Shr, t.sig.from, mem::ofs(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    shr_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (shr.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Shr, t.sig.from, mem::elem(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    shr_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (shr.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Shr, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2) & (t.sig.from.bits() as i64 - 1)),
    // sar [mem], imm
    sar_mem_const_base: (store.$t:int $p@reg (sar.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Sar, t.sig.from, mem::base(t, 0, 0), t.imm(0) & (t.sig.from.bits() as i64 - 1)),
    sar_mem_const_ofs: (store.$t:int $p@(addr reg $o) (sar.$t (load.$t $p) (const $c))) -> void, 6 => |cx, t| cx.shift_imm(Shift::Sar, t.sig.from, mem::ofs(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    sar_mem_const_elem: (store.$t:int $p@(idx reg reg $s) (sar.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Sar, t.sig.from, mem::elem(t, 0, 0), t.imm(1) & (t.sig.from.bits() as i64 - 1)),
    sar_mem_const_elem_ofs: (store.$t:int $p@(addr (idx reg reg $s) $o) (sar.$t (load.$t $p) (const $c))) -> void, 7 => |cx, t| cx.shift_imm(Shift::Sar, t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2) & (t.sig.from.bits() as i64 - 1)),
}
