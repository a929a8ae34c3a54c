use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
}

unsafe extern "C" fn dangerous(a: i64) -> i64 {
    a
}

template! {
    // an unsafe function
    Op::A => (call dangerous (arglist (carg $a i64)) i64)
    // the same, by its convention
    Op::B => (call "C" dangerous (arglist (carg $a i64)) i64)
}

fn main() {}
