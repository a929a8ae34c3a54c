mod tiles {
    azulejo::tile! {
        pub group tiles;
        arity: (add.i64 reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        suffix: (add.i32.i64 reg reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        types: (add.i64 reg (neg num)) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        result: (add.i64 reg reg) -> num, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        lowered: (when flag void) -> void, 2 => |_, _| {},
        constant: (add.i64 reg reg $c) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        predicate: (addr reg $c:imm8) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        nothing: (add.i64 void reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! { pub static MINE: groups = crate::tiles; partial; }

fn main() {}
