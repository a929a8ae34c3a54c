use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
}

template! {
    macro ^two (,x) (add ,x ,x)

    Op::A => (^two $a $a)
    Op::B => (^twoo $a)
    Op::C => (^two (lt $a $a))
}

fn main() {}
