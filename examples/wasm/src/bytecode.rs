//! The virtual machine's bytecode: the meaning of each instruction of WebAssembly.
//!
//! Locals are VM registers, parameters first, and so are the entries of the operand stack, which follow. A plain
//! instruction takes its operands from registers and writes its result to one. Its row below defines it completely: its
//! name, the type of its operands, that of its result, and its meaning. From a row the macro generates
//! an opcode, its template, and the translation of the instruction.
//!
//! References are represented as numbers: zero is null, and a function's is its engine's number plus one.

use crate::runtime::{self as run, Table, Unit, Vm};
use crate::trap::code;
use azulejo::prelude::*;
use wasmparser::ValType;

/// The kind of value in a register. References are integers of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    I32,
    I64,
    F32,
    F64,
}

impl From<ValType> for Kind {
    fn from(ty: ValType) -> Kind {
        match ty {
            ValType::I32 => Kind::I32,
            ValType::F32 => Kind::F32,
            ValType::F64 => Kind::F64,
            _ => Kind::I64,
        }
    }
}

/// The kind of a Rust type.
macro_rules! kind {
    (i32) => {
        Kind::I32
    };
    (i64) => {
        Kind::I64
    };
    (f32) => {
        Kind::F32
    };
    (f64) => {
        Kind::F64
    };
}
pub(crate) use kind;

/// A comparison of two values.
pub(crate) struct Compare {
    /// The opcode for the value: of the result and both operands.
    pub(crate) value: fn(u32, u32, u32) -> Op,
    /// The opcode for a jump that is taken if the comparison holds.
    pub(crate) goto: fn(u32, u32, Label) -> Op,
    /// The opcode for such a jump with a constant as the second operand.
    pub(crate) goto_const: Option<fn(u32, u64, Label) -> Op>,
    /// The negated comparison.
    pub(crate) opposite: Option<&'static Compare>,
}

