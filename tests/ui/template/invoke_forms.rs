use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    NoList { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    NoType { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    AType { f: Imm<u32>, a: In<i64> },
    WideNumber { dst: Out<i64>, f: In<i64>, a: In<i64> },
    Flag { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
    RunAndMore { dst: Out<i64>, f: Imm<u32>, a: In<i64>, run: Regs },
    Misspelled { dst: Out<i64>, f: Imm<u32>, a: In<i64> },
}

template! {
    Op::NoList     => (invoke $f $a i64)
    Op::NoType     => (invoke $f (arglist $a))
    Op::AType      => (invokev $f (arglist $a) i64)
    Op::WideNumber => (invoke $f (arglist $a) i64)
    Op::Flag       => (invoke $f (arglist (nz $a)) i64)
    Op::RunAndMore => (invoke $f (arglist $a $run) i64)
    Op::Misspelled => (invokes $f (arglist $a) i64)
}

fn main() {}
