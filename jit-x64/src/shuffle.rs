//! Emit the allocator's moves.
//!
//! In: a move between registers, spill slots and arguments on the stack, or of a constant. Out: its code, which changes no flag
//! and no other register.

use crate::emit::{Emitter, stack_mem};
use crate::encode::{Immediate, Mem};
use azulejo_code::emit::stack_offset;
use azulejo_core::ir::assignment::{Loc, Move, Source};
use azulejo_core::vocab::Type;

/// Emits one of the allocator's moves.
pub(crate) fn emit_move(cx: &mut Emitter, Move { from, to, ty, .. }: &Move, out_args: u16) {
    let mem = |loc: Loc| stack_mem(stack_offset(loc, out_args).expect("it is no register"));
    // A whole slot is written, so that it can be copied as a whole.
    let whole = if ty.is_float() { Type::F64 } else { Type::I64 };
    match (*from, *to) {
        (Source::Const(bits), Loc::Reg(to)) if ty.is_float() => cx.float_constant(*ty, to.number(), bits),
        (Source::Const(bits), Loc::Reg(to)) => cx.mov_const(*ty, to.number(), bits),
        // No register is free, and the flags stay.
        (Source::Const(bits), to) => {
            let lower = mem(to);
            let upper = Mem { disp: lower.disp + 4, ..lower };
            cx.store(Type::I32, lower, Immediate(bits as i32 as i64));
            cx.store(Type::I32, upper, Immediate((bits >> 32) as i32 as i64));
        }
        (Source::Loc(Loc::Reg(from)), Loc::Reg(to)) if ty.is_float() => cx.movaps(to.number(), from.number()),
        (Source::Loc(Loc::Reg(from)), Loc::Reg(to)) => cx.mov(to.number(), from.number()),
        (Source::Loc(Loc::Reg(from)), to) => cx.store(whole, mem(to), from.number()),
        (Source::Loc(from), Loc::Reg(to)) => cx.load(whole, to.number(), mem(from)),
        (Source::Loc(from), to) => {
            // `pop` computes an address relative to `rsp` after it has increased `rsp`.
            cx.push64(mem(from));
            cx.pop64(mem(to));
        }
    }
}
