use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
}

template! {
    macro ^two (,x) (add ,x ,x)
    macro ^or_else (,a ,b) (if (nz ,a) ,a (if (gt $a 0) ,b ,b))

    Op::A => (^two $a $a)
    Op::B => (^twoo $a)
    Op::C => (^two (lt $a $a))
    // What is made once is used twice.
    Op::D => (^two (call made (arglist) i64))
    // It would be made even if `$a` is not zero.
    Op::E => (^or_else $a (call made (arglist) i64))
}

fn made() -> i64 {
    7
}

fn main() {}
