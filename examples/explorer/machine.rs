//! A register machine that is large enough for interesting traces: integers, floats, checked memory, calls.
//!
//! In: functions as bytecode. Out: the explorer's traces of them.

use azulejo::prelude::*;

/// The state that templates can access besides registers: the memory.
pub(crate) struct Vm {
    memory: *mut u8,
    size: u64,
}

/// The opcodes.
#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    Const { dst: Out<i64>, value: Imm<i64> },
    ConstF { dst: Out<f64>, value: Imm<f64> },
    Move { dst: Out<u64>, a: In<u64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i64> },
    Sub { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Div { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Rem { dst: Out<i64>, a: In<i64>, b: In<i64> },
    And { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Or { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Xor { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Shl { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Shr { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddF { dst: Out<f64>, a: In<f64>, b: In<f64> },
    SubF { dst: Out<f64>, a: In<f64>, b: In<f64> },
    MulF { dst: Out<f64>, a: In<f64>, b: In<f64> },
    DivF { dst: Out<f64>, a: In<f64>, b: In<f64> },
    SqrtF { dst: Out<f64>, a: In<f64> },
    ToFloat { dst: Out<f64>, a: In<i64> },
    ToInt { dst: Out<i64>, a: In<f64> },
    Load { dst: Out<u8>, at: In<u64>, offset: Imm<u32> },
    Store { at: In<u64>, a: In<i64>, offset: Imm<u32> },
    LoadF { dst: Out<f64>, at: In<u64>, offset: Imm<u32> },
    StoreF { at: In<u64>, a: In<f64>, offset: Imm<u32> },
    Jump { to: Label },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    JumpLessEqual { a: In<i64>, b: In<i64>, to: Label },
    JumpEqual { a: In<i64>, b: In<i64>, to: Label },
    JumpNotEqual { a: In<i64>, b: In<i64>, to: Label },
    JumpLessF { a: In<f64>, b: In<f64>, to: Label },
    Call { dst: Out<u64>, f: Imm<u32>, args: Regs },
    Print { a: In<i64> },
    Return { a: In<i64> },
    ReturnF { a: In<f64> },
}

fn print(value: i64) {
    println!("{value}");
}

template! {
    macro ^memory () (load pure (addr (tc) (&offset_of Vm, memory)) ptr)
    macro ^place (,at ,offset) (idx (^memory) (add ,at (ucast ,offset u64)) 1)
    macro ^inside (,at ,offset ,bytes)
        (all (ult ,at (load (addr (tc) (&offset_of Vm, size)) u64))
             (ule (add (add ,at (ucast ,offset u64)) ,bytes) (load (addr (tc) (&offset_of Vm, size)) u64)))

    Op::Const         => $value
    Op::ConstF        => $value
    Op::Move          => $a
    Op::Add           => (add $a $b)
    Op::AddConst      => (add $a $k)
    Op::Sub           => (sub $a $b)
    Op::Mul           => (mul $a $b)
    Op::Div           => (div $a $b)
    Op::Rem           => (rem $a $b)
    Op::And           => (and $a $b)
    Op::Or            => (or $a $b)
    Op::Xor           => (xor $a $b)
    Op::Shl           => (shl $a $b)
    Op::Shr           => (shr $a $b)
    Op::AddF          => (add $a $b)
    Op::SubF          => (sub $a $b)
    Op::MulF          => (mul $a $b)
    Op::DivF          => (div $a $b)
    Op::SqrtF         => (sqrt $a)
    Op::ToFloat       => (stof $a f64)
    Op::ToInt         => (ftos_sat $a i64)
    Op::Load          => unsafe (within (^inside $at $offset 1) 1 (load (^place $at $offset) u8))
    Op::Store         => unsafe (within (^inside $at $offset 1) 1 (store (^place $at $offset) (ucast $a u8) u8))
    Op::LoadF         => unsafe (within (^inside $at $offset 8) 1 (load (^place $at $offset) f64))
    Op::StoreF        => unsafe (within (^inside $at $offset 8) 1 (store (^place $at $offset) $a f64))
    Op::Jump          => (branch $to)
    Op::JumpLess      => (when (lt $a $b) (branch $to))
    Op::JumpLessEqual => (when (le $a $b) (branch $to))
    Op::JumpEqual     => (when (eq $a $b) (branch $to))
    Op::JumpNotEqual  => (when (ne $a $b) (branch $to))
    Op::JumpLessF     => (when (lt $a $b) (branch $to))
    Op::Call          => (invoke $f (arglist $args) u64)
    Op::Print         => (callv print (arglist (carg $a i64)))
    Op::Return        => (return $a)
    Op::ReturnF       => (return $a)
}

/// A function's bytecode.
pub(crate) struct Function {
    /// The function's name.
    pub(crate) name: String,
    /// Its bytecode.
    pub(crate) code: Vec<Op>,
    /// The number of its registers.
    pub(crate) registers: u32,
}

/// The concatenated traces of the compilation of all functions. The number of a function is its index in the list.
pub(crate) fn traces(functions: Vec<Function>) -> Result<String, Error> {
    let engine = Engine::<Op>::new();
    let mut ids = Vec::new();
    for function in functions {
        ids.push(engine.define(&function.name, function.code, function.registers)?);
    }
    ids.into_iter().map(|id| engine.stages(id).map(|stages| stages + "\n")).collect()
}
