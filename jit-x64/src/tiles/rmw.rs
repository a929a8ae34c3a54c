//! Arithmetic that reads memory, or reads and writes it.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::int::shift_count;
use crate::encode::{Alu, Immediate, Shift, Unary};
use azulejo_macros::tile;

tile! {
    pub group rmw;
    use super::address;

    // add out, [mem]   add [mem], reg   add [mem], imm
    for alu in [add: Alu::Add, sub: Alu::Sub, and: Alu::And, or: Alu::Or, xor: Alu::Xor] {
        for mem {
            _load: (alu.$t:int reg (load.$t mem)) -> reg, 5 + mem, tied(0) => |cx, t| cx.alu(alu, t.sig.ty, t.out(), mem),
            _mem: (store.$t:int $p@mem (alu.$t (load.$t $p) reg)) -> void, 6 + mem => |cx, t| cx.alu(alu, t.sig.from, mem, t.reg(1)),
            _mem_const: (store.$t:int $p@mem (alu.$t (load.$t $p) (const $c:imm32))) -> void, 6 + mem => |cx, t| cx.alu(alu, t.sig.from, mem, Immediate(t.imm(0))),
        }
    }
    // neg [mem]
    for unary in [neg: Unary::Neg, not: Unary::Not] {
        _mem: (store.$t:int $p@mem (unary.$t (load.$t $p))) -> void, 6 + mem => |cx, t| cx.unary(unary, t.sig.from, mem),
    }
    // shl [mem], imm
    for shift in [shl: Shift::Shl, shr: Shift::Shr, sar: Shift::Sar] {
        _mem_const: (store.$t:int $p@mem (shift.$t (load.$t $p) (const $c))) -> void, 6 + mem => |cx, t| cx.shift(shift, t.sig.from, mem, shift_count(t.sig.from, t.imm(0))),
    }
}
