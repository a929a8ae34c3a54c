//! Comparisons set the flags, and the instruction that uses them follows at once.
//!
//! Rows only; sequences of several instructions are in [`super::sequences`].

use super::sequences::compare::*;
use crate::emit::Cond;
use crate::encode::Immediate;
use azulejo_macros::tile;

tile! {
    pub group compare;
    use super::address;

    // cmp a, b   cmp a, imm   cmp a, [mem]   cmp [mem], imm
    for order in [lt: Cond::L, le: Cond::Le, ge: Cond::Ge, gt: Cond::G, ult: Cond::B, ule: Cond::Be, uge: Cond::Ae, ugt: Cond::A] {
        _: (order.$t:int reg reg) -> flag, 2 => |cx, t| compare(cx, t, t.reg(0), t.reg(1), order),
        _const: (order.$t:int reg (const $c:imm32)) -> flag, 2 => |cx, t| compare_const(cx, t, t.reg(0), t.imm(0), order),
        for mem {
            _load: (order.$t:int reg (load.$t mem)) -> flag, 5 => |cx, t| compare(cx, t, t.reg(0), mem, order),
            _mem: (order.$t:int (load.$t mem) reg) -> flag, 5 => |cx, t| compare(cx, t, t.reg(1), mem, order.swapped()),
            _mem_const: (order.$t:int (load.$t mem) (const $c:imm32)) -> flag, 5 => |cx, t| compare(cx, t, mem, Immediate(t.imm(0)), order),
        }
    }
    for equality in [eq: Cond::E, ne: Cond::Ne] {
        _: (equality.$t:int reg reg) -> flag, 2 => |cx, t| compare(cx, t, t.reg(0), t.reg(1), equality),
        _const: (equality.$t:int reg (const $c:imm32)) -> flag, 2 => |cx, t| compare_const(cx, t, t.reg(0), t.imm(0), equality),
        for mem {
            _load: (equality.$t:int reg (load.$t mem)) -> flag, 5 => |cx, t| compare(cx, t, t.reg(0), mem, equality),
            _mem_const: (equality.$t:int (load.$t mem) (const $c:imm32)) -> flag, 5 => |cx, t| compare(cx, t, mem, Immediate(t.imm(0)), equality),
        }
    }
}
