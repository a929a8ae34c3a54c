mod tiles {
    azulejo::tile! {
        pub group tiles;
        add: (add.i64 reg reg) -> reg, 2, tied(0) => |cx, t| cx.mov(t.out(), t.reg(1)),
    }
}

// a set that extends nothing
azulejo::tileset! { pub static ALONE: machine = azulejo::x64; groups = crate::tiles; }

mod costless {
    azulejo::tile! {
        pub group costless;
        // no cost; the set below is not reported as well
        add: (add.i64 reg reg) -> reg, tied(0) => |cx, t| cx.mov(t.out(), t.reg(1)),
    }
}

azulejo::tileset! { pub static MORE: extends azulejo::x64::X64; groups = crate::costless; }

fn main() {}