macro_rules! instructions {
    (
        unary { $($unary:ident ($unary_from:ident) -> $unary_to:ident = $unary_means:tt)* }
        is_zero { $($is_zero:ident ($is_zero_ty:ident) = $is_zero_means:tt like $is_zero_compare:ident)* }
        integer { $($integer:ident $integer_const:ident ($integer_ty:ident) = $integer_means:tt)* }
        float { $($float:ident ($float_ty:ident) = $float_means:tt)* }
        compare {
            $($compare:ident $goto:ident $goto_const:ident ($compare_ty:ident) = $compare_means:tt not $opposite:ident)*
        }
        compare_float { $($compare_float:ident $goto_float:ident ($compare_float_ty:ident) = $compare_float_means:tt)* }
        load { $($load:ident -> $load_to:ident = $load_means:tt)* }
        store { $($store:ident ($store_from:ident) = $store_means:tt)* }
        other { $($other:ident $other_fields:tt = $other_means:tt)* }
        machine { $($machine:ident $machine_fields:tt = $machine_means:tt)* }
    ) => {
        /// The opcodes.
        #[derive(Bytecode, Clone, Copy, Debug)]
        #[bytecode(context = Vm)]
        #[allow(missing_docs, reason = "the rows say it")]
        pub enum Op {
            $($unary { dst: Out<$unary_to>, a: In<$unary_from> },)*
            $($is_zero { dst: Out<i32>, a: In<$is_zero_ty> },)*
            $($integer { dst: Out<$integer_ty>, a: In<$integer_ty>, b: In<$integer_ty> },)*
            $($integer_const { dst: Out<$integer_ty>, a: In<$integer_ty>, b: Imm<$integer_ty> },)*
            $($float { dst: Out<$float_ty>, a: In<$float_ty>, b: In<$float_ty> },)*
            $($compare { dst: Out<i32>, a: In<$compare_ty>, b: In<$compare_ty> },)*
            $($goto { a: In<$compare_ty>, b: In<$compare_ty>, to: Label },)*
            $($goto_const { a: In<$compare_ty>, b: Imm<$compare_ty>, to: Label },)*
            $($compare_float { dst: Out<i32>, a: In<$compare_float_ty>, b: In<$compare_float_ty> },)*
            $($goto_float { a: In<$compare_float_ty>, b: In<$compare_float_ty>, to: Label },)*
            $($load { dst: Out<$load_to>, address: In<u32>, offset: Imm<u64> },)*
            $($store { address: In<u32>, value: In<$store_from>, offset: Imm<u64> },)*
            $($other $other_fields,)*
            $($machine $machine_fields,)*
        }

        template! {
            use access;
            $(Op::$unary => $unary_means)*
            $(Op::$is_zero => (flagval $is_zero_means i32))*
            $(Op::$integer => $integer_means)*
            $(Op::$integer_const => $integer_means)*
            $(Op::$float => $float_means)*
            $(Op::$compare => (flagval $compare_means i32))*
            $(Op::$goto => (when $compare_means (branch $to)))*
            $(Op::$goto_const => (when $compare_means (branch $to)))*
            $(Op::$compare_float => (flagval $compare_float_means i32))*
            $(Op::$goto_float => (when $compare_float_means (branch $to)))*
            $(Op::$load => unsafe $load_means)*
            $(Op::$store => unsafe $store_means)*
            $(Op::$other => $other_means)*
            $(Op::$machine => unsafe $machine_means)*
        }

        /// The comparisons, named like their instructions.
        #[allow(non_upper_case_globals, reason = "they are called like the instructions")]
        pub(crate) mod compare {
            use super::*;

            $(pub(crate) static $compare: Compare = Compare {
                value: |dst, a, b| Op::$compare { dst: dst.into(), a: a.into(), b: b.into() },
                goto: |a, b, to| Op::$goto { a: a.into(), b: b.into(), to },
                goto_const: Some(|a, b, to| Op::$goto_const { a: a.into(), b: Imm(b as $compare_ty), to }),
                opposite: Some(&$opposite),
            };)*
            $(pub(crate) static $compare_float: Compare = Compare {
                value: |dst, a, b| Op::$compare_float { dst: dst.into(), a: a.into(), b: b.into() },
                goto: |a, b, to| Op::$goto_float { a: a.into(), b: b.into(), to },
                goto_const: None,
                opposite: None,
            };)*
        }

        impl Op {
            /// The target of a jump.
            pub(crate) fn target(&mut self) -> Option<&mut Label> {
                match self {
                    Op::Goto { to } | Op::GotoIf { to, .. } | Op::GotoUnless { to, .. } => Some(to),
                    $(Op::$goto { to, .. } | Op::$goto_const { to, .. } => Some(to),)*
                    $(Op::$goto_float { to, .. } => Some(to),)*
                    _ => None,
                }
            }

            /// Redirects the result to another register.
            pub(crate) fn redirect(&mut self, to: u32) {
                match self {
                    $(Op::$unary { dst, .. } => *dst = to.into(),)*
                    $(Op::$is_zero { dst, .. } => *dst = to.into(),)*
                    $(Op::$integer { dst, .. } | Op::$integer_const { dst, .. } => *dst = to.into(),)*
                    $(Op::$float { dst, .. } => *dst = to.into(),)*
                    $(Op::$compare { dst, .. } => *dst = to.into(),)*
                    $(Op::$compare_float { dst, .. } => *dst = to.into(),)*
                    $(Op::$load { dst, .. } => *dst = to.into(),)*
                    Op::SelectI32 { dst, .. } => *dst = to.into(),
                    Op::SelectI64 { dst, .. } => *dst = to.into(),
                    Op::SelectF32 { dst, .. } => *dst = to.into(),
                    Op::SelectF64 { dst, .. } => *dst = to.into(),
                    Op::CallFor { dst, .. } | Op::CallAnyFor { dst, .. } | Op::Take { dst, .. } => *dst = to.into(),
                    Op::GlobalGet { dst, .. } | Op::TableGet { dst, .. } => *dst = to.into(),
                    Op::TableSize { dst, .. } | Op::TableGrow { dst, .. } => *dst = to.into(),
                    Op::MemorySize { dst } | Op::MemoryGrow { dst, .. } => *dst = to.into(),
                    _ => unreachable!("a result is what one of these computed"),
                }
            }
        }

        /// Calls the translator's method for a plain instruction, by the instruction's name. Other instructions concern control,
        /// locals or the module, or they are not supported.
        macro_rules! plain {
            $(($unary $on:ident ()) => {
                $on.unary(|dst, a| Op::$unary { dst: dst.into(), a: a.into() }, kind!($unary_to))
            };)*
            $(($is_zero $on:ident ()) => {
                $on.is_zero(
                    &compare::$is_zero_compare,
                    |dst, a| Op::$is_zero { dst: dst.into(), a: a.into() },
                )
            };)*
            $(($integer $on:ident ()) => {
                $on.binary_const(
                    |dst, a, b| Op::$integer { dst: dst.into(), a: a.into(), b: b.into() },
                    |dst, a, b| {
                        Op::$integer_const { dst: dst.into(), a: a.into(), b: Imm(b as $integer_ty) }
                    },
                    kind!($integer_ty),
                )
            };)*
            $(($float $on:ident ()) => {
                $on.binary(
                    |dst, a, b| Op::$float { dst: dst.into(), a: a.into(), b: b.into() },
                    kind!($float_ty),
                )
            };)*
            $(($compare $on:ident ()) => { $on.compare(&compare::$compare) };)*
            $(($compare_float $on:ident ()) => { $on.compare(&compare::$compare_float) };)*
            $(($load $on:ident ($memarg:ident)) => {
                $on.load(
                    |dst, address, offset| {
                        Op::$load { dst: dst.into(), address: address.into(), offset: offset.into() }
                    },
                    kind!($load_to),
                    $memarg.offset,
                )
            };)*
            $(($store $on:ident ($memarg:ident)) => {
                $on.store(
                    |address, value, offset| {
                        Op::$store { address: address.into(), value: value.into(), offset: offset.into() }
                    },
                    $memarg.offset,
                )
            };)*
            ($name:ident $on:ident $operands:tt) => { $on.unsupported(stringify!($name)) };
        }
        pub(crate) use plain;
    };
}

