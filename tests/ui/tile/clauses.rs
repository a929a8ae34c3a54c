mod a {
    azulejo::tile! { group a; add: (add.i64 reg reg) -> reg => |_, _| {} }
}
mod b {
    azulejo::tile! { group b; add: (add.i64 reg reg) -> reg, 2, tide(0) => |_, _| {} }
}
mod c {
    azulejo::tile! { group c; add: (add.i64 reg rag) -> reg, 2 => |_, _| {} }
}
mod d {
    azulejo::tile! { group d; add: (add.i65 reg reg) -> reg, 2 => |_, _| {} }
}
mod e {
    azulejo::tile! { group e; add: (add.i64 reg (const $c:imm16)) -> reg, 2 => |_, _| {} }
}
mod f {
    azulejo::tile! { group f; add: (add.i64 reg reg) -> reg, 2 }
}
azulejo::tileset! { pub static MINE: group = crate::a; }

fn main() {}
