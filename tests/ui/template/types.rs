use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i32>, a: In<i64> },
    B { dst: Out<f64>, a: In<i64> },
    C { dst: Out<i64>, a: In<f64> },
    D { dst: Out<f32>, a: In<f64> },
    E { dst: Out<i64>, a: In<i64>, b: In<f64> },
    F { dst: Out<f64>, a: In<f64>, b: In<f32> },
    G { dst: Out<i64>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
    I { dst: Out<i64>, a: In<f64> },
    J { dst: Out<i64>, a: In<i64> },
    K { dst: Out<i64>, a: In<i64> },
    L { dst: Out<i64>, a: In<i64> },
    M { dst: Out<i64>, a: In<i64> },
    N { dst: Out<i64>, a: In<i64> },
    O { dst: Out<i64>, a: In<i64> },
}

template! {
    // too wide for the output
    Op::A => $a
    // an integer for a float, and the other way round
    Op::B => $a
    Op::C => $a
    Op::D => $a
    // classes do not mix
    Op::E => (add $a $b)
    Op::F => (add $a $b)
    // a flag is no value
    Op::G => (lt $a 1)
    Op::H => (add $a (lt $a 1))
    // an operator on a class it has no meaning for
    Op::I => (ftos_sat (xor $a $a) i64)
    // what is no type
    Op::J => (scast $a int)
    // a float literal for an integer
    Op::K => (add $a 1.5)
    // text
    Op::L => "text"
    // a value where a flag stands
    Op::M => (if $a 1 2)
    // something done where a value stands
    Op::N => (add $a (dov (return $a)))
    // something done, and nothing for the output
    Op::O => (discard $a)
}

fn main() {}
