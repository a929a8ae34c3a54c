use azulejo::prelude::*;
use azulejo::{Promises, rules};

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Return { a: In<i64> },
}

template! {
    Op::Return => (return $a)
}

azulejo::tileset! {
    pub static TILES: extends azulejo::x64::X64;
}

fn main() {
    let builder = Engine::<Op>::builder();
    // what is not checked is promised
    let builder = builder.rules(&rules::MATCHERS);
    let builder = builder.tiles(&TILES);
    let _: Engine<Op> = builder.build();
    let code = Code::from(vec![Op::Return { a: 0.into() }]);
    let code = code.with_unit(&raw const TILES);
    let code = code.with_temporaries_unchecked(0);
    // and by nothing else
    let _ = Code { promises: Promises { unit: Some(1), temporaries: None }, ..code };
}
