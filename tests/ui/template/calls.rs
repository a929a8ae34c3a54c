use azulejo::prelude::*;

struct Vm;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<f64> },
    D { dst: Out<i64>, a: In<i64> },
    F { dst: Out<i64>, a: In<i64> },
    G { dst: Out<i64>, a: In<i64> },
}

extern "C" fn one(a: i64) -> i64 {
    a
}

fn not_extern(a: i64) -> i64 {
    a
}

extern "C" fn narrow(a: i32) -> i64 {
    a as i64
}

template! {
    // too many arguments for the function
    Op::A => (call one (arglist (carg $a i64) (carg $a i64)) i64)
    // another type than the function's
    Op::B => (call narrow (arglist (carg $a i64)) i64)
    // a float where an integer is passed
    Op::C => (call one (arglist (carg $a i64)) i64)
    // a Rust function, which has no convention to be called by
    Op::D => (call "C" not_extern (arglist (carg $a i64)) i64)
    // another result
    Op::F => (call one (arglist (carg $a i64)) i32)
    // another convention
    Op::G => (call "win64" one (arglist (carg $a i64)) i64)
}

fn main() {}
