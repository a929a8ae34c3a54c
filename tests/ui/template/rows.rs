use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
}

template! {
    Op::A (add $a 1)
    Op::B => (add $a 1),
    Op::C => (add $a 1);
    Op::D => $a + 1
}

fn main() {}
