use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<u64> },
    B { a: In<u64> },
    C { dst: Out<i64>, a: In<u64> },
    D { dst: Out<i64>, a: In<u64> },
    E { dst: Out<i64>, a: In<u64> },
}

template! {
    // memory without `unsafe`
    Op::A => (load $a i64)
    Op::B => (store $a 1 i64)
    // a load without its type
    Op::C => unsafe (load $a)
    // an offset that is no constant
    Op::D => unsafe (load (addr $a $a) i64)
    // an address without `unsafe`
    Op::E => (call $a (arglist) i64)
}

fn main() {}
