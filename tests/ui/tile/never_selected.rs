mod tiles {
    azulejo::tile! {
        pub group tiles;
        add: (add.$t:int reg reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        again: (add.i32|i64 reg reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        load: (load.$t:int reg) -> reg, 4 => |cx, t| cx.mov(t.out(), t.reg(0)),
        dear: (add.i64 reg (load reg)) -> reg, 7 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! { pub static MINE: groups = crate::tiles; partial; }

fn main() {}
