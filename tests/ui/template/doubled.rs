use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Return { a: In<i64> },
}

template! {
    Op::Add    => (add $a $b)
    Op::Return => (return $a)
    Op::Return => (return)
}

mod elsewhere {
    use super::Op;
    azulejo::template! {
        Op::Add => (sub $a $b)
    }
}

fn main() {}
