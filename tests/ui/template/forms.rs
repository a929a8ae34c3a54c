use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
    F { dst: Out<i64>, a: In<i64> },
    G { dst: Out<i64>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
    I { dst: Out<i64>, a: In<i64> },
    J { dst: Out<i64>, a: In<i64> },
    K { a: In<i64>, to: Label },
    L { a: In<i64> },
    M { a: In<i64> },
    N { dst: Out<i64>, a: In<i64> },
    O { dst: Out<i64>, a: In<i64> },
    P { dst: Out<i64>, a: In<i64> },
    Q { a: In<i64>, table: Labels, to: Label },
    R { a: In<i64> },
}

template! {
    // too few and too many operands
    Op::A => (add $a)
    Op::B => (neg $a $a)
    // an operator alone
    Op::C => add
    // nothing in a list
    Op::D => ()
    // a list that starts with a value
    Op::E => ($a $a)
    // declarations
    Op::F => (let: ($x $a) $x)
    Op::G => (let: (($x $a)))
    Op::H => (let: (($x $a)) (add $a 1))
    // a choice of two
    Op::I => (if (nz $a) $a)
    Op::J => (if (nz $a) $a (discard $a))
    // a branch to a value
    Op::K => (branch $a)
    // a value that nobody takes
    Op::L => (add $a 1)
    Op::M => (dov (add $a 1) (return $a))
    // what follows is never reached
    Op::N => (do (return $a) $a)
    // a constant that is none
    Op::O => (add $a (const $a i64))
    // a parameter outside of a macro
    Op::P => (add ,x $a)
    // a list of labels and more
    Op::Q => (switch $a $table $to)
    // a trap without a number
    Op::R => (trap $a)
}

fn main() {}
