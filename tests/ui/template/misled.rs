use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Offset { dst: Out<i64>, a: In<u64> },
    Twice { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Nested { dst: Out<i64>, a: In<i64>, x: In<f64> },
    Done { dst: Out<i64>, a: In<i64>, to: Label },
    Result { a: In<i64> },
    Address { x: In<f64> },
    Narrow { x: In<f32> },
    Few { dst: Out<i64>, a: In<i64> },
    None { dst: Out<i64> },
    Shift { dst: Out<i32>, a: In<i32>, by: In<u64> },
    Add { dst: Out<i32>, a: In<i64>, b: In<i32> },
}

const OFF: i64 = 8;

fn address(_: *const u8) {}
fn two(a: i64, b: i32) -> i64 {
    a + b as i64
}

template! {
    macro ^inner (,x) (ad ,x 1)
    macro ^outer (,x) (mul 2 (^inner ,x))
    macro ^plus (,x ,y) (add ,x ,y)
    macro ^both (,what) (dov ,what ,what)

    // a constant that is called
    Op::Offset => unsafe (load (addr $a (&OFF)) i64)
    // within macros within macros
    Op::Twice => (^outer $a)
    Op::Nested => (^plus $a $x)
    // what is done cannot be kept
    Op::Done! => (dov (^both (set $dst $a)) (branch $to))
    // a result that nobody takes
    Op::Result => (callv two (arglist (carg $a i64) (carg 1 i32)))
    // a float as an address
    Op::Address => (callv address (arglist (carg $x ptr)))
    Op::Narrow => (callv address (arglist (carg $x ptr)))
    // too few arguments
    Op::Few => (call two (arglist (carg $a i64)) i64)
    Op::None => (call two (arglist) i64)
    // the operand that is too wide
    Op::Shift => (shl $a $by)
    Op::Add => (add $a $b)
}

fn main() {}
