//! Atomic accesses. On this machine every load acquires, every store releases, and what is locked is in one order for all.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use super::sequences::atomic::*;
use crate::encode::Alu;
use azulejo_macros::tile;

tile! {
    pub group atomic;

    atomic_load_base: (atomic_load.$t:int reg $o) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    atomic_load_ofs: (atomic_load.$t:int (addr reg $d) $o) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    atomic_store_base: (atomic_store.$t:int reg reg $o) -> void, 20, temp(int) => |cx, t| atomic_store(cx, t, mem::base(t, 0, 0), t.imm(0)),
    atomic_store_ofs: (atomic_store.$t:int (addr reg $d) reg $o) -> void, 20, temp(int) => |cx, t| atomic_store(cx, t, mem::ofs(t, 0, 0), t.imm(1)),
    atomic_swap_base: (atomic_swap.$t:int reg reg $o) -> reg, 20, tied(1) => |cx, t| cx.exchange(t.sig.ty, mem::base(t, 0, 0), t.out()),
    atomic_swap_ofs: (atomic_swap.$t:int (addr reg $d) reg $o) -> reg, 20, tied(1) => |cx, t| cx.exchange(t.sig.ty, mem::ofs(t, 0, 0), t.out()),
    atomic_add_base: (atomic_add.$t:int reg reg $o) -> reg, 20, tied(1) => |cx, t| cx.exchange_and_add(t.sig.ty, mem::base(t, 0, 0), t.out()),
    atomic_add_ofs: (atomic_add.$t:int (addr reg $d) reg $o) -> reg, 20, tied(1) => |cx, t| cx.exchange_and_add(t.sig.ty, mem::ofs(t, 0, 0), t.out()),
    // what was there comes in rax, and is tried until nobody came between
    atomic_and_base: (atomic_and.$t:int reg reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::base(t, 0, 0), Alu::And),
    atomic_and_ofs: (atomic_and.$t:int (addr reg $d) reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::ofs(t, 0, 0), Alu::And),
    atomic_or_base: (atomic_or.$t:int reg reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::base(t, 0, 0), Alu::Or),
    atomic_or_ofs: (atomic_or.$t:int (addr reg $d) reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::ofs(t, 0, 0), Alu::Or),
    atomic_xor_base: (atomic_xor.$t:int reg reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::base(t, 0, 0), Alu::Xor),
    atomic_xor_ofs: (atomic_xor.$t:int (addr reg $d) reg $o) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, mem::ofs(t, 0, 0), Alu::Xor),
    atomic_cas_base: (atomic_cas.$t:int reg reg reg $o) -> reg, 20, fixed(1 = rax), fixed(out = rax) => |cx, t| cx.compare_and_exchange(t.sig.ty, mem::base(t, 0, 0), t.reg(2)),
    atomic_cas_ofs: (atomic_cas.$t:int (addr reg $d) reg reg $o) -> reg, 20, fixed(1 = rax), fixed(out = rax) => |cx, t| cx.compare_and_exchange(t.sig.ty, mem::ofs(t, 0, 0), t.reg(2)),
}
