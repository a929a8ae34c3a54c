//! Users of flags, and exits from the function. Most exits are in `azulejo_code::emit::leave`.

use crate::emit::{Emitter, Tile};
use crate::encode::Alu;
use crate::regs::{RAX, RDX};
use azulejo_code::emit::leave::{leave_unfinished, leave_with};
use azulejo_core::ir::status::Left;
use azulejo_core::vocab::Type;

/// Leaves the function before its end, through the exit `to`.
pub(in crate::tiles) fn exit(cx: &mut Emitter, to: i64) {
    cx.mov_imm(RAX.number(), Left::Exited.word(0) | to as u64);
    leave_unfinished(cx);
}

/// Calls a function at a known address. `rax` holds no argument in any convention, and no value across a call.
pub(in crate::tiles) fn call_known(cx: &mut Emitter, t: &Tile<'_>) {
    cx.call_address(t.imm(0) as u64, RAX.number());
}

/// Returns nothing, or the integer of this type in `rdx`, zero-extended.
pub(in crate::tiles) fn give_back(cx: &mut Emitter, ty: Option<Type>) {
    let value = RDX.number();
    match ty {
        None => cx.alu(Alu::Xor, Type::I32, value, value),
        Some(Type::I64) => {}
        Some(narrow) => cx.movzx(narrow, value, value),
    }
    leave_with(cx, 0);
}

/// One or zero, zero-extended to a whole register.
pub(in crate::tiles) fn flag_value(cx: &mut Emitter, t: &Tile<'_>) {
    let condition = cx.condition();
    cx.set_if(condition, t.out(), t.temp(0));
    cx.movzx(Type::I8, t.out(), t.out());
}

/// The result starts as the second value and becomes the first if the flag holds.
pub(in crate::tiles) fn choose(cx: &mut Emitter, t: &Tile<'_>) {
    let condition = cx.condition();
    cx.move_if(condition, t.sig.ty == Type::I64, t.out(), t.reg(0));
}

/// As [`choose`], around a jump: there is no conditional move between float registers.
pub(in crate::tiles) fn choose_float(cx: &mut Emitter, t: &Tile<'_>) {
    let condition = cx.condition();
    let (out, so) = (t.out(), t.reg(0));
    cx.only_if(condition, |cx| cx.movaps(out, so));
}
