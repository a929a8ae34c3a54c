use azulejo::prelude::*;

#[derive(Scalar, Clone, Copy)]
#[repr(u8)]
enum Color {
    Red,
    Green,
}

#[derive(Scalar, Clone, Copy)]
#[repr(u8)]
enum Mode {
    Read,
    #[scalar(other)]
    Write,
}

#[derive(Scalar)]
enum WithoutRepr {
    One,
}

#[derive(Scalar)]
#[repr(u8)]
enum WithFields {
    One(u8),
}

#[derive(Scalar)]
#[repr(u8)]
enum TwoOthers {
    #[scalar(other)]
    One,
    #[scalar(other)]
    Two,
}

#[derive(Scalar)]
#[repr(u8)]
enum Misspelled {
    #[scalar(default)]
    One,
}

#[derive(Fields)]
enum NoStruct {
    One,
}

#[derive(Fields)]
struct Vm {
    count: u32,
    name: String,
    _read: Color,
}

#[derive(Fields)]
struct Other {
    first: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Paint { color: In<u8> },
    Direct { mode: In<u8> },
    Number { mode: In<u8> },
    Name { dst: Out<u64> },
    Cuont { dst: Out<u32> },
    Type { dst: Out<u32>, a: In<i64> },
    Alone { dst: Out<i64> },
    Nested { dst: Out<u32> },
    OfMacro { dst: Out<u32> },
}

fn paint(_: Color) {}
extern "C" fn set(_: Mode) {}
fn number(_: Option<Color>) {}

template! {
    macro ^first_of (,struct_) (load (tc) (&field ,struct_, first))

    // a number that may be no color
    Op::Paint => (callv paint (arglist (carg $color u8)))
    // nobody makes a mode of it
    Op::Direct => (callv "C" set (arglist (carg $mode u8)))
    // another width
    Op::Number => (callv number (arglist (carg $mode u32)))
    // no scalar
    Op::Name => unsafe (load (tc) (&field Vm, name))
    // no field
    Op::Cuont => unsafe (load (tc) (&field Vm, cuont))
    // not where memory is touched
    Op::Type => (ucast $a (&field Vm, count))
    Op::Alone => (&field Vm, count)
    // one field
    Op::Nested => unsafe (load (tc) (&field Vm, count.low))
    // a struct that nobody can ask
    Op::OfMacro => unsafe (^first_of Other)
}

fn main() {}
