use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
}

template! {
    macro ^two (,x) (add ,x ,x)
    macro ^ping (,x) (^pong ,x)
    macro ^pong (,x) (add 1 (^ping ,x))
    macro ^self (,x) (^self ,x)

    Op::A => (^two $a $a)
    Op::B => (^two)
    Op::C => (two $a)
}

fn main() {}
