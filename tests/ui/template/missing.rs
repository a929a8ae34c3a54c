use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Sub { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Add    => (add $a $b)
    Op::Return => (return $a)
}

fn main() {}
