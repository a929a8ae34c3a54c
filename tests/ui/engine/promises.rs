use azulejo::prelude::*;
use azulejo::rules;

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
    let _ = code.with_temporaries_unchecked(0);
}
