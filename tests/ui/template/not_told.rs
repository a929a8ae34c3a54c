use azulejo::prelude::*;

struct Vm {
    count: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Count { dst: Out<u32> },
}

template! {
    Op::Count => unsafe (load (tc) (&field Vm, count))
}

fn main() {}
