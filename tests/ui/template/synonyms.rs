use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Jump { a: In<i64>, to: Label },
    Move { dst: Out<i64>, a: In<i64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Widen { dst: Out<i64>, a: In<i32> },
    Multiply { dst: Out<i64>, a: In<i64>, b: In<i64> },
}

template! {
    Op::Jump   => (when (lt $a 3) (goto $to))
    Op::Move   => (mov $a)
    Op::Divide => (sdiv $a $b)
    Op::Widen  => (sext $a)
    Op::Multiply => (checked_mul $a $b)
}

fn main() {}
