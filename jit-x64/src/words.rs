//! The members of the families of instructions.
//!
//! In: their names, and each instruction in dynasm's words, on 32 bits. Out: a table of opcodes for each family, which the
//! encoder indexes by member. The operands only show of which kind they are.

use crate::opcode::{Opcode, opcode};
use azulejo_core::vocab::Type;

/// A family: its members, and the opcodes of each.
macro_rules! family {
    ($(#[$doc:meta])* $family:ident, $opcodes:ty: $($member:ident => $of_member:expr,)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "named like the instructions")]
        pub enum $family {
            $($member),+
        }

        impl $family {
            pub(crate) fn opcodes(self) -> &'static $opcodes {
                static OPCODES: &[$opcodes] = &[$($of_member),+];
                &OPCODES[self as usize]
            }
        }
    };
}

/// The opcodes of two-operand arithmetic, on 32 bits.
pub(crate) struct AluOpcodes {
    pub(crate) to_reg: Opcode,
    pub(crate) to_mem: Opcode,
    /// With a sign-extended byte. dynasm has this form but never chooses it.
    pub(crate) imm8: Option<Opcode>,
    pub(crate) imm: Opcode,
}

macro_rules! alu {
    ($op:ident) => {
        AluOpcodes {
            to_reg: opcode!($op ecx, [rax]),
            to_mem: opcode!($op DWORD [rax], ecx),
            imm8: Some(opcode!($op DWORD [rax], DWORD 1).plus(2)),
            imm: opcode!($op DWORD [rax], DWORD 1),
        }
    };
}

family! {
    /// Two-operand arithmetic.
    Alu, AluOpcodes:
    Add => alu!(add),
    Or => alu!(or),
    And => alu!(and),
    Sub => alu!(sub),
    Xor => alu!(xor),
    Cmp => alu!(cmp),
    // `and` that only sets the flags.
    Test => AluOpcodes { imm8: None, to_reg: opcode!(test ecx, DWORD [rax]), ..alu!(test) },
}

/// The opcodes of 32-bit shifts.
pub(crate) struct ShiftOpcodes {
    pub(crate) by_one: Opcode,
    pub(crate) by_imm: Opcode,
    pub(crate) by_cl: Opcode,
}

macro_rules! shift {
    ($op:ident) => {
        ShiftOpcodes {
            // dynasm has no form without a count.
            by_one: opcode!($op DWORD [rax], BYTE 1).plus(0x10),
            by_imm: opcode!($op DWORD [rax], BYTE 1),
            by_cl: opcode!($op DWORD [rax], cl),
        }
    };
}

family! {
    /// Shifts and rotations.
    Shift, ShiftOpcodes:
    Rol => shift!(rol),
    Ror => shift!(ror),
    Shl => shift!(shl),
    Shr => shift!(shr),
    Sar => shift!(sar),
}

family! {
    /// One-operand arithmetic.
    Unary, Opcode:
    Not => opcode!(not DWORD [rax]),
    Neg => opcode!(neg DWORD [rax]),
    Mul => opcode!(mul DWORD [rax]),
    Imul => opcode!(imul DWORD [rax]),
    Div => opcode!(div DWORD [rax]),
    Idiv => opcode!(idiv DWORD [rax]),
    Bswap => opcode!(bswap eax),
}

family! {
    /// Counting bits, and finding the first or last one.
    BitCount, Opcode:
    Popcnt => opcode!(popcnt ecx, [rax]),
    Tzcnt => opcode!(tzcnt ecx, [rax]),
    Lzcnt => opcode!(lzcnt ecx, [rax]),
    Bsf => opcode!(bsf ecx, [rax]),
    Bsr => opcode!(bsr ecx, [rax]),
}

family! {
    /// Atomic operations on memory. The register gets the old value. `CompareExchange` compares memory with `rax`, which gets
    /// the old value instead: if they are equal, the register is stored, and the flags say whether it was.
    Atomic, Opcode:
    Exchange => opcode!(xchg DWORD [rax], ecx),
    Add => opcode!(lock xadd [rax], ecx),
    CompareExchange => opcode!(lock cmpxchg [rax], ecx),
}

/// An instruction's opcode for each width of floats.
pub(crate) struct FloatOpcodes {
    pub(crate) f32: Opcode,
    pub(crate) f64: Opcode,
}

impl FloatOpcodes {
    pub(crate) const fn of(&self, ty: Type) -> Opcode {
        match ty {
            Type::F32 => self.f32,
            _ => self.f64,
        }
    }
}

macro_rules! floats {
    ($single:ident, $double:ident) => {
        FloatOpcodes { f32: opcode!($single xmm1, [rax]), f64: opcode!($double xmm1, [rax]) }
    };
}

family! {
    /// Scalar float arithmetic.
    Sse, FloatOpcodes:
    Sqrt => floats!(sqrtss, sqrtsd),
    Add => floats!(addss, addsd),
    Mul => floats!(mulss, mulsd),
    Sub => floats!(subss, subsd),
    Min => floats!(minss, minsd),
    Div => floats!(divss, divsd),
    Max => floats!(maxss, maxsd),
    Ucomi => floats!(ucomiss, ucomisd),
}

family! {
    /// Bitwise operations on whole float registers.
    Bits, Opcode:
    And => opcode!(andps xmm1, [rax]),
    AndNot => opcode!(andnps xmm1, [rax]),
    Or => opcode!(orps xmm1, [rax]),
    Xor => opcode!(xorps xmm1, [rax]),
}

pub(crate) const LOAD_FLOAT: FloatOpcodes = floats!(movss, movsd);
/// Converts to the other float width.
pub(crate) const CONVERT_FLOAT: FloatOpcodes = floats!(cvtss2sd, cvtsd2ss);
pub(crate) const STORE_FLOAT: FloatOpcodes =
    FloatOpcodes { f32: opcode!(movss DWORD [rax], xmm1), f64: opcode!(movsd QWORD [rax], xmm1) };
pub(crate) const ROUND: FloatOpcodes =
    FloatOpcodes { f32: opcode!(roundss xmm1, [rax], 1), f64: opcode!(roundsd xmm1, [rax], 1) };
/// Converts to a float of this width, from an integer of 32 bits.
pub(crate) const FROM_INT: FloatOpcodes =
    FloatOpcodes { f32: opcode!(cvtsi2ss xmm1, DWORD [rax]), f64: opcode!(cvtsi2sd xmm1, DWORD [rax]) };
/// Converts from a float of this width, to an integer of 32 bits.
pub(crate) const TO_INT: FloatOpcodes =
    FloatOpcodes { f32: opcode!(cvttss2si ecx, [rax]), f64: opcode!(cvttsd2si ecx, [rax]) };
