//! Emit the allocator's moves.
//!
//! In: a move between registers, spill slots and arguments on the stack, or of a constant. Out: its code, which changes no flag
//! and no other register.

use crate::emit::{Emitter, stack_mem};
use crate::encode::{Immediate, Mem};
use azulejo_code::emit::slot_offset;
use azulejo_core::ir::assignment::{Loc, Move, Source};
use azulejo_core::vocab::Type;

/// Emits one of the allocator's moves.
pub(crate) fn emit_move(cx: &mut Emitter, Move { from, to, ty, .. }: &Move, out_args: u16) {
    let mem = |loc: Loc| match loc {
        Loc::Slot(slot) => Some(stack_mem(slot_offset(out_args, slot))),
        Loc::OutArg(at) => Some(stack_mem(slot_offset(0, at as u32))),
        Loc::Reg(_) => None,
    };
    let is_float = ty.is_float();
    match (*from, *to) {
        (Source::Const(bits), Loc::Reg(to)) if !is_float => cx.mov_imm(to.number(), bits),
        (Source::Const(bits), to) => move_const(cx, bits, to, *ty, mem(to)),
        (Source::Loc(Loc::Reg(from)), Loc::Reg(to)) if is_float => {
            cx.movaps(to.number(), from.number());
        }
        (Source::Loc(Loc::Reg(from)), Loc::Reg(to)) => cx.mov(to.number(), from.number()),
        (Source::Loc(Loc::Reg(from)), to) => {
            let mem = mem(to).expect("it is no register");
            // A whole slot is written, so that it can be copied as a whole.
            match is_float {
                true => cx.store(Type::F64, mem, from.number()),
                false => cx.store(Type::I64, mem, from.number()),
            }
        }
        (Source::Loc(from), Loc::Reg(to)) => {
            let mem = mem(from).expect("it is no register");
            match is_float {
                true => cx.load(Type::F64, to.number(), mem),
                false => cx.load(Type::I64, to.number(), mem),
            }
        }
        (Source::Loc(from), to) => {
            // `pop` computes an address relative to `rsp` after it has increased `rsp`.
            cx.push64(mem(from).expect("it is no register"));
            cx.pop64(mem(to).expect("it is no register"));
        }
    }
}

/// Moves a constant to a float register or to the stack, without a free register and without changing flags.
fn move_const(cx: &mut Emitter, bits: u64, to: Loc, ty: Type, mem: Option<Mem>) {
    match (to, mem) {
        (Loc::Reg(to), _) => cx.float_constant(ty, to.number(), bits),
        (_, Some(mem)) => {
            cx.store(Type::I32, mem, Immediate(bits as u32 as i32 as i64));
            let upper = Mem { disp: mem.disp + 4, ..mem };
            cx.store(Type::I32, upper, Immediate((bits >> 32) as u32 as i32 as i64));
        }
        (_, None) => unreachable!("what is in no register is in memory"),
    }
}
