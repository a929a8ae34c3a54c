use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Return,
}

template! {
    Op::Return => (return)
}

fn main() {}
