use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
}

template! {
    Op::A => (add $a 1)
    Other::A => (add $a 1)
}

fn main() {}
