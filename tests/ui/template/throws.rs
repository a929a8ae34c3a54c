use azulejo::prelude::*;
use azulejo::Trap;

struct Vm;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
    F { a: In<i64> },
    G { dst: Out<i64>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
}

fn plain(a: i64) -> i64 {
    a
}

fn half(a: i64) -> Result<i64, Trap> {
    Ok(a / 2)
}

extern "C" fn c_half(a: i64) -> i64 {
    a / 2
}

struct Odd;

fn odd(_: i64) -> Result<i64, Odd> {
    Err(Odd)
}

template! {
    // a function that cannot fail
    Op::A => (call throws plain (arglist (carg $a i64)) i64)
    // one that may, without the word
    Op::B => (call half (arglist (carg $a i64)) i64)
    // another type than in the `Result`
    Op::C => (call throws half (arglist (carg $a i64)) u8)
    // an error that is no trap
    Op::D => (call throws odd (arglist (carg $a i64)) i64)
    // with a convention
    Op::E => (call throws "C" c_half (arglist (carg $a i64)) i64)
    // a result that nobody takes
    Op::F => (callv throws half (arglist (carg $a i64)))
    // pure
    Op::G => (call pure throws half (arglist (carg $a i64)) i64)
    // an address
    Op::H => unsafe (call throws $a (arglist (carg $a i64)) i64)
}

fn main() {}
