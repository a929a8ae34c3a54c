mod tiles {
    azulejo::tile! {
        pub group tiles;
        sum: (ad.i64 reg reg) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
        bits: (popcnt.i64 reg) -> reg, 2, needs(bmi3) => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

azulejo::tileset! { pub static MINE: features = bmi1 bmi2; groups = crate::tiles; partial; }

fn main() {}
