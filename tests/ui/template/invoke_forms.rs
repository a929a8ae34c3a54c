use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    NoList { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    NoType { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    AType { f: Imm<u32>, a: In<i64> },
    WideNumber { dst: Out<i64>, f: In<i64>, a: In<i64> },
    Flag { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    RunAndMore { dst: Out<i64>, f: Imm<u32>, a: In<i64>, run: Regs },
    SpreadAndMore { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    SpreadSafely { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    SpreadWithoutCount { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    SpreadElsewhere { dst: Out<i64>, a: In<i64> },
    Misspelled { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
}

template! {
    Op::NoList     => (invoke $f $a i64)
    Op::NoType     => (invoke $f (arglist $a))
    Op::AType      => (invokev $f (arglist $a) i64)
    Op::WideNumber => (invoke $f (arglist $a) i64)
    Op::Flag       => (invoke $f (arglist (nz $a)) i64)
    Op::RunAndMore => (invoke $f (arglist $a $run) i64)
    Op::SpreadAndMore => unsafe (invoke $f (arglist $a (spread $a 1)) i64)
    Op::SpreadSafely  => (invoke $f (arglist (spread $a 1)) i64)
    Op::SpreadWithoutCount => unsafe (invoke $f (arglist (spread $a)) i64)
    Op::SpreadElsewhere => unsafe (add 1 (spread $a 1))
    Op::Misspelled => (invokes $f (arglist $a) i64)
}

fn main() {}
