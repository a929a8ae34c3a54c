//! Users of flags, and exits from the function. Most exits are in `azulejo_code::emit::leave`.

use crate::emit::{Emitter, Tile};
use crate::encode::{Alu, Immediate, Mem};
use crate::regs::{INTERPRETED, RAX, RCX, RDX};
use azulejo_code::emit::leave::{leave_unfinished, leave_with};
use azulejo_core::ir::interpreted::{Dispatch, Field, Record};
use azulejo_core::ir::status::Left;
use azulejo_core::target::Reg;
use azulejo_core::vocab::Type;

/// Leaves the function before its end, through the exit `to`.
pub(in crate::tiles) fn exit(cx: &mut Emitter, to: i64) {
    cx.mov_imm(RAX.number(), Left::Exited.word(0) | to as u64);
    leave_unfinished(cx);
}

/// The field of the bytecode that a tile's constant says, and its place.
pub(in crate::tiles) fn field(t: &Tile<'_>) -> (Field, Mem) {
    let field = Field::of(t.imm(0) as u64);
    (field, Mem::at(INTERPRETED[0].number(), field.offset as i64))
}

/// Loads a field of the bytecode.
pub(in crate::tiles) fn load_field(cx: &mut Emitter, t: &Tile<'_>) {
    let (Field { ty, is_signed, .. }, place) = field(t);
    match is_signed && ty != Type::I64 {
        true => cx.movsx(ty, Type::I64, t.out(), place),
        false => cx.load(ty, t.out(), place),
    }
}

/// Goes on to the next bytecode, or to the one at the address in a register: jumps to the code of its opcode.
pub(in crate::tiles) fn dispatch(cx: &mut Emitter, to: Option<u8>, bits: i64) {
    let Dispatch { size, growth, is_wide, has_stack } = Dispatch::of(bits as u64);
    let [pc, record, kept] = INTERPRETED.map(Reg::number);
    let (opcode, table) = (RAX.number(), RCX.number());
    let ty = if is_wide { Type::I16 } else { Type::I8 };
    match to {
        None => {
            cx.movzx(ty, opcode, Mem::at(pc, size as i64));
            cx.alu(Alu::Add, Type::I64, pc, Immediate(size as i64));
        }
        Some(to) => {
            cx.mov(pc, to);
            cx.movzx(ty, opcode, Mem::at(pc, 0));
        }
    }
    if growth != 0 {
        cx.lea(true, kept, Mem::at(kept, growth as i64 * 8));
    }
    let table = match has_stack {
        true => {
            cx.load(Type::I64, table, Mem::at(record, Record::TABLE as i64));
            table
        }
        false => kept,
    };
    cx.jmp_to(Mem::element(table, opcode, 8, 0));
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
