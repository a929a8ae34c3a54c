//! Arithmetic on the constants of rules.
//!
//! Constants come extended by their sign; what a function gives is cut off to the type it becomes a constant of.

use azulejo_core::vocab::Type;

pub(super) fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

pub(super) fn sub(a: i64, b: i64) -> i64 {
    a.wrapping_sub(b)
}

pub(super) fn mul(a: i64, b: i64) -> i64 {
    a.wrapping_mul(b)
}

pub(super) fn neg(a: i64) -> i64 {
    a.wrapping_neg()
}

pub(super) fn not(a: i64) -> i64 {
    !a
}

pub(super) fn and(a: i64, b: i64) -> i64 {
    a & b
}

pub(super) fn or(a: i64, b: i64) -> i64 {
    a | b
}

pub(super) fn xor(a: i64, b: i64) -> i64 {
    a ^ b
}

/// The exponent of a power of two, read without a sign.
pub(super) fn log2(ty: Type, c: i64) -> i64 {
    ty.truncate(c as u64).trailing_zeros() as i64
}

pub(super) fn bits(ty: Type) -> i64 {
    ty.bits() as i64
}

pub(super) fn fits_32(a: i64) -> bool {
    a == a as i32 as i64
}

pub(super) fn is_scale(a: i64) -> bool {
    matches!(a, 1 | 2 | 4 | 8)
}

/// Whether the first type has fewer bits.
pub(super) fn is_narrower(a: Type, b: Type) -> bool {
    a.bits() < b.bits()
}

/// The greatest signed value of a type.
pub(super) fn greatest(ty: Type) -> i64 {
    (ty.mask() >> 1) as i64
}

pub(super) fn is_least(ty: Type, c: i64) -> bool {
    c == !greatest(ty)
}

pub(super) fn is_greatest(ty: Type, c: i64) -> bool {
    c == greatest(ty)
}

/// Whether a mask keeps all bits of a type.
pub(super) fn keeps(mask: i64, ty: Type) -> bool {
    mask as u64 & ty.mask() == ty.mask()
}

/// What a shift by this count really shifts by.
pub(super) fn count(ty: Type, n: i64) -> i64 {
    n & (bits(ty) - 1)
}

/// Whether a mask leaves a shift's count what it is.
pub(super) fn keeps_count(ty: Type, mask: i64) -> bool {
    count(ty, mask) == bits(ty) - 1
}

pub(super) fn is_sum_of_counts(ty: Type, a: i64, b: i64) -> bool {
    count(ty, a) + count(ty, b) < bits(ty)
}

pub(super) fn exceeds_counts(ty: Type, a: i64, b: i64) -> bool {
    !is_sum_of_counts(ty, a, b)
}

pub(super) fn sum_of_counts(ty: Type, a: i64, b: i64) -> i64 {
    count(ty, a) + count(ty, b)
}

pub(super) fn least_sum_of_counts(ty: Type, a: i64, b: i64) -> i64 {
    sum_of_counts(ty, a, b).min(bits(ty) - 1)
}

/// `a << n` as a shift of this type does it.
pub(super) fn shifted(ty: Type, a: i64, n: i64) -> i64 {
    a << count(ty, n)
}

/// All ones, shifted right by the count.
pub(super) fn low_mask(ty: Type, n: i64) -> i64 {
    (ty.mask() >> count(ty, n)) as i64
}

/// All ones, shifted left by the count.
pub(super) fn high_mask(ty: Type, n: i64) -> i64 {
    (ty.mask() << count(ty, n)) as i64
}

/// How far a rotation to the other side turns.
pub(super) fn other_way(ty: Type, n: i64) -> i64 {
    (bits(ty) - count(ty, n)) % bits(ty)
}

