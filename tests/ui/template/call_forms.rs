use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
}

extern "C" fn one(a: i64) -> i64 {
    a
}

template! {
    // no argument list
    Op::A => (call one $a i64)
    // an argument without its type
    Op::B => (call one (arglist (carg $a)) i64)
    // no result's type
    Op::C => (call one (arglist (carg $a i64)))
    // a convention that there is not
    Op::D => (call "fastcall" one (arglist (carg $a i64)) i64)
    // no function
    Op::E => (call)
}

fn main() {}
