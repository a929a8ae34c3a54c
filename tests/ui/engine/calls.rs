use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Return { a: In<i64> },
}

template! {
    Op::Return => (return $a)
}

fn main() -> Result<(), Error> {
    let engine = Engine::<Op>::new();
    let function = engine.define("f", vec![Op::Return { a: 0.into() }], 1)?;
    // one argument without its comma
    let _: i64 = engine.call(function, &mut (), (7i64))?;
    // more than there may be
    let _: i64 = engine.call(function, &mut (), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))?;
    // what no register holds
    let _: i64 = engine.call(function, &mut (), ("seven",))?;
    let _: String = engine.call(function, &mut (), (7i64,))?;
    Ok(())
}
