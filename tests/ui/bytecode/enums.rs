use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
struct Struct {
    a: In<i64>,
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Empty {}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Generic<T> {
    A { a: Imm<T> },
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(contxt = ())]
enum Attribute {
    A,
}

#[derive(Bytecode, Clone, Copy, Debug)]
enum Operands {
    // not wrapped
    Plain { a: i64 },
    // no type
    NoType { a: In },
    // a type that no register holds
    Text { a: In<String> },
    Wide { a: In<u128> },
    // labels have none
    Typed { to: Label<i64> },
    // more than an opcode can have
    Many {
        a: In<i64>, b: In<i64>, c: In<i64>, d: In<i64>, e: In<i64>, f: In<i64>, g: In<i64>, h: In<i64>,
        i: In<i64>, j: In<i64>, k: In<i64>, l: In<i64>, m: In<i64>, n: In<i64>, o: In<i64>, p: In<i64>, q: In<i64>,
    },
    // a reference
    Reference { a: In<&'static i64> },
    // what Rust takes a parameter for
    Lifetime { a: In<'static> },
}

fn main() {}
