use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64>, b: In<i64>, to: Label },
    B { dst: Out<i64>, a: In<i64>, b: In<i64>, to: Label },
    C { dst: Out<i64>, a: In<i64>, b: In<i64>, to: Label },
    D { dst: Out<i64>, a: In<i64>, b: In<i64>, to: Label },
    E { dst: Out<i64>, window: Regs },
    F,
    G { dst: Out<i64>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
    I { dst: Out<i64>, a: In<i64> },
}

template! {
    // an operator that there is not
    Op::A => (sbu $a $b)
    // an operand that there is not
    Op::B => (add $a $c)
    // a label as a value
    Op::C => (add $a $to)
    // an output as a value
    Op::D => (add $dst $b)
    // a run of registers as a value
    Op::E => (add $window 1)
    // no operands at all
    Op::F => (discard $a)
    // a position too far
    Op::G => (add $0 $7)
    // an opcode that there is not
    Op::Hh => (add $a 1)
    Op::H => (add $a 1)
    // a macro that there is not
    Op::I => (^twice $a)
}

fn main() {}