/// Whether a float has an inverse that multiplies to the very same results as division does.
pub(super) fn has_exact_inverse(ty: Type, float: i64) -> bool {
    let (mantissa, exponent_bits) = if ty == Type::F32 { (23, 8) } else { (52, 11) };
    let exponent = float >> mantissa & ((1 << exponent_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    // A power of two, and its inverse not below the normal numbers.
    float & ((1 << mantissa) - 1) == 0 && exponent > 0 && exponent < 2 * bias
}

/// The bits of a float's inverse.
pub(super) fn inverse(ty: Type, float: i64) -> i64 {
    match ty {
        Type::F32 => (1.0 / f32::from_bits(float as u32)).to_bits() as i64,
        _ => (1.0 / f64::from_bits(float as u64)).to_bits() as i64,
    }
}

/// How to divide by a constant with a multiplication: the upper half of the product with `factor`, shifted right.
#[derive(Clone, Copy)]
struct Magic {
    factor: i128,
    shift: u32,
}

/// Granlund and Montgomery, "Division by Invariant Integers using Multiplication". The factor may need one bit
/// more than the type has.
fn unsigned_magic(ty: Type, c: i64) -> Magic {
    let (n_bits, divisor) = (ty.bits(), ty.truncate(c as u64) as u128);
    let mut shift = 0;
    loop {
        let power = 1u128 << (n_bits + shift);
        let factor = power.div_ceil(divisor);
        // Exact for all dividends if the rounding error times the greatest dividend stays below 2^(bits + shift).
        let error = factor * divisor - power;
        if error <= 1u128 << shift {
            return Magic { factor: factor as i128, shift };
        }
        shift += 1;
    }
}

/// Greater divisors would take a factor of more than 128 bits, and give 0 or 1 anyway.
fn is_unsigned_divisor(ty: Type, c: i64) -> bool {
    let c = ty.truncate(c as u64);
    c > 1 && !c.is_power_of_two() && c <= greatest(ty) as u64
}

/// Whether the unsigned factor fits the type.
pub(super) fn divides_plainly(ty: Type, c: i64) -> bool {
    is_unsigned_divisor(ty, c) && unsigned_magic(ty, c).factor <= ty.mask() as i128
}

/// Whether the unsigned factor needs one bit more.
pub(super) fn divides_with_carry(ty: Type, c: i64) -> bool {
    is_unsigned_divisor(ty, c) && unsigned_magic(ty, c).factor > ty.mask() as i128
}

pub(super) fn unsigned_factor(ty: Type, c: i64) -> i64 {
    unsigned_magic(ty, c).factor as i64
}

pub(super) fn unsigned_shift(ty: Type, c: i64) -> i64 {
    unsigned_magic(ty, c).shift as i64
}

pub(super) fn carry_shift(ty: Type, c: i64) -> i64 {
    unsigned_magic(ty, c).shift as i64 - 1
}

/// Warren, "Hacker's Delight": the factor has the divisor's sign and may not fit the signed type.
fn signed_magic(ty: Type, c: i64) -> Magic {
    let (n_bits, divisor) = (ty.bits(), c.unsigned_abs() as u128);
    let mut shift = 0;
    loop {
        let power = 1u128 << (n_bits + shift);
        let factor = power / divisor + 1;
        let error = factor * divisor - power;
        // Strictly below, because the least dividend has the greatest magnitude and a positive quotient.
        if error < 1u128 << (shift + 1) {
            let factor = factor as i128;
            return Magic { factor: if c < 0 { -factor } else { factor }, shift };
        }
        shift += 1;
    }
}

fn is_signed_divisor(c: i64) -> bool {
    c.unsigned_abs() > 2 && !c.unsigned_abs().is_power_of_two()
}

/// How the factor differs from what the signed type holds of it: by two to the width, up, down, or not at all.
fn excess(ty: Type, c: i64) -> i128 {
    let factor = signed_magic(ty, c).factor;
    factor - ty.signed(ty.truncate(factor as u64)) as i128
}

pub(super) fn divides_signed(ty: Type, c: i64) -> bool {
    is_signed_divisor(c) && excess(ty, c) == 0
}

pub(super) fn divides_signed_up(ty: Type, c: i64) -> bool {
    is_signed_divisor(c) && excess(ty, c) > 0
}

pub(super) fn divides_signed_down(ty: Type, c: i64) -> bool {
    is_signed_divisor(c) && excess(ty, c) < 0
}

pub(super) fn signed_factor(ty: Type, c: i64) -> i64 {
    signed_magic(ty, c).factor as i64
}

pub(super) fn signed_shift(ty: Type, c: i64) -> i64 {
    signed_magic(ty, c).shift as i64
}

/// Whether it is a power of two above 1, read with its sign.
pub(super) fn is_signed_pow2(c: i64) -> bool {
    c > 1 && (c as u64).is_power_of_two()
}

/// What the sign is shifted right by to give what rounds a quotient toward zero.
pub(super) fn bias_shift(ty: Type, c: i64) -> i64 {
    bits(ty) - log2(ty, c)
}

pub(super) fn sign_shift(ty: Type) -> i64 {
    bits(ty) - 1
}

/// Whether a count is not below the width.
pub(super) fn is_over(ty: Type, n: i64) -> bool {
    n != count(ty, n)
}

/// Whether a mask has all bits that a right shift by this count may leave.
pub(super) fn covers(ty: Type, mask: i64, n: i64) -> bool {
    keeps_all(mask as u64, low_mask(ty, n) as u64)
}

fn keeps_all(mask: u64, bits: u64) -> bool {
    mask & bits == bits
}

pub(super) fn fits_32_scaled(c: i64, scale: i64) -> bool {
    c.checked_mul(scale).is_some_and(fits_32)
}

/// A scale times two to a count; zero if that is no scale.
pub(super) fn shifted_scale(scale: i64, n: i64) -> i64 {
    if (0..4).contains(&n) { scale << n } else { 0 }
}

/// Whether machines convert a type to floats without widening it first.
pub(super) fn is_wide(ty: Type) -> bool {
    ty.bits() >= 32
}
