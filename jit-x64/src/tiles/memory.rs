//! Loads, stores, addresses, and arithmetic on memory.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::mem;
use azulejo_macros::tile;

tile! {
    pub group memory;

    // mov out, base
    load_base: (load.$t:int reg) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    loadf_base: (load.$t:float reg) -> num, 4 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_sx_i8_base: (scast.i8.$t:i16|i32|i64 (load.i8 reg)) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_zx_i8_base: (ucast.i8.$t:i16|i32|i64 (load.i8 reg)) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::base(t, 0, 0)),
    load_sx_i16_base: (scast.i16.$t:i32|i64 (load.i16 reg)) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_zx_i16_base: (ucast.i16.$t:i32|i64 (load.i16 reg)) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::base(t, 0, 0)),
    load_sx_i32_base: (scast.i32.$t:i64 (load.i32 reg)) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_zx_i32_base: (ucast.i32.$t:i64 (load.i32 reg)) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::base(t, 0, 0)),
    store_base: (store.$t:int reg reg) -> void, 4 => |cx, t| cx.store(t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    store_low_base: (store.$t:i8|i16|i32 reg (ucast.i64.$t reg)) -> void, 4 => |cx, t| cx.store(t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    store_const_base: (store.$t:int reg (const $c:imm32)) -> void, 4 => |cx, t| cx.store_imm(t.sig.from, mem::base(t, 0, 0), t.imm(0)),
    storef_base: (store.$t:float reg num) -> void, 4 => |cx, t| cx.store_float(t.sig.from, mem::base(t, 0, 0), t.reg(1)),
    // mov out, ofs
    load_ofs: (load.$t:int (addr reg $o)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    loadf_ofs: (load.$t:float (addr reg $o)) -> num, 4 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_sx_i8_ofs: (scast.i8.$t:i16|i32|i64 (load.i8 (addr reg $o))) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_zx_i8_ofs: (ucast.i8.$t:i16|i32|i64 (load.i8 (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::ofs(t, 0, 0)),
    load_sx_i16_ofs: (scast.i16.$t:i32|i64 (load.i16 (addr reg $o))) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_zx_i16_ofs: (ucast.i16.$t:i32|i64 (load.i16 (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::ofs(t, 0, 0)),
    load_sx_i32_ofs: (scast.i32.$t:i64 (load.i32 (addr reg $o))) -> reg, 4 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_zx_i32_ofs: (ucast.i32.$t:i64 (load.i32 (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.from, t.out(), mem::ofs(t, 0, 0)),
    store_ofs: (store.$t:int (addr reg $o) reg) -> void, 4 => |cx, t| cx.store(t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    store_low_ofs: (store.$t:i8|i16|i32 (addr reg $o) (ucast.i64.$t reg)) -> void, 4 => |cx, t| cx.store(t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    store_const_ofs: (store.$t:int (addr reg $o) (const $c:imm32)) -> void, 4 => |cx, t| cx.store_imm(t.sig.from, mem::ofs(t, 0, 0), t.imm(1)),
    storef_ofs: (store.$t:float (addr reg $o) num) -> void, 4 => |cx, t| cx.store_float(t.sig.from, mem::ofs(t, 0, 0), t.reg(1)),
    // mov out, elem
    load_elem: (load.$t:int (idx reg reg $s)) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    loadf_elem: (load.$t:float (idx reg reg $s)) -> num, 5 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_sx_i8_elem: (scast.i8.$t:i16|i32|i64 (load.i8 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_zx_i8_elem: (ucast.i8.$t:i16|i32|i64 (load.i8 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem(t, 0, 0)),
    load_sx_i16_elem: (scast.i16.$t:i32|i64 (load.i16 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_zx_i16_elem: (ucast.i16.$t:i32|i64 (load.i16 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem(t, 0, 0)),
    load_sx_i32_elem: (scast.i32.$t:i64 (load.i32 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_zx_i32_elem: (ucast.i32.$t:i64 (load.i32 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem(t, 0, 0)),
    store_elem: (store.$t:int (idx reg reg $s) reg) -> void, 5 => |cx, t| cx.store(t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    store_low_elem: (store.$t:i8|i16|i32 (idx reg reg $s) (ucast.i64.$t reg)) -> void, 5 => |cx, t| cx.store(t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    store_const_elem: (store.$t:int (idx reg reg $s) (const $c:imm32)) -> void, 5 => |cx, t| cx.store_imm(t.sig.from, mem::elem(t, 0, 0), t.imm(1)),
    storef_elem: (store.$t:float (idx reg reg $s) num) -> void, 5 => |cx, t| cx.store_float(t.sig.from, mem::elem(t, 0, 0), t.reg(2)),
    // mov out, elem_ofs
    load_elem_ofs: (load.$t:int (addr (idx reg reg $s) $o)) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    loadf_elem_ofs: (load.$t:float (addr (idx reg reg $s) $o)) -> num, 5 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_sx_i8_elem_ofs: (scast.i8.$t:i16|i32|i64 (load.i8 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_zx_i8_elem_ofs: (ucast.i8.$t:i16|i32|i64 (load.i8 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem_ofs(t, 0, 0)),
    load_sx_i16_elem_ofs: (scast.i16.$t:i32|i64 (load.i16 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_zx_i16_elem_ofs: (ucast.i16.$t:i32|i64 (load.i16 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem_ofs(t, 0, 0)),
    load_sx_i32_elem_ofs: (scast.i32.$t:i64 (load.i32 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.movsx(t.sig.from, t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_zx_i32_elem_ofs: (ucast.i32.$t:i64 (load.i32 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.from, t.out(), mem::elem_ofs(t, 0, 0)),
    store_elem_ofs: (store.$t:int (addr (idx reg reg $s) $o) reg) -> void, 5 => |cx, t| cx.store(t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    store_low_elem_ofs: (store.$t:i8|i16|i32 (addr (idx reg reg $s) $o) (ucast.i64.$t reg)) -> void, 5 => |cx, t| cx.store(t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    store_const_elem_ofs: (store.$t:int (addr (idx reg reg $s) $o) (const $c:imm32)) -> void, 5 => |cx, t| cx.store_imm(t.sig.from, mem::elem_ofs(t, 0, 0), t.imm(2)),
    storef_elem_ofs: (store.$t:float (addr (idx reg reg $s) $o) num) -> void, 5 => |cx, t| cx.store_float(t.sig.from, mem::elem_ofs(t, 0, 0), t.reg(2)),
    // the low bits of what is in memory, and the same bits in the other register file
    load_low_i8_base: (ucast.$f:i64|i32|i16.i8 (load.$f reg)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_low_i16_base: (ucast.$f:i64|i32.i16 (load.$f reg)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_low_i32_base: (ucast.i64.i32 (load.i64 reg)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_as_float_base: (bitcast.$f:i32|i64.$t:float (load.$f reg)) -> num, 4 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_as_int_base: (bitcast.$f:float.$t:i32|i64 (load.$f reg)) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::base(t, 0, 0)),
    load_low_i8_ofs: (ucast.$f:i64|i32|i16.i8 (load.$f (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_low_i16_ofs: (ucast.$f:i64|i32.i16 (load.$f (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_low_i32_ofs: (ucast.i64.i32 (load.i64 (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_as_float_ofs: (bitcast.$f:i32|i64.$t:float (load.$f (addr reg $o))) -> num, 4 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_as_int_ofs: (bitcast.$f:float.$t:i32|i64 (load.$f (addr reg $o))) -> reg, 4 => |cx, t| cx.load(t.sig.ty, t.out(), mem::ofs(t, 0, 0)),
    load_low_i8_elem: (ucast.$f:i64|i32|i16.i8 (load.$f (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_low_i16_elem: (ucast.$f:i64|i32.i16 (load.$f (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_low_i32_elem: (ucast.i64.i32 (load.i64 (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_as_float_elem: (bitcast.$f:i32|i64.$t:float (load.$f (idx reg reg $s))) -> num, 5 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_as_int_elem: (bitcast.$f:float.$t:i32|i64 (load.$f (idx reg reg $s))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem(t, 0, 0)),
    load_low_i8_elem_ofs: (ucast.$f:i64|i32|i16.i8 (load.$f (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_low_i16_elem_ofs: (ucast.$f:i64|i32.i16 (load.$f (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_low_i32_elem_ofs: (ucast.i64.i32 (load.i64 (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_as_float_elem_ofs: (bitcast.$f:i32|i64.$t:float (load.$f (addr (idx reg reg $s) $o))) -> num, 5 => |cx, t| cx.load_float(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    load_as_int_elem_ofs: (bitcast.$f:float.$t:i32|i64 (load.$f (addr (idx reg reg $s) $o))) -> reg, 5 => |cx, t| cx.load(t.sig.ty, t.out(), mem::elem_ofs(t, 0, 0)),
    // lea out, …
    addr: (addr reg $o) -> reg, 2 => |cx, t| cx.lea(true, t.out(), mem::ofs(t, 0, 0)),
    idx: (idx reg reg $s) -> reg, 2 => |cx, t| cx.lea(true, t.out(), mem::elem(t, 0, 0)),
    addr_idx: (addr (idx reg reg $s) $o) -> reg, 3 => |cx, t| cx.lea(true, t.out(), mem::elem_ofs(t, 0, 0)),
}
