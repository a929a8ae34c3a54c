mod my_ops {
    azulejo::operators! {
        twist: (same same) -> same, i32|i64, pure => |sig, a| Ok(sig.ty.truncate(a[0] ^ !a[1])),
    }
}

mod tiles {
    azulejo::tile! {
        pub group tiles;
        twist: (twist.i64 reg reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! {
    pub static MINE: extends azulejo::x64::X64; operators = crate::my_ops; groups = crate::tiles;
}

fn main() {}
