use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<u64> },
    B { dst: Out<i64>, a: In<u64> },
    C { dst: Out<i64>, a: In<u64> },
    D { a: In<u64>, b: In<i32> },
    E { dst: Out<i64>, a: In<u64> },
    F { dst: Out<i64>, a: In<u64> },
    G { a: In<u64> },
    H { dst: Out<i64>, a: In<i64> },
}

fn f(a: u64) -> i64 {
    a as i64
}

template! {
    // no access
    Op::A => (within (nz $a) 1 (ucast $a i64))
    // two accesses
    Op::B => unsafe (within (nz $a) 1 (add (load $a i64) (load (addr $a 8) i64)))
    // parts are missing
    Op::C => unsafe (within (nz $a) (load $a i64))
    // something else that may trap
    Op::D => unsafe (within (nz $a) 1 (store $a (div 1 $b) i32))
    // something else that does something
    Op::E => unsafe (within (nz $a) 1 (load (addr (call f (arglist (carg $a u64)) u64) 0) i64))
    // a load that never faults
    Op::F => unsafe (within (nz $a) 1 (load pure $a i64))
    // a store that never changes anything
    Op::G => unsafe (store pure $a 1 i64)
    // what never changes without `unsafe`
    Op::H => (load pure $a i64)
}

fn main() {}
