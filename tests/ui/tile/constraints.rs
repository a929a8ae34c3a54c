mod tiles {
    azulejo::tile! {
        pub group tiles;
        range: (add.i64 reg reg) -> reg, 2, tied(2) => |cx, t| cx.mov(t.out(), t.reg(0)),
        late: (sub.i64 reg reg) -> reg, 2, tied(0), late(0) => |cx, t| cx.mov(t.out(), t.reg(0)),
        twice: (mul.i64 reg reg) -> reg, 2, fixed(0 = rax), fixed(0 = rcx) => |cx, t| cx.mov(t.out(), t.reg(0)),
        both: (and.i64 reg reg) -> reg, 2, fixed(0 = rax), fixed(1 = rax) => |cx, t| cx.mov(t.out(), t.reg(0)),
        class: (stof.i64.f64 reg) -> num, 2, tied(0) => |cx, t| cx.mov(t.out(), t.reg(0)),
        none: (lt.i64 reg reg) -> flag, 2, early => |_, _| {},
        lost: (or.i64 reg reg) -> reg, 2, fixed(out = rax), clobber(rax) => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! { pub static MINE: groups = crate::tiles; partial; }

fn main() {}
