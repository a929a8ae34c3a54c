//! Arithmetic on the constants of rules.
//!
//! In: constants, sign-extended to 64 bits. Out: numbers, which the caller truncates to the type of the new constant.

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

/// The exponent of a power of two, which is read as unsigned.
pub(super) fn log2(ty: Type, c: i64) -> i64 {
    ty.truncate(c as u64).trailing_zeros() as i64
}

pub(super) fn bits(ty: Type) -> i64 {
    ty.bits() as i64
}

pub(super) fn fits_32(a: i64) -> bool {
    a == a as i32 as i64
}

/// Whether the sum of two constants does not need more room in instructions than the second one.
pub(super) fn gathers(a: i64, b: i64) -> bool {
    fits_32(a.wrapping_add(b)) || !fits_32(b)
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

/// The effective count of a shift, which is taken modulo the width.
pub(super) fn count(ty: Type, n: i64) -> i64 {
    n & (bits(ty) - 1)
}

/// Whether a mask preserves the effective count of a shift.
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

/// `a << n`, with the effective count for this type.
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

/// The count of the equivalent rotation in the other direction.
pub(super) fn other_way(ty: Type, n: i64) -> i64 {
    (bits(ty) - count(ty, n)) % bits(ty)
}

/// Whether multiplication by a float's inverse has exactly the results of division by the float.
pub(super) fn has_exact_inverse(ty: Type, float: i64) -> bool {
    let (mantissa, exponent_bits) = if ty == Type::F32 { (23, 8) } else { (52, 11) };
    let exponent = float >> mantissa & ((1 << exponent_bits) - 1);
    let bias = (1 << (exponent_bits - 1)) - 1;
    // The float must be a power of two, and its inverse must not be subnormal.
    float & ((1 << mantissa) - 1) == 0 && exponent > 0 && exponent < 2 * bias
}

/// The bits of a float's inverse.
pub(super) fn inverse(ty: Type, float: i64) -> i64 {
    match ty {
        Type::F32 => (1.0 / f32::from_bits(float as u32)).to_bits() as i64,
        _ => (1.0 / f64::from_bits(float as u64)).to_bits() as i64,
    }
}

/// A multiplication that divides by a constant: the quotient is the upper half of the product with `factor`, shifted right
/// by `shift`.
#[derive(Clone, Copy)]
struct Magic {
    factor: i128,
    shift: u32,
}

/// From Granlund and Montgomery, "Division by Invariant Integers using Multiplication". The factor may need one bit more
/// than the type has.
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

/// Whether to divide by a multiplication. Larger divisors are excluded: the computation of their factor would exceed 128 bits,
/// and the quotient is only 0 or 1.
fn is_unsigned_divisor(ty: Type, c: i64) -> bool {
    let c = ty.truncate(c as u64);
    c > 1 && !c.is_power_of_two() && c <= greatest(ty) as u64
}

/// Whether the unsigned factor fits the type.
pub(super) fn divides_plainly(ty: Type, c: i64) -> bool {
    is_unsigned_divisor(ty, c) && unsigned_magic(ty, c).factor <= ty.mask() as i128
}

/// Whether the unsigned factor needs one bit more than the type has.
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

/// From Warren, "Hacker's Delight". The factor has the divisor's sign, and may not fit the signed type.
fn signed_magic(ty: Type, c: i64) -> Magic {
    let (n_bits, divisor) = (ty.bits(), c.unsigned_abs() as u128);
    let mut shift = 0;
    loop {
        let power = 1u128 << (n_bits + shift);
        let factor = power / divisor + 1;
        let error = factor * divisor - power;
        // The bound is strict, because the least dividend has the greatest magnitude, and its quotient is positive if the
        // divisor is negative.
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

/// The difference between the factor and its truncation to the signed type: 0, `2^bits` or `-2^bits`.
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

/// Whether a signed constant is a power of two above 1.
pub(super) fn is_signed_pow2(c: i64) -> bool {
    c > 1 && (c as u64).is_power_of_two()
}

/// The count by which the mask of the sign is shifted right, to get the bias that rounds a quotient toward zero.
pub(super) fn bias_shift(ty: Type, c: i64) -> i64 {
    bits(ty) - log2(ty, c)
}

pub(super) fn sign_shift(ty: Type) -> i64 {
    bits(ty) - 1
}

/// Whether a count is negative, or not below the width.
pub(super) fn is_over(ty: Type, n: i64) -> bool {
    n != count(ty, n)
}

/// Whether a mask has all bits that may be set after a right shift by this count.
pub(super) fn covers(ty: Type, mask: i64, n: i64) -> bool {
    keeps_all(mask as u64, low_mask(ty, n) as u64)
}

fn keeps_all(mask: u64, bits: u64) -> bool {
    mask & bits == bits
}

pub(super) fn fits_32_scaled(c: i64, scale: i64) -> bool {
    c.checked_mul(scale).is_some_and(fits_32)
}

/// `scale << n`; zero, which is not a scale, if `n` is too large.
pub(super) fn shifted_scale(scale: i64, n: i64) -> i64 {
    if (0..4).contains(&n) { scale << n } else { 0 }
}

/// Whether machines convert a type to floats without widening it first.
pub(super) fn is_wide(ty: Type) -> bool {
    ty.bits() >= 32
}

/// Whether a constant is the first of two constants and not the second.
pub(super) fn is_first(a: i64, b: i64, c: i64) -> bool {
    a == c && b != c
}

/// Whether a constant is the second of two constants and not the first.
pub(super) fn is_second(a: i64, b: i64, c: i64) -> bool {
    is_first(b, a, c)
}
