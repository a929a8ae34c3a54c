use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<u64>, a: In<u64> },
    B { dst: Out<u64>, a: In<u64> },
    C { dst: Out<u64>, a: In<u64> },
    D { dst: Out<u64>, a: In<u64> },
    E { a: In<u64> },
    F { dst: Out<u64>, a: In<u64> },
    G { dst: Out<u64>, a: In<u64> },
    H { dst: Out<u64>, a: In<u64> },
}

template! {
    regions { shapes, fields }
    // declared twice
    regions { arrays, shapes }
    // what has a meaning already
    regions { pure }
    // no list of names
    regions { one two }
    regions (three)

    macro ^read (,region ,address) (load ,region ,address u64)

    // not declared
    Op::A => unsafe (load field $a u64)
    // in both ways
    Op::B => unsafe (load pure shapes $a u64)
    Op::C => unsafe (load shapes pure $a u64)
    // of no load
    Op::D => unsafe (atomic_load shapes $a u64 relaxed)
    // an operand is missing
    Op::E => unsafe (store shapes $a u64)
    // by a macro
    Op::F => unsafe (^read cells $a)
    // without `unsafe`
    Op::G => (load shapes $a u64)
    // of no access
    Op::H => (not shapes $a)
}

mod none {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64> },
        B { a: In<u64> },
    }

    template! {
        // nothing is declared
        Op::A => unsafe (load shapes $a u64)
        Op::B => unsafe (store pure $a 1 u64)
    }
}

mod many {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64> },
    }

    template! {
        // one too many
        regions { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p }

        Op::A => $a
    }
}

fn main() {}
