//! Predicates of `rewrite!` on constants. They take the type of a constant, and its sign-extended value.

use crate::vocab::Type;

/// It is 0.
pub fn zero(_: Type, value: i64) -> bool {
    value == 0
}

/// It is 1.
pub fn one(_: Type, value: i64) -> bool {
    value == 1
}

/// All its bits are set.
pub fn minus_one(_: Type, value: i64) -> bool {
    value == -1
}

/// As an unsigned number it is a power of two.
pub fn pow2(ty: Type, value: i64) -> bool {
    ty.truncate(value as u64).is_power_of_two()
}

/// It fits in 8 bits with sign extension.
pub fn imm8(_: Type, value: i64) -> bool {
    value == value as i8 as i64
}

/// It fits in 32 bits with sign extension.
pub fn imm32(_: Type, value: i64) -> bool {
    value == value as i32 as i64
}

/// As an unsigned number it fits in 32 bits.
pub fn uimm32(ty: Type, value: i64) -> bool {
    ty.truncate(value as u64) <= u32::MAX as u64
}

/// It is 1, 2, 4 or 8.
pub fn scale(_: Type, value: i64) -> bool {
    matches!(value, 1 | 2 | 4 | 8)
}

/// The bits of a number as a float of this type.
pub fn float_bits(ty: Type, value: f64) -> u64 {
    if ty == Type::F32 { (value as f32).to_bits() as u64 } else { value.to_bits() }
}
