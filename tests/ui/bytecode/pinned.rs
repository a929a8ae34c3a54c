//! Bad lists of pinned constants.

use azulejo::prelude::*;

const TAG: u64 = 0xfff9 << 48;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned)]
enum NoList {
    A { a: In<u64> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned = TAG)]
enum Value {
    A { a: In<u64> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned())]
enum Empty {
    A { a: In<u64> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned(TAG, 1 << 60, 2 << 60))]
enum TooMany {
    A { a: In<u64> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned(TAG), pinned(1 << 60))]
enum Twice {
    A { a: In<u64> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(pinned(TAG 1))]
enum NoComma {
    A { a: In<u64> },
}

fn main() {}
