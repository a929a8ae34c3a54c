use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { a: In<i64> },
    B { a: In<i64> },
    C { a: In<i64> },
    D { a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
    F { a: In<i64> },
    G { a: In<i64> },
}

template! {
    // no such mark
    Op::A => (dov (mark again) (when (nz $a) (branch (label agian))) (branch (label again)))
    // a label alone
    Op::B => (label x)
    // a mark among nothing
    Op::C => (when (nz $a) (mark x))
    // a mark that nothing goes to
    Op::D => (dov (mark x) (discard $a))
    // a mark at the end of what has a value
    Op::E => (do (when (nz $a) (branch (label x))) (mark x))
    // twice
    Op::F => (dov (mark x) (dov (mark x) (branch (label x))))
    // without a name
    Op::G => (dov (mark) (branch (label x)))
}

fn main() {}
