//! Atomic accesses. On this machine every load acquires, every store releases, and locked instructions are in one total order.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::atomic::*;
use crate::encode::{Alu, Atomic};
use azulejo_macros::tile;

tile! {
    pub group atomic;
    use super::address;

    atomic_load: (atomic_load.$t:int near $order) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), near),
    atomic_store: (atomic_store.$t:int near reg $order) -> void, 20, temp(int) => |cx, t| atomic_store(cx, t, near, t.imm(0)),
    atomic_swap: (atomic_swap.$t:int near reg $order) -> reg, 20, tied(1) => |cx, t| cx.atomic(Atomic::Exchange, t.sig.ty, near, t.out()),
    atomic_add: (atomic_add.$t:int near reg $order) -> reg, 20, tied(1) => |cx, t| cx.atomic(Atomic::Add, t.sig.ty, near, t.out()),
    // the old value is in rax; the exchange is retried until no other thread has changed memory in between
    for change in [atomic_and: Alu::And, atomic_or: Alu::Or, atomic_xor: Alu::Xor] {
        _: (change.$t:int near reg $order) -> reg, 30, fixed(out = rax), early, temp(int) => |cx, t| atomic_change(cx, t, near, change),
    }
    atomic_cas: (atomic_cas.$t:int near reg reg $order) -> reg, 20, fixed(1 = rax), fixed(out = rax) => |cx, t| cx.atomic(Atomic::CompareExchange, t.sig.ty, near, t.reg(2)),
}
