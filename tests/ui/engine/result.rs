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
    let result = engine.call(function, &mut (), (7i64,))?;
    println!("{result}");
    Ok(())
}
