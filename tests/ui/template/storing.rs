use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { x: Out<i64>, y: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
    F { dst: Out<i64>, a: InOut<i64> },
}

template! {
    // only a template with `!` stores
    Op::A => (set $dst $a)
    // an input is not stored to
    Op::B! => (set $a 1)
    // two outputs, and one value
    Op::C => $a
    // an output that is never stored
    Op::D! => (discard $a)
    // a value and `!`
    Op::E! => $a
    // a guard behind an effect
    Op::F! => (dov (set $a 1) (guard (nz $a) (set $dst 1)) (set $dst 2))
}

fn main() {}
