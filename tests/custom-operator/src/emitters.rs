//! Tiles that show the API of emitters; `docs/emitters.md` quotes them. They replace azulejo's own tiles for the same
//! patterns.

#![allow(clippy::useless_conversion, reason = "dynasm! converts registers whatever they are")]

pub mod tiles {
    //! The tiles.

    use azulejo::x64::encode::{Alu, Bits, Immediate, Rm};
    use azulejo::x64::{Cond, Mem, Type};
    use dynasmrt::{DynasmApi, dynasm};

    azulejo::tile! {
        pub group own;
        use azulejo::x64::tiles::address;

        // Registers, with the assembler.
        my_sub: (sub.i64 reg reg) -> reg, 1, tied(0) => |cx, t| {
            dynasm!(cx; .arch x64; sub Rq(t.out()), Rq(t.reg(1)))
        },
        // The same with a method, for every width, and with an operand that may be in memory: two tiles, `xor_own` and `or_own`.
        for alu in [xor: Alu::Xor, or: Alu::Or] {
            _own: (alu.$t:i32|i64 reg reg) -> reg, 1, tied(0), any(1) => |cx, t| {
                cx.alu(alu, t.sig.ty, t.out(), t.place(1))
            },
        }
        // A constant.
        my_add: (add.i64 reg (const $c:imm32)) -> reg, 1, tied(0) => |cx, t| {
            cx.alu(Alu::Add, Type::I64, t.out(), Immediate(t.imm(0)))
        },
        // A scratch register, and memory, wherever that is: a tile for each alternative of the form `mem`, which is in `address`.
        my_and: (and.i64 reg (load.i64 mem)) -> reg, 1 + mem, tied(0), temp(int) => |cx, t| {
            cx.load(Type::I64, t.temp(0), mem);
            cx.alu(Alu::And, Type::I64, t.out(), t.temp(0));
        },
        // A form of this group's own: a register, or what is in memory, as one operand.
        form source {
            register: reg => |t| Rm::from(t.reg(0)),
            field: (load.i64 (addr reg $offset)), 3 => |t| Rm::from(Mem::at(t.reg(0), t.imm(0))),
        }
        my_mul: (mul.i64 reg source) -> reg, 1 + source, tied(0) => |cx, t| cx.imul(Type::I64, t.out(), source),
        // A flag: the tile leaves it in the CPU, and says which condition it is.
        my_lt: (lt.i64 reg reg) -> flag, 0 => |cx, t| {
            cx.alu(Alu::Cmp, Type::I64, t.reg(0), t.reg(1));
            cx.flag(Cond::L);
        },
        // A flag is consumed: the condition is what the tile before said. A float comparison needs two flags of the
        // CPU, so a condition is best left to these methods.
        my_flagval: (flagval.i64 flag) -> reg, 1, temp(int) => |cx, t| {
            let condition = cx.condition();
            cx.set_if(condition, t.out(), t.temp(0));
            cx.movzx(Type::I8, t.out(), t.out());
        },
        my_select: (select.i64 flag reg reg) -> reg, 1, tied(1) => |cx, t| {
            let condition = cx.condition();
            let (so, out) = (t.reg(0), t.out());
            cx.move_if(condition, true, out, so);
        },
        my_select_narrow: (select.i32 flag reg reg) -> reg, 1, tied(1) => |cx, t| {
            let condition = cx.condition();
            let (so, out) = (t.reg(0), t.out());
            cx.only_if(condition, |cx| cx.mov(out, so));
        },
        // The ends of blocks.
        my_jump: (jump) -> void, 1 => |cx, _| cx.jump(),
        my_branch: (br flag) -> void, 1 => |cx, _| cx.branch(),
        my_switch: (switch reg) -> void, 1, temp(int), temp(int) => |cx, t| {
            cx.switch(t.reg(0), t.temp(0), t.temp(1))
        },
        // Jumps within a tile: a loop that takes the lowest one away and counts. The result is written before the operand
        // was read for the last time: `early`.
        my_popcnt: (popcnt.i64 reg) -> reg, 1, early, temp(int), temp(int) => |cx, t| {
            let (count, rest, less) = (t.out(), t.temp(0), t.temp(1));
            cx.mov(rest, t.reg(0));
            cx.mov_imm(count, 0);
            let again = cx.here();
            cx.alu(Alu::Test, Type::I64, rest, rest);
            let done = cx.skip(Cond::E);
            cx.lea(true, less, Mem::at(rest, -1));
            cx.alu(Alu::And, Type::I64, rest, less);
            cx.alu(Alu::Add, Type::I64, count, Immediate(1));
            cx.skip_back(None, again);
            cx.land(done);
        },
        my_not: (not.i64 reg) -> reg, 1, tied(0) => |cx, t| {
            let over = cx.skip(None);
            dynasm!(cx; .arch x64; .bytes b"jumped over");
            cx.land(over);
            dynasm!(cx; .arch x64; not Rq(t.out()))
        },
        // Constants behind the code.
        my_neg: (neg.f64 num) -> num, 1, tied(0) => |cx, t| {
            let sign = cx.constant(1 << 63);
            cx.sse_bits(Bits::Xor, t.out(), sign);
        },
        my_const: (const.f64 $c) -> num, 1 => |cx, t| {
            cx.float_constant(Type::F64, t.out(), t.imm(0) as u64)
        },
    }
}

azulejo::tileset! {
    pub static TILES:
    extends azulejo::x64::X64;
    groups = crate::emitters::tiles;
}
