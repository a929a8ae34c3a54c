mod tiles {
    azulejo::tile! {
        pub group tiles;
        shift: (shl.i64 reg reg) -> reg, 2, fixed(1 = cl) => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! { pub static MINE: groups = crate::tiles; partial; }

fn main() {}
