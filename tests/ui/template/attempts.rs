use azulejo::prelude::*;

fn plain(a: i64) -> i64 {
    a
}

fn half(a: i64) -> Result<i64, Trap> {
    Ok(a / 2)
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<u8>, f: Imm<u32>, a: In<i64> },
    D { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    E { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    F { f: Imm<u32>, a: In<i64> },
    G { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
    I { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    J { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    K { dst: Out<f64>, f: Imm<u32>, a: In<i64> },
    L { dst: Out<u8>, f: Imm<u32>, a: In<i64> },
}

template! {
    // a call that cannot fail
    Op::A => (try (call plain (arglist (carg $a i64)) i64) 1)
    // no call
    Op::B => (try (div $a 2) 1)
    // a value that is too wide
    Op::C => (try (invoke $f (arglist $a) u8) $a)
    // no value where one is wanted
    Op::D => (try (invoke $f (arglist $a) i64) (when (nz $a) (return $a)))
    // a value that nobody takes
    Op::E! => (dov (set $dst 1) (tryv (invoke $f (arglist 1) i64) (set $dst 2)))
    // no value
    Op::F => (discard (try (invokev $f (arglist $a)) 1))
    // nothing was caught
    Op::G => (add $a (scast (trap_code) i64))
    // nor is anything in the call itself
    Op::H => (try (call throws half (arglist (carg (scast (trap_code) i64) i64)) i64) $a)
    // one part is missing
    Op::I => (try (invoke $f (arglist $a) i64))
    // the code is not there behind the attempt
    Op::J => (add (try (invoke $f (arglist $a) i64) 1) (scast (trap_code) i64))
    // an integer where a float is wanted
    Op::K => (try (invoke $f (arglist $a) f64) (trap_code))
    // what is around the call
    Op::L => (try (ucast (invoke $f (arglist $a) i64) u8) 1)
}

fn main() {}
