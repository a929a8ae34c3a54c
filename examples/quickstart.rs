//! A small virtual machine: its opcodes, their meanings, and a loop that runs in two tiers.
//!
//! Run it with `cargo run --release --example quickstart`.

use azulejo::prelude::*;
use std::time::Instant;

/// The state that templates can access besides VM registers: the number of times that `Print` was executed.
struct Vm {
    printed: u32,
}

/// The opcodes. The type of a field says how the opcode uses it: a VM register read or written, a constant, a jump target.
#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Print { a: In<i64> },
    Return { a: In<i64> },
}

// The meaning of each opcode. Both the interpreter and the compiler are generated from it.
template! {
    Op::Load     => $value
    Op::Add      => (add $a $b)
    Op::Mul      => (mul $a $b)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Print    => (callv print (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Return   => (return $a)
}

extern "C" fn print(vm: &mut Vm, value: i64) {
    vm.printed += 1;
    println!("the program prints {value}");
}

/// The sum of the squares of all numbers below register 0.
fn sum_of_squares() -> Vec<Op> {
    let [n, i, sum, square, one] = [0, 1, 2, 3, 4];
    vec![
        Op::Load { dst: i.into(), value: Imm(0) },
        Op::Load { dst: sum.into(), value: Imm(0) },
        Op::Load { dst: one.into(), value: Imm(1) },
        Op::Mul { dst: square.into(), a: i.into(), b: i.into() },
        Op::Add { dst: sum.into(), a: sum.into(), b: square.into() },
        Op::Add { dst: i.into(), a: i.into(), b: one.into() },
        Op::JumpLess { a: i.into(), b: n.into(), to: Label(3) },
        Op::Print { a: sum.into() },
        Op::Return { a: sum.into() },
    ]
}

fn main() -> Result<(), Error> {
    let mut vm = Vm { printed: 0 };
    let engine = Engine::<Op>::new();
    let function = engine.define("sum_of_squares", sum_of_squares(), 5)?;

    let start = Instant::now();
    let interpreted: i64 = engine.interpret(function, &mut vm, (10_000_000i64,))?;
    println!("interpreter: {interpreted} in {:?}", start.elapsed());

    if let Err(reason) = azulejo::can_compile() {
        println!("compiler:    not here: {reason}");
        return Ok(());
    }
    let start = Instant::now();
    engine.compile(function)?;
    let compile_time = start.elapsed();
    let start = Instant::now();
    let compiled: i64 = engine.call(function, &mut vm, (10_000_000i64,))?;
    println!("compiled:    {compiled} in {:?}, and {compile_time:?} to compile", start.elapsed());
    assert_eq!((interpreted, vm.printed), (compiled, 2));

    println!("\nthe machine code, each instruction with the bytecode it came from:");
    print!("{}", engine.disassemble(function)?);
    Ok(())
}
