use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Narrow { dst: Out<u8>, a: In<u8> },
    Argument { a: In<i64> },
    Constant { dst: Out<u8> },
    Output { dst: Out<i16> },
    Negative { dst: Out<u8>, a: In<u8> },
    Wide { dst: Out<i32> },
    Reads { args: Regs },
    ReadsIndexed { args: Regs, at: In<u64> },
    Writes { args: RegsMut },
    Calls { f: Imm<u32> },
    Width { dst: Out<u8>, a: In<u64> },
}

fn take(_: u32) {}

template! {
    // no room for the number
    Op::Narrow => (add $a 300)
    Op::Argument => (do (callv take (arglist (carg 5000000000 u32))) $a)
    Op::Constant => (const 0x100 u8)
    Op::Output => 70_000
    Op::Negative => (add $a -129)
    // as large as it may be, with and without a sign
    Op::Wide => (add (const 0xffff_ffff i32) (const -2_147_483_648 i32))
    // what is only read
    Op::Reads => unsafe (store (window $args) 7 u64)
    Op::ReadsIndexed => unsafe (store (idx (addr (window $args) 8) $at 8) 7 u64)
    Op::Writes => unsafe (store (window $args) 7 u64)
    // a function of bytecode
    Op::Calls => (callv $f (arglist))
    // a type with its sign
    Op::Width => $a
}

fn main() {}
