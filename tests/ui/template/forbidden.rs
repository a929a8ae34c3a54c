#![forbid(unsafe_code)]

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Load { dst: Out<i64>, a: In<u64> },
    Add { dst: Out<i64>, a: In<i64> },
}

template! {
    // this is the crate's own
    Op::Load => unsafe (load $a i64)
    // what the macro writes is not
    Op::Add => (add $a 1)
}

fn main() {}
