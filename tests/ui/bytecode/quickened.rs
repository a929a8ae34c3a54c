use azulejo::prelude::*;

// Its first byte is not the number of the opcode.
#[derive(Bytecode, Clone, Copy, Debug)]
#[repr(u8)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> } = 3,
    Sum { dst: Out<i64>, a: In<i64>, b: In<i64> } = 7,
    Return { a: In<i64> } = 8,
}

template! {
    Op::Add => (do (quicken Op::Sum) (add $a $b))
    Op::Sum => (add $a $b)
    Op::Return => (return $a)
}

fn main() {}
