//! What uses an enum with a mistake is not reported as well.

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Load { dst: Out<i64>, value: Imm<bool> },
    Return { a: In<i64> },
}

struct Vm;

template! {
    Op::Load   => $value
    Op::Return => (return $a)
}

fn main() -> Result<(), Error> {
    let engine = Engine::<Op>::new();
    let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    engine.call(function, &mut Vm, (7i64,))
}
