//! Where the sign of operands decides what an operator does, they have one sign.

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Less { dst: Out<u8>, a: In<i64>, b: In<u64> },
    Divide { dst: Out<i64>, a: In<i64>, b: In<u64> },
    Narrow { dst: Out<i64>, a: In<i32>, b: In<u64> },
    Sum { dst: Out<i64>, a: In<i64>, b: In<u64> },
    Constant { dst: Out<u32>, a: In<u32>, k: Imm<i32> },
    Negative { dst: Out<u8>, a: In<u16> },
    Widened { dst: Out<i64>, a: In<i16>, b: In<u32> },
}

template! {
    macro ^larger (,x ,y) (if (gt ,x ,y) ,x ,y)

    Op::Less     => (flagval (lt $a $b) u8)
    Op::Divide   => (div $a $b)
    Op::Narrow   => (rem $a $b)
    Op::Sum      => (div (add $a $b) 2)
    Op::Constant => (^larger $a $k)
    Op::Negative => (flagval (lt $a -1) u8)
    Op::Widened  => (mul (add $a $b) $a)
}

fn main() {}
