//! Loads, stores, addresses, and arithmetic on memory.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use crate::encode::{Immediate, Mem};
use azulejo_macros::tile;

tile! {
    pub group memory;
    use super::address;

    // mov out, [mem]   mov [mem], reg   mov [mem], imm
    for mem {
        load: (load.$t:int mem) -> reg, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        loadf: (load.$t:float mem) -> num, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        load_sx_i8: (scast.i8.$t:i16|i32|i64 (load.i8 mem)) -> reg, 4 + mem => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem),
        load_zx_i8: (ucast.i8.$t:i16|i32|i64 (load.i8 mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.from, t.out(), mem),
        load_sx_i16: (scast.i16.$t:i32|i64 (load.i16 mem)) -> reg, 4 + mem => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem),
        load_zx_i16: (ucast.i16.$t:i32|i64 (load.i16 mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.from, t.out(), mem),
        load_sx_i32: (scast.i32.$t:i64 (load.i32 mem)) -> reg, 4 + mem => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem),
        load_zx_i32: (ucast.i32.$t:i64 (load.i32 mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.from, t.out(), mem),
        store: (store.$t:int mem reg) -> void, 4 + mem => |cx, t| cx.store(t.sig.from, mem, t.reg(1)),
        store_low: (store.$t:i8|i16|i32 mem (ucast.i64.$t reg)) -> void, 4 + mem => |cx, t| cx.store(t.sig.from, mem, t.reg(1)),
        store_const: (store.$t:int mem (const $c:imm32)) -> void, 4 + mem => |cx, t| cx.store(t.sig.from, mem, Immediate(t.imm(0))),
        storef: (store.$t:float mem num) -> void, 4 + mem => |cx, t| cx.store(t.sig.from, mem, t.reg(1)),
    }
    // the low bits of a value in memory, and its bits in the other register file
    for mem {
        load_low_i8: (ucast.$f:i64|i32|i16.i8 (load.$f mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        load_low_i16: (ucast.$f:i64|i32.i16 (load.$f mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        load_low_i32: (ucast.i64.i32 (load.i64 mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        load_as_float: (bitcast.$f:i32|i64.$t:float (load.$f mem)) -> num, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
        load_as_int: (bitcast.$f:float.$t:i32|i64 (load.$f mem)) -> reg, 4 + mem => |cx, t| cx.load(t.sig.ty, t.out(), mem),
    }
    // lea out, …
    addr: (addr reg $o) -> reg, 2 => |cx, t| cx.lea(true, t.out(), Mem::at(t.reg(0), t.imm(0))),
    idx: (idx reg reg $s) -> reg, 2 => |cx, t| cx.lea(true, t.out(), Mem::element(t.reg(0), t.reg(1), t.imm(0), 0)),
    addr_idx: (addr (idx reg reg $s) $o) -> reg, 3 => |cx, t| cx.lea(true, t.out(), Mem::element(t.reg(0), t.reg(1), t.imm(0), t.imm(1))),
}