template_macros! {
    access {
        // An access of `size` bytes of memory, unless it is out of bounds. A memory never moves.
        macro ^within (,size ,access) (within
            (ule (add (add $address $offset) ,size) (load (addr (cu) (&offset_of Unit, length)) u64))
            &code::OUT_OF_BOUNDS_MEMORY ,access)
        macro ^place ()
            (addr (idx (load pure (addr (cu) (&offset_of Unit, memory)) ptr) (ucast $address u64) 1) $offset)

        // The address of an element of a table. An element out of bounds is a trap with the code `otherwise`.
        macro ^element (,table ,index ,otherwise) (do
            (when (unlikely (uge ,index (load (addr ,table (&offset_of Table, length)) u32))) (trap ,otherwise))
            (idx (load (addr ,table (&offset_of Table, elements)) ptr) ,index 8))

        // A conversion, whose own trap is for values out of range.
        macro ^truncate (,converted) (do (when (unlikely (ne $a $a)) (trap &code::INVALID_CONVERSION)) ,converted)

        // Checks the status that a Rust function returned.
        macro ^check (,failed ,otherwise) (when (unlikely (nz ,failed)) (trap ,otherwise))
    }
}

instructions! {
    unary {
        RefIsNull(i64) -> i32 = (flagval (zr $a) i32)
        I32Clz(i32) -> i32 = (clz $a)
        I32Ctz(i32) -> i32 = (ctz $a)
        I32Popcnt(i32) -> i32 = (popcnt $a)
        I64Clz(i64) -> i64 = (clz $a)
        I64Ctz(i64) -> i64 = (ctz $a)
        I64Popcnt(i64) -> i64 = (popcnt $a)
        I32Extend8S(i32) -> i32 = (scast (ucast $a u8) i32)
        I32Extend16S(i32) -> i32 = (scast (ucast $a u16) i32)
        I64Extend8S(i64) -> i64 = (scast (ucast $a u8) i64)
        I64Extend16S(i64) -> i64 = (scast (ucast $a u16) i64)
        I64Extend32S(i64) -> i64 = (scast (ucast $a u32) i64)
        I32WrapI64(i64) -> i32 = (ucast $a u32)
        I64ExtendI32S(i32) -> i64 = (scast $a i64)
        I64ExtendI32U(i32) -> i64 = (ucast $a i64)
        F32Abs(f32) -> f32 = (abs $a)
        F32Neg(f32) -> f32 = (neg $a)
        F32Ceil(f32) -> f32 = (ceil $a)
        F32Floor(f32) -> f32 = (floor $a)
        F32Trunc(f32) -> f32 = (trunc $a)
        F32Nearest(f32) -> f32 = (nearest $a)
        F32Sqrt(f32) -> f32 = (sqrt $a)
        F64Abs(f64) -> f64 = (abs $a)
        F64Neg(f64) -> f64 = (neg $a)
        F64Ceil(f64) -> f64 = (ceil $a)
        F64Floor(f64) -> f64 = (floor $a)
        F64Trunc(f64) -> f64 = (trunc $a)
        F64Nearest(f64) -> f64 = (nearest $a)
        F64Sqrt(f64) -> f64 = (sqrt $a)
        I32TruncF32S(f32) -> i32 = (^truncate (ftos_trap $a i32))
        I32TruncF32U(f32) -> i32 = (^truncate (ftou_trap $a i32))
        I32TruncF64S(f64) -> i32 = (^truncate (ftos_trap $a i32))
        I32TruncF64U(f64) -> i32 = (^truncate (ftou_trap $a i32))
        I64TruncF32S(f32) -> i64 = (^truncate (ftos_trap $a i64))
        I64TruncF32U(f32) -> i64 = (^truncate (ftou_trap $a i64))
        I64TruncF64S(f64) -> i64 = (^truncate (ftos_trap $a i64))
        I64TruncF64U(f64) -> i64 = (^truncate (ftou_trap $a i64))
        I32TruncSatF32S(f32) -> i32 = (ftos_sat $a i32)
        I32TruncSatF32U(f32) -> i32 = (ftou_sat $a i32)
        I32TruncSatF64S(f64) -> i32 = (ftos_sat $a i32)
        I32TruncSatF64U(f64) -> i32 = (ftou_sat $a i32)
        I64TruncSatF32S(f32) -> i64 = (ftos_sat $a i64)
        I64TruncSatF32U(f32) -> i64 = (ftou_sat $a i64)
        I64TruncSatF64S(f64) -> i64 = (ftos_sat $a i64)
        I64TruncSatF64U(f64) -> i64 = (ftou_sat $a i64)
        F32ConvertI32S(i32) -> f32 = (stof $a f32)
        F32ConvertI32U(i32) -> f32 = (utof $a f32)
        F32ConvertI64S(i64) -> f32 = (stof $a f32)
        F32ConvertI64U(i64) -> f32 = (utof $a f32)
        F64ConvertI32S(i32) -> f64 = (stof $a f64)
        F64ConvertI32U(i32) -> f64 = (utof $a f64)
        F64ConvertI64S(i64) -> f64 = (stof $a f64)
        F64ConvertI64U(i64) -> f64 = (utof $a f64)
        F32DemoteF64(f64) -> f32 = (fcast $a f32)
        F64PromoteF32(f32) -> f64 = (fcast $a f64)
        I32ReinterpretF32(f32) -> i32 = (bitcast $a i32)
        I64ReinterpretF64(f64) -> i64 = (bitcast $a i64)
        F32ReinterpretI32(i32) -> f32 = (bitcast $a f32)
        F64ReinterpretI64(i64) -> f64 = (bitcast $a f64)
    }

    is_zero {
        I32Eqz(i32) = (zr $a) like I32Eq
        I64Eqz(i64) = (zr $a) like I64Eq
    }

    integer {
        I32Add I32AddConst(i32) = (add $a $b)
        I32Sub I32SubConst(i32) = (sub $a $b)
        I32Mul I32MulConst(i32) = (mul $a $b)
        I32DivS I32DivSConst(i32) = (div $a $b)
        I32DivU I32DivUConst(i32) = (udiv $a $b)
        I32RemS I32RemSConst(i32) = (rem $a $b)
        I32RemU I32RemUConst(i32) = (urem $a $b)
        I32And I32AndConst(i32) = (and $a $b)
        I32Or I32OrConst(i32) = (or $a $b)
        I32Xor I32XorConst(i32) = (xor $a $b)
        I32Shl I32ShlConst(i32) = (shl $a $b)
        I32ShrS I32ShrSConst(i32) = (sar $a $b)
        I32ShrU I32ShrUConst(i32) = (shr $a $b)
        I32Rotl I32RotlConst(i32) = (rotl $a $b)
        I32Rotr I32RotrConst(i32) = (rotr $a $b)
        I64Add I64AddConst(i64) = (add $a $b)
        I64Sub I64SubConst(i64) = (sub $a $b)
        I64Mul I64MulConst(i64) = (mul $a $b)
        I64DivS I64DivSConst(i64) = (div $a $b)
        I64DivU I64DivUConst(i64) = (udiv $a $b)
        I64RemS I64RemSConst(i64) = (rem $a $b)
        I64RemU I64RemUConst(i64) = (urem $a $b)
        I64And I64AndConst(i64) = (and $a $b)
        I64Or I64OrConst(i64) = (or $a $b)
        I64Xor I64XorConst(i64) = (xor $a $b)
        I64Shl I64ShlConst(i64) = (shl $a $b)
        I64ShrS I64ShrSConst(i64) = (sar $a $b)
        I64ShrU I64ShrUConst(i64) = (shr $a $b)
        I64Rotl I64RotlConst(i64) = (rotl $a $b)
        I64Rotr I64RotrConst(i64) = (rotr $a $b)
    }

    float {
        F32Add(f32) = (add $a $b)
        F32Sub(f32) = (sub $a $b)
        F32Mul(f32) = (mul $a $b)
        F32Div(f32) = (div $a $b)
        F32Min(f32) = (min $a $b)
        F32Max(f32) = (max $a $b)
        F32Copysign(f32) = (copysign $a $b)
        F64Add(f64) = (add $a $b)
        F64Sub(f64) = (sub $a $b)
        F64Mul(f64) = (mul $a $b)
        F64Div(f64) = (div $a $b)
        F64Min(f64) = (min $a $b)
        F64Max(f64) = (max $a $b)
        F64Copysign(f64) = (copysign $a $b)
    }

    compare {
        I32Eq I32EqGoto I32EqGotoConst(i32) = (eq $a $b) not I32Ne
        I32Ne I32NeGoto I32NeGotoConst(i32) = (ne $a $b) not I32Eq
        I32LtS I32LtSGoto I32LtSGotoConst(i32) = (lt $a $b) not I32GeS
        I32LtU I32LtUGoto I32LtUGotoConst(i32) = (ult $a $b) not I32GeU
        I32GtS I32GtSGoto I32GtSGotoConst(i32) = (gt $a $b) not I32LeS
        I32GtU I32GtUGoto I32GtUGotoConst(i32) = (ugt $a $b) not I32LeU
        I32LeS I32LeSGoto I32LeSGotoConst(i32) = (le $a $b) not I32GtS
        I32LeU I32LeUGoto I32LeUGotoConst(i32) = (ule $a $b) not I32GtU
        I32GeS I32GeSGoto I32GeSGotoConst(i32) = (ge $a $b) not I32LtS
        I32GeU I32GeUGoto I32GeUGotoConst(i32) = (uge $a $b) not I32LtU
        I64Eq I64EqGoto I64EqGotoConst(i64) = (eq $a $b) not I64Ne
        I64Ne I64NeGoto I64NeGotoConst(i64) = (ne $a $b) not I64Eq
        I64LtS I64LtSGoto I64LtSGotoConst(i64) = (lt $a $b) not I64GeS
        I64LtU I64LtUGoto I64LtUGotoConst(i64) = (ult $a $b) not I64GeU
        I64GtS I64GtSGoto I64GtSGotoConst(i64) = (gt $a $b) not I64LeS
        I64GtU I64GtUGoto I64GtUGotoConst(i64) = (ugt $a $b) not I64LeU
        I64LeS I64LeSGoto I64LeSGotoConst(i64) = (le $a $b) not I64GtS
        I64LeU I64LeUGoto I64LeUGotoConst(i64) = (ule $a $b) not I64GtU
        I64GeS I64GeSGoto I64GeSGotoConst(i64) = (ge $a $b) not I64LtS
        I64GeU I64GeUGoto I64GeUGotoConst(i64) = (uge $a $b) not I64LtU
    }

    compare_float {
        F32Eq F32EqGoto(f32) = (eq $a $b)
        F32Ne F32NeGoto(f32) = (ne $a $b)
        F32Lt F32LtGoto(f32) = (lt $a $b)
        F32Gt F32GtGoto(f32) = (gt $a $b)
        F32Le F32LeGoto(f32) = (le $a $b)
        F32Ge F32GeGoto(f32) = (ge $a $b)
        F64Eq F64EqGoto(f64) = (eq $a $b)
        F64Ne F64NeGoto(f64) = (ne $a $b)
        F64Lt F64LtGoto(f64) = (lt $a $b)
        F64Gt F64GtGoto(f64) = (gt $a $b)
        F64Le F64LeGoto(f64) = (le $a $b)
        F64Ge F64GeGoto(f64) = (ge $a $b)
    }

    load {
        I32Load -> i32 = (^within 4 (load (^place) i32))
        I64Load -> i64 = (^within 8 (load (^place) i64))
        F32Load -> f32 = (^within 4 (load (^place) f32))
        F64Load -> f64 = (^within 8 (load (^place) f64))
        I32Load8S -> i32 = (^within 1 (load (^place) i8))
        I32Load8U -> i32 = (^within 1 (load (^place) u8))
        I32Load16S -> i32 = (^within 2 (load (^place) i16))
        I32Load16U -> i32 = (^within 2 (load (^place) u16))
        I64Load8S -> i64 = (^within 1 (load (^place) i8))
        I64Load8U -> i64 = (^within 1 (load (^place) u8))
        I64Load16S -> i64 = (^within 2 (load (^place) i16))
        I64Load16U -> i64 = (^within 2 (load (^place) u16))
        I64Load32S -> i64 = (^within 4 (load (^place) i32))
        I64Load32U -> i64 = (^within 4 (load (^place) u32))
    }

    store {
        I32Store(i32) = (^within 4 (store (^place) $value i32))
        I64Store(i64) = (^within 8 (store (^place) $value i64))
        F32Store(f32) = (^within 4 (store (^place) $value f32))
        F64Store(f64) = (^within 8 (store (^place) $value f64))
        I32Store8(i32) = (^within 1 (store (^place) (ucast $value u8) u8))
        I32Store16(i32) = (^within 2 (store (^place) (ucast $value u16) u16))
        I64Store8(i64) = (^within 1 (store (^place) (ucast $value u8) u8))
        I64Store16(i64) = (^within 2 (store (^place) (ucast $value u16) u16))
        I64Store32(i64) = (^within 4 (store (^place) (ucast $value u32) u32))
    }

    other {
        // Constants, copies and choices, for each kind of value.
        ConstI32 { dst: Out<i32>, value: Imm<i32> } = (copy $value)
        ConstI64 { dst: Out<i64>, value: Imm<i64> } = (copy $value)
        ConstF32 { dst: Out<f32>, value: Imm<i32> } = (bitcast $value f32)
        ConstF64 { dst: Out<f64>, value: Imm<i64> } = (bitcast $value f64)
        CopyI32 { dst: Out<i32>, a: In<i32> } = (copy $a)
        CopyI64 { dst: Out<i64>, a: In<i64> } = (copy $a)
        CopyF32 { dst: Out<f32>, a: In<f32> } = (copy $a)
        CopyF64 { dst: Out<f64>, a: In<f64> } = (copy $a)
        SelectI32 { dst: Out<i32>, a: In<i32>, b: In<i32>, flag: In<u32> } = (select (nz $flag) $a $b)
        SelectI64 { dst: Out<i64>, a: In<i64>, b: In<i64>, flag: In<u32> } = (select (nz $flag) $a $b)
        SelectF32 { dst: Out<f32>, a: In<f32>, b: In<f32>, flag: In<u32> } = (select (nz $flag) $a $b)
        SelectF64 { dst: Out<f64>, a: In<f64>, b: In<f64>, flag: In<u32> } = (select (nz $flag) $a $b)

        // Control.
        Goto { to: Label } = (branch $to)
        GotoIf { flag: In<u32>, to: Label } = (when (nz $flag) (branch $to))
        GotoUnless { flag: In<u32>, to: Label } = (when (zr $flag) (branch $to))
        Switch { value: In<u32>, table: Labels } = (switch $value $table)
        Unreachable {} = (trap &code::UNREACHABLE)
        Return {} = (return)
        ReturnI32 { a: In<i32> } = (return $a)
        ReturnI64 { a: In<i64> } = (return $a)
        ReturnF32 { a: In<f32> } = (return $a)
        ReturnF64 { a: In<f64> } = (return $a)

        // Calls. Arguments are in consecutive registers.
        Call { function: Imm<u32>, args: Regs } = (invokev $function (arglist $args))
        CallFor { dst: Out<i64>, function: Imm<u32>, args: Regs } = (invoke $function (arglist $args) i64)
        CallAny { function: In<u32>, args: Regs } = (invokev $function (arglist $args))
        CallAnyFor { dst: Out<i64>, function: In<u32>, args: Regs } = (invoke $function (arglist $args) i64)
        TailCall { function: Imm<u32>, args: Regs } = (tail $function (arglist $args))
        TailCallAny { function: In<u32>, args: Regs } = (tail $function (arglist $args))
    }

    machine {
        // The first result of a call is in a register, the others are in the store.
        Give { index: Imm<u32>, a: In<i64> } = (store (idx (addr (tc) (&offset_of Vm, results)) $index 8) $a i64)
        Take { dst: Out<i64>, index: Imm<u32> } = (load (idx (addr (tc) (&offset_of Vm, results)) $index 8) i64)
        // The number of the function in an element of a table, if the function has the expected type.
        Callee { dst: Out<u32>, index: In<u32>, table: Imm<u64>, ty: Imm<u32> } = (let: (
            ($function (load (^element $table $index &code::UNDEFINED_ELEMENT) u64)))
            (do (when (unlikely (ne (load (idx (load (addr (tc) (&offset_of Vm, types)) ptr) $function 4) u32) $ty))
                    (ifv (zr $function) (trap &code::UNINITIALIZED_ELEMENT) (trap &code::TYPE_MISMATCH)))
                (ucast (sub $function 1) u32)))
        CallHost { host: Imm<u32>, window: RegsMut } = (^check (call run::call_host
            (arglist (carg (tc) ptr) (carg (cu) ptr) (carg $host u32) (carg (window $window) ptr)) u32) &code::HOST)

        // Globals and tables do not move: bytecode contains their addresses.
        GlobalGet { dst: Out<i64>, global: Imm<u64> } = (load $global i64)
        GlobalSet { a: In<i64>, global: Imm<u64> } = (store $global $a i64)
        TableGet { dst: Out<i64>, index: In<u32>, table: Imm<u64> } =
            (load (^element $table $index &code::OUT_OF_BOUNDS_TABLE) i64)
        TableSet { index: In<u32>, a: In<i64>, table: Imm<u64> } =
            (store (^element $table $index &code::OUT_OF_BOUNDS_TABLE) $a i64)
        TableSize { dst: Out<u32>, table: Imm<u64> } = (load (addr $table (&offset_of Table, length)) u32)
        MemorySize { dst: Out<u32> } = (ucast (shr (load (addr (cu) (&offset_of Unit, length)) u64) 16) u32)

        // Operations that take long are Rust functions.
        TableGrow { dst: Out<u32>, value: In<u64>, count: In<u32>, table: Imm<u64> } = (call run::table_grow
            (arglist (carg $table ptr) (carg $value u64) (carg $count u32)) u32)
        TableFill { to: In<u32>, value: In<u64>, count: In<u32>, table: Imm<u64> } = (^check (call run::table_fill
            (arglist (carg $table ptr) (carg $to u32) (carg $value u64) (carg $count u32)) u32)
            &code::OUT_OF_BOUNDS_TABLE)
        TableCopy { to: In<u32>, from: In<u32>, count: In<u32>, tables: Imm<u64> } = (^check (call run::table_copy
            (arglist (carg (cu) ptr) (carg $to u32) (carg $from u32) (carg $count u32) (carg $tables u64)) u32)
            &code::OUT_OF_BOUNDS_TABLE)
        TableInit { to: In<u32>, from: In<u32>, count: In<u32>, which: Imm<u64> } = (^check (call run::table_init
            (arglist (carg (cu) ptr) (carg $to u32) (carg $from u32) (carg $count u32) (carg $which u64)) u32)
            &code::OUT_OF_BOUNDS_TABLE)
        ElemDrop { segment: Imm<u32> } = (callv run::elem_drop (arglist (carg (cu) ptr) (carg $segment u32)))
        MemoryGrow { dst: Out<u32>, count: In<u32> } = (call run::memory_grow
            (arglist (carg (tc) ptr) (carg (cu) ptr) (carg $count u32)) u32)
        MemoryFill { to: In<u32>, value: In<u32>, count: In<u32> } = (^check (call run::memory_fill
            (arglist (carg (cu) ptr) (carg $to u32) (carg $value u32) (carg $count u32)) u32)
            &code::OUT_OF_BOUNDS_MEMORY)
        MemoryCopy { to: In<u32>, from: In<u32>, count: In<u32> } = (^check (call run::memory_copy
            (arglist (carg (cu) ptr) (carg $to u32) (carg $from u32) (carg $count u32)) u32)
            &code::OUT_OF_BOUNDS_MEMORY)
        MemoryInit { to: In<u32>, from: In<u32>, count: In<u32>, segment: Imm<u32> } = (^check (call run::memory_init
            (arglist (carg (cu) ptr) (carg $to u32) (carg $from u32) (carg $count u32) (carg $segment u32)) u32)
            &code::OUT_OF_BOUNDS_MEMORY)
        DataDrop { segment: Imm<u32> } = (callv run::data_drop (arglist (carg (cu) ptr) (carg $segment u32)))
    }
}
