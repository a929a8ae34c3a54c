//! Atomic accesses that take more than one instruction.

use crate::emit::{Cond, Emitter, Tile};
use crate::encode::{Alu, Atomic, Mem};
use azulejo_core::vocab::atomic::Order;

/// A plain store releases. A sequentially consistent one must also wait until other threads see it: it is an exchange.
pub(in crate::tiles) fn atomic_store(cx: &mut Emitter, t: &Tile<'_>, mem: Mem, order: i64) {
    let (ty, value) = (t.sig.from, t.reg(1));
    if Order::of(order as u64) == Order::SeqCst {
        cx.mov(t.temp(0), value);
        cx.atomic(Atomic::Exchange, ty, mem, t.temp(0));
    } else {
        cx.store(ty, mem, value);
    }
}

/// Computes the new value from the old one, and stores it unless another thread has changed memory meanwhile; then it retries.
pub(in crate::tiles) fn atomic_change(cx: &mut Emitter, t: &Tile<'_>, mem: Mem, alu: Alu) {
    let (ty, old, new) = (t.sig.ty, t.out(), t.temp(0));
    cx.load(ty, old, mem);
    let again = cx.here();
    cx.mov(new, old);
    cx.alu(alu, ty, new, t.reg(1));
    cx.atomic(Atomic::CompareExchange, ty, mem, new);
    cx.skip_back(Cond::Ne, again);
}
