//! What is pinned is 64 bits that are known when the program is compiled.

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned(0.5))]
enum Float {
    A { a: In<u64>, dst: Out<u64> },
}

template! {
    Float::A => (copy $a)
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned(number()))]
enum NoConstant {
    A { a: In<u64>, dst: Out<u64> },
}

fn number() -> u64 {
    7
}

template! {
    NoConstant::A => (copy $a)
}

fn main() {}
