mod condition {
    azulejo::tile! {
        pub group condition;
        // a condition without a name
        one: (add.i64 reg (const :one)) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

mod number {
    azulejo::tile! {
        pub group number;
        // a number
        two: (add.i64 reg (const 2)) -> reg, 2 => |cx, t| cx.mov(t.out(), t.reg(0)),
    }
}

fn main() {}
