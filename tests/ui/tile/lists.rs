mod empty {
    azulejo::tile! { group empty; for alu in [] { _: (alu.i64 reg reg) -> reg, 2 => |_, _| {} } }
}
mod name {
    azulejo::tile! { group name; for alu in [add: 1, sub: 2] { add: (alu.i64 reg reg) -> reg, 2 => |_, _| {} } }
}
mod unused {
    azulejo::tile! { group unused; for alu in [add: 1, sub: 2] { _: (add.i64 reg reg) -> reg, 2 => |_, _| {} } }
}
mod operand {
    azulejo::tile! { group operand; for alu in [add: 1, sub: 2] { _: (add.i64 alu reg) -> reg, 2 => |_, _| {} } }
}
mod nested {
    azulejo::tile! {
        group nested;
        for alu in [add: 1, sub: 2] { for unary in [neg: 1] { _: (alu.i64 (unary reg) reg) -> reg, 2 => |_, _| {} } }
    }
}
mod unknown {
    azulejo::tile! {
        group unknown;
        for alu in [add: 1, sup: 2] { _: (alu.i64 reg reg) -> reg, 2 => |_, t| { let _ = (alu, t); } }
    }
}
azulejo::tileset! { pub static MINE: groups = crate::unknown; partial; }

fn main() {}
