//! The bytecode of all programs, and its meaning.
//!
//! A register bytecode with 16-byte instructions. Integers are 64 bits wide unless the name says `32`. Memory is
//! addressed by one register plus an index in another. Only `Rem` can trap.

use azulejo::prelude::*;

/// The context, which is empty: the bytecode uses only its registers and memory.
#[derive(Debug, Default)]
pub(crate) struct Vm;

/// One instruction.
#[allow(dead_code, reason = "a bytecode has what its users might need, not what these programs use")]
#[rustfmt::skip]
#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
pub(crate) enum Op {
    Int { dst: Out<i64>, value: Imm<i64> },
    Float { dst: Out<f64>, value: Imm<f64> },
    Move { dst: Out<i64>, a: In<i64> },
    MoveFloat { dst: Out<f64>, a: In<f64> },

    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Sub { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    And { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Or { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Xor { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Shl { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Shr { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Sar { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Rem { dst: Out<u64>, a: In<u64>, b: In<u64> },
    Less { dst: Out<i64>, a: In<i64>, b: In<i64> },
    AddConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    MulConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    AndConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    XorConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    ShlConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    ShrConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    SarConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },
    RotlConst { dst: Out<i64>, a: In<i64>, k: Imm<i32> },

    Add32 { dst: Out<i32>, a: In<i32>, b: In<i32> },
    Sub32 { dst: Out<i32>, a: In<i32>, b: In<i32> },
    Mul32 { dst: Out<i32>, a: In<i32>, b: In<i32> },
    Xor32 { dst: Out<i32>, a: In<i32>, b: In<i32> },
    AddConst32 { dst: Out<i32>, a: In<i32>, k: Imm<i32> },
    RotlConst32 { dst: Out<i32>, a: In<i32>, k: Imm<i32> },

    AddFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    SubFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    MulFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    DivFloat { dst: Out<f64>, a: In<f64>, b: In<f64> },
    SqrtFloat { dst: Out<f64>, a: In<f64> },
    ToFloat { dst: Out<f64>, a: In<i64> },

    LoadU8 { dst: Out<u8>, base: In<*const u8>, index: In<i64> },
    LoadI32 { dst: Out<i32>, base: In<*const i32>, index: In<i64> },
    LoadI64 { dst: Out<i64>, base: In<*const i64>, index: In<i64> },
    LoadF64 { dst: Out<f64>, base: In<*const f64>, index: In<i64> },
    StoreU8 { base: In<*mut u8>, index: In<i64>, a: In<u8> },
    StoreI32 { base: In<*mut i32>, index: In<i64>, a: In<i32> },
    StoreI64 { base: In<*mut i64>, index: In<i64>, a: In<i64> },
    StoreF64 { base: In<*mut f64>, index: In<i64>, a: In<f64> },
    GetF64 { dst: Out<f64>, base: In<*const f64>, offset: Imm<i32> },
    PutF64 { base: In<*mut f64>, offset: Imm<i32>, a: In<f64> },

    Jump { to: Label },
    JumpEq { a: In<i64>, b: In<i64>, to: Label },
    JumpNe { a: In<i64>, b: In<i64>, to: Label },
    JumpLt { a: In<i64>, b: In<i64>, to: Label },
    JumpLe { a: In<i64>, b: In<i64>, to: Label },
    JumpEqConst { a: In<i64>, k: Imm<i32>, to: Label },
    JumpNeConst { a: In<i64>, k: Imm<i32>, to: Label },
    JumpLtConst { a: In<i64>, k: Imm<i32>, to: Label },
    JumpLt32 { a: In<i32>, b: In<i32>, to: Label },
    JumpLtFloat { a: In<f64>, b: In<f64>, to: Label },
    JumpLeFloat { a: In<f64>, b: In<f64>, to: Label },
    Switch { a: In<u64>, to: Labels },

    Push { value: Push<i64>, a: In<i64> },
    Call1 { dst: Out<i64>, a: In<i64> },
    Call6 { dst: Out<i64>, a: Pop<i64>, b: Pop<i64>, c: Pop<i64>, d: Pop<i64>, e: Pop<i64>, f: Pop<i64> },
    Call12 { dst: Out<i64>, a: Pop<i64>, b: Pop<i64>, c: Pop<i64>, d: Pop<i64>, e: Pop<i64>, f: Pop<i64>, g: Pop<i64>, h: Pop<i64>, i: Pop<i64>, j: Pop<i64>, k: Pop<i64>, l: Pop<i64> },
    /// Calls a bytecode function with one argument.
    Invoke { dst: Out<i64>, f: Imm<u32>, a: In<i64> },

    Return { a: In<i64> },
    ReturnFloat { a: In<f64> },
}

template! {
    Op::Int         => $value
    Op::Float       => $value
    Op::Move        => $a
    Op::MoveFloat   => $a

    Op::Add         => (add $a $b)
    Op::Sub         => (sub $a $b)
    Op::Mul         => (mul $a $b)
    Op::And         => (and $a $b)
    Op::Or          => (or $a $b)
    Op::Xor         => (xor $a $b)
    Op::Shl         => (shl $a $b)
    Op::Shr         => (shr $a $b)
    Op::Sar         => (sar $a $b)
    Op::Rem         => (urem $a $b)
    Op::Less        => (flagval (lt $a $b) i64)
    Op::AddConst    => (add $a $k)
    Op::MulConst    => (mul $a $k)
    Op::AndConst    => (and $a (scast $k i64))
    Op::XorConst    => (xor $a (scast $k i64))
    Op::ShlConst    => (shl $a (scast $k i64))
    Op::ShrConst    => (shr $a (scast $k i64))
    Op::SarConst    => (sar $a $k)
    Op::RotlConst   => (rotl $a (scast $k i64))

    Op::Add32       => (add $a $b)
    Op::Sub32       => (sub $a $b)
    Op::Mul32       => (mul $a $b)
    Op::Xor32       => (xor $a $b)
    Op::AddConst32  => (add $a $k)
    Op::RotlConst32 => (rotl $a $k)

    Op::AddFloat    => (add $a $b)
    Op::SubFloat    => (sub $a $b)
    Op::MulFloat    => (mul $a $b)
    Op::DivFloat    => (div $a $b)
    Op::SqrtFloat   => (sqrt $a)
    Op::ToFloat     => (stof $a f64)

    Op::LoadU8      => unsafe (load (idx $base $index 1) u8)
    Op::LoadI32     => unsafe (load (idx $base $index 4) i32)
    Op::LoadI64     => unsafe (load (idx $base $index 8) i64)
    Op::LoadF64     => unsafe (load (idx $base $index 8) f64)
    Op::StoreU8     => unsafe (store (idx $base $index 1) $a u8)
    Op::StoreI32    => unsafe (store (idx $base $index 4) $a i32)
    Op::StoreI64    => unsafe (store (idx $base $index 8) $a i64)
    Op::StoreF64    => unsafe (store (idx $base $index 8) $a f64)
    Op::GetF64      => unsafe (load (idx $base $offset 1) f64)
    Op::PutF64      => unsafe (store (idx $base $offset 1) $a f64)

    Op::Jump        => (branch $to)
    Op::JumpEq      => (when (eq $a $b) (branch $to))
    Op::JumpNe      => (when (ne $a $b) (branch $to))
    Op::JumpLt      => (when (lt $a $b) (branch $to))
    Op::JumpLe      => (when (le $a $b) (branch $to))
    Op::JumpEqConst => (when (eq $a $k) (branch $to))
    Op::JumpNeConst => (when (ne $a $k) (branch $to))
    Op::JumpLtConst => (when (lt $a $k) (branch $to))
    Op::JumpLt32    => (when (lt $a $b) (branch $to))
    Op::JumpLtFloat => (when (lt $a $b) (branch $to))
    Op::JumpLeFloat => (when (le $a $b) (branch $to))
    Op::Switch      => (switch $a $to)

    Op::Push        => $a
    Op::Call1       => (call one (arglist (carg $a i64)) i64)
    Op::Call6       => (call six (arglist (carg $a i64) (carg $b i64) (carg $c i64) (carg $d i64) (carg $e i64) (carg $f i64)) i64)
    Op::Call12      => (call twelve (arglist (carg $a i64) (carg $b i64) (carg $c i64) (carg $d i64) (carg $e i64) (carg $f i64) (carg $g i64) (carg $h i64) (carg $i i64) (carg $j i64) (carg $k i64) (carg $l i64)) i64)
    Op::Invoke      => (invoke $f (arglist $a) i64)

    Op::Return      => (return $a)
    Op::ReturnFloat => (return $a)
}

/// A callee with one argument.
#[inline(never)]
pub(crate) extern "C" fn one(a: i64) -> i64 {
    (a ^ 0x5bd1_e995).rotate_left(7)
}

/// A callee whose arguments are all in registers.
#[inline(never)]
pub(crate) extern "C" fn six(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64) -> i64 {
    (a ^ b).wrapping_add(c ^ d).wrapping_add(e ^ f)
}

/// A callee with half of its arguments on the stack.
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "that is what is measured")]
pub(crate) extern "C" fn twelve(
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: i64,
    i: i64,
    j: i64,
    k: i64,
    l: i64,
) -> i64 {
    six(a, b, c, d, e, f) ^ (g ^ h).wrapping_add(i ^ j).wrapping_add(k ^ l)
}

const _: () = assert!(size_of::<Op>() == 16, "an instruction is as small as a hand-written VM would make it");
