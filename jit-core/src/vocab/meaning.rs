//! The meaning of each operator, as plain Rust.
//!
//! Each operator has one function with its name, generic over the types that it works on. The generated interpreter calls
//! these functions directly, so rustc's code generator is the oracle. [`super::op`] wraps them as functions on bits for
//! constant folding, the reference evaluator and the tests. An operator on two types takes them in the order from, to: a
//! comparison from the type that it compares, a cast from its operand's type to its result's.

use super::trap::Trap;
use super::ty::Type;

/// Whether the memory is made that a bytecode makes. Only the optimizer leaves out what nobody needs.
#[inline(always)]
pub fn kept() -> bool {
    true
}

/// A Rust type that holds values of one [`Type`].
pub trait Num: Copy + PartialOrd {
    /// The machine type.
    const TYPE: Type;
    /// The value with these bits; bits above the type's width are ignored.
    fn from_bits(bits: u64) -> Self;
    /// The bits of the value; those above its width are zero.
    fn to_bits(self) -> u64;
    /// Wrapping for integers, IEEE for floats.
    fn add(self, other: Self) -> Self;
    /// Wrapping for integers, IEEE for floats.
    fn sub(self, other: Self) -> Self;
    /// Wrapping for integers, IEEE for floats.
    fn mul(self, other: Self) -> Self;
    /// Wrapping for integers, a flipped sign bit for floats.
    fn neg(self) -> Self;
    /// Signed division, which may trap; or IEEE division, which cannot.
    fn div(self, other: Self) -> Result<Self, Trap>;
}

/// An integer of any width, held as the signed Rust type.
pub trait Int: Num + Ord {
    /// The value read as signed.
    fn signed(self) -> i64;
    /// The value read as unsigned.
    fn unsigned(self) -> u64 {
        self.to_bits()
    }
    /// Width in bits.
    const BITS: u32 = Self::TYPE.bits();
}

/// A float of either width.
pub trait Float: Num {
    /// The bit that makes a NaN a quiet one.
    const QUIET: u64;
    /// The bits of an infinity.
    const INFINITY: u64;
    /// The value as a double; exact for both widths.
    fn to_f64(self) -> f64;
    /// A double, rounded to nearest for the narrow width.
    fn from_f64(value: f64) -> Self;
    /// A signed integer, rounded once.
    fn from_i64(value: i64) -> Self;
    /// An unsigned integer, rounded once.
    fn from_u64(value: u64) -> Self;
}

macro_rules! ints {
    ($($int:ident $unsigned:ident $ty:ident),*) => {$(
        impl Num for $int {
            const TYPE: Type = Type::$ty;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self { bits as $int }
            #[inline(always)]
            fn to_bits(self) -> u64 { self as $unsigned as u64 }
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn div(self, other: Self) -> Result<Self, Trap> {
                match self.checked_div(other) {
                    Some(quotient) => Ok(quotient),
                    None if other == 0 => Err(Trap::DivideByZero),
                    None => Err(Trap::Overflow),
                }
            }
        }
        impl Int for $int {
            #[inline(always)]
            fn signed(self) -> i64 { self as i64 }
        }
    )*};
}
ints!(i8 u8 I8, i16 u16 I16, i32 u32 I32, i64 u64 I64);

macro_rules! floats {
    ($($float:ident $bits:ident $ty:ident),*) => {$(
        impl Num for $float {
            const TYPE: Type = Type::$ty;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self { $float::from_bits(bits as $bits) }
            #[inline(always)]
            fn to_bits(self) -> u64 { self.to_bits() as u64 }
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn div(self, other: Self) -> Result<Self, Trap> { Ok(self / other) }
        }
        impl Float for $float {
            const QUIET: u64 = 1 << ($float::MANTISSA_DIGITS - 2);
            const INFINITY: u64 = $float::INFINITY.to_bits() as u64;
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)]
            fn from_f64(value: f64) -> Self { value as $float }
            #[inline(always)]
            fn from_i64(value: i64) -> Self { value as $float }
            #[inline(always)]
            fn from_u64(value: u64) -> Self { value as $float }
        }
    )*};
}
floats!(f32 u32 F32, f64 u64 F64);

impl Num for bool {
    const TYPE: Type = Type::Flag;
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }
    #[inline(always)]
    fn to_bits(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn neg(self) -> Self {
        self
    }
    #[inline(always)]
    fn div(self, other: Self) -> Result<Self, Trap> {
        if other { Ok(self) } else { Err(Trap::DivideByZero) }
    }
}

/// Defines operators whose body is one expression.
macro_rules! meanings {
    ($( $(#[doc = $doc:literal])* $name:ident<$($param:ident: $bound:ident),*>($($arg:ident: $arg_ty:ty),*) -> $res:ty = $body:expr; )*) => {$(
        $(#[doc = $doc])*
        #[inline(always)]
        pub fn $name<$($param: $bound),*>($($arg: $arg_ty),*) -> $res { $body }
    )*};
}

meanings! {
    /// The value itself.
    copy<T: Num>(a: T) -> T = a;
    /// Signed or IEEE less than; false on NaN.
    lt<T: Num>(a: T, b: T) -> bool = a < b;
    /// Signed or IEEE less or equal; false on NaN.
    le<T: Num>(a: T, b: T) -> bool = a <= b;
    /// Equal; false on NaN, and 0.0 equals -0.0.
    eq<T: Num>(a: T, b: T) -> bool = a == b;
    /// Not equal; true on NaN.
    ne<T: Num>(a: T, b: T) -> bool = a != b;
    /// Signed or IEEE greater or equal; false on NaN.
    ge<T: Num>(a: T, b: T) -> bool = a >= b;
    /// Signed or IEEE greater than; false on NaN.
    gt<T: Num>(a: T, b: T) -> bool = a > b;
    /// Unsigned less than.
    ult<T: Int>(a: T, b: T) -> bool = a.unsigned() < b.unsigned();
    /// Unsigned less or equal.
    ule<T: Int>(a: T, b: T) -> bool = a.unsigned() <= b.unsigned();
    /// Unsigned greater or equal.
    uge<T: Int>(a: T, b: T) -> bool = a.unsigned() >= b.unsigned();
    /// Unsigned greater than.
    ugt<T: Int>(a: T, b: T) -> bool = a.unsigned() > b.unsigned();
    /// Not zero.
    nz<T: Int>(a: T) -> bool = a.unsigned() != 0;
    /// Zero.
    zr<T: Int>(a: T) -> bool = a.unsigned() == 0;
    /// The opposite flag.
    notf<>(a: bool) -> bool = !a;

    /// To another integer width, widening with the sign bit.
    scast<F: Int, T: Int>(a: F) -> T = T::from_bits(a.signed() as u64);
    /// To another integer width, widening with zeros.
    ucast<F: Int, T: Int>(a: F) -> T = T::from_bits(a.unsigned());
    /// One if the flag holds, else zero.
    flagval<T: Int>(a: bool) -> T = T::from_bits(a as u64);
    /// No value: the operand is evaluated and dropped.
    discard<T: Num>(_a: T) -> () = ();
    /// A signed integer as a float, rounded to nearest.
    stof<F: Int, T: Float>(a: F) -> T = T::from_i64(a.signed());
    /// An unsigned integer as a float, rounded to nearest.
    utof<F: Int, T: Float>(a: F) -> T = T::from_u64(a.unsigned());
    /// A float rounded toward zero, modulo two to the width; NaN and infinities give zero.
    ftoi_wrap<F: Float, T: Int>(a: F) -> T = T::from_bits(wrap(a.to_f64()));
    /// A float rounded toward zero, saturated to the range of the signed integer; NaN gives zero.
    ftos_sat<F: Float, T: Int>(a: F) -> T = T::from_bits(saturate_signed(a.to_f64(), T::BITS) as u64);
    /// A float rounded toward zero, saturated to the range of the unsigned integer; NaN gives zero.
    ftou_sat<F: Float, T: Int>(a: F) -> T = T::from_bits(saturate_unsigned(a.to_f64(), T::BITS));
    /// A float rounded toward zero to a signed integer; the least integer if it does not fit.
    ftos_least<F: Float, T: Int>(a: F) -> T = T::from_bits(signed_or_least(a.to_f64(), T::BITS) as u64);
    /// The same bits as another type of the same width.
    bitcast<F: Num, T: Num>(a: F) -> T = T::from_bits(a.to_bits());
    /// To the other float width.
    fcast<F: Float, T: Float>(a: F) -> T = T::from_f64(a.to_f64());

    /// Addition.
    add<T: Num>(a: T, b: T) -> T = a.add(b);
    /// Subtraction.
    sub<T: Num>(a: T, b: T) -> T = a.sub(b);
    /// Multiplication.
    mul<T: Num>(a: T, b: T) -> T = a.mul(b);
    /// Negation.
    neg<T: Num>(a: T) -> T = a.neg();
    /// Signed or IEEE division.
    div<T: Num>(a: T, b: T) -> Result<T, Trap> = a.div(b);
    /// Bitwise and.
    and<T: Int>(a: T, b: T) -> T = T::from_bits(a.to_bits() & b.to_bits());
    /// Bitwise or.
    or<T: Int>(a: T, b: T) -> T = T::from_bits(a.to_bits() | b.to_bits());
    /// Bitwise exclusive or.
    xor<T: Int>(a: T, b: T) -> T = T::from_bits(a.to_bits() ^ b.to_bits());
    /// Bitwise complement.
    not<T: Int>(a: T) -> T = T::from_bits(!a.to_bits());
    /// Left shift; the count is taken modulo the width.
    shl<T: Int>(a: T, n: T) -> T = T::from_bits(a.unsigned() << count(n));
    /// Right shift that shifts in zeros; the count is taken modulo the width.
    shr<T: Int>(a: T, n: T) -> T = T::from_bits(a.unsigned() >> count(n));
    /// Right shift that shifts in the sign; the count is taken modulo the width.
    sar<T: Int>(a: T, n: T) -> T = T::from_bits((a.signed() >> count(n)) as u64);
    /// Left rotation; the count is taken modulo the width.
    rotl<T: Int>(a: T, n: T) -> T = rotate_left(a, count(n));
    /// Right rotation; the count is taken modulo the width.
    rotr<T: Int>(a: T, n: T) -> T = rotate_left(a, (T::BITS - count(n)) % T::BITS);
    /// The number of leading zeros; the width for zero.
    clz<T: Int>(a: T) -> T = T::from_bits((a.unsigned().leading_zeros() - (64 - T::BITS)) as u64);
    /// The number of trailing zeros; the width for zero.
    ctz<T: Int>(a: T) -> T = T::from_bits(a.unsigned().trailing_zeros().min(T::BITS) as u64);
    /// The number of one bits.
    popcnt<T: Int>(a: T) -> T = T::from_bits(a.unsigned().count_ones() as u64);
    /// The bytes in reverse order.
    bswap<T: Int>(a: T) -> T = T::from_bits(a.unsigned().swap_bytes() >> (64 - T::BITS));
    /// The upper half of the signed product.
    mulhi<T: Int>(a: T, b: T) -> T =
        T::from_bits(((a.signed() as i128 * b.signed() as i128) >> T::BITS) as u64);
    /// The upper half of the unsigned product.
    umulhi<T: Int>(a: T, b: T) -> T =
        T::from_bits(((a.unsigned() as u128 * b.unsigned() as u128) >> T::BITS) as u64);
    /// Whether the signed sum does not fit.
    addo<T: Int>(a: T, b: T) -> bool = !fits_signed::<T>(a.signed() as i128 + b.signed() as i128);
    /// Whether the signed difference does not fit.
    subo<T: Int>(a: T, b: T) -> bool = !fits_signed::<T>(a.signed() as i128 - b.signed() as i128);
    /// Whether the signed product does not fit.
    mulo<T: Int>(a: T, b: T) -> bool = !fits_signed::<T>(a.signed() as i128 * b.signed() as i128);
    /// Whether the unsigned sum does not fit.
    uaddo<T: Int>(a: T, b: T) -> bool = a.unsigned() as u128 + b.unsigned() as u128 > T::TYPE.mask() as u128;
    /// Whether the unsigned difference is negative.
    usubo<T: Int>(a: T, b: T) -> bool = a.unsigned() < b.unsigned();
    /// Whether the unsigned product does not fit.
    umulo<T: Int>(a: T, b: T) -> bool = a.unsigned() as u128 * b.unsigned() as u128 > T::TYPE.mask() as u128;

    /// The sign bit cleared.
    abs<T: Float>(a: T) -> T = T::from_bits(a.to_bits() & (T::TYPE.mask() >> 1));
    /// The square root.
    sqrt<T: Float>(a: T) -> T = T::from_f64(a.to_f64().sqrt());
    /// The smaller; NaN if either is; -0.0 is less than 0.0.
    min<T: Float>(a: T, b: T) -> T = minimum(a, b);
    /// The larger; NaN if either is; -0.0 is less than 0.0.
    max<T: Float>(a: T, b: T) -> T = maximum(a, b);
    /// Rounded down.
    floor<T: Float>(a: T) -> T = rounded(a, f64::floor);
    /// Rounded up.
    ceil<T: Float>(a: T) -> T = rounded(a, f64::ceil);
    /// Rounded toward zero.
    trunc<T: Float>(a: T) -> T = rounded(a, f64::trunc);
    /// Rounded to nearest, ties to even.
    nearest<T: Float>(a: T) -> T = rounded(a, f64::round_ties_even);
    /// The first with the sign of the second.
    copysign<T: Float>(a: T, b: T) -> T = {
        let magnitude = T::TYPE.mask() >> 1;
        T::from_bits((a.to_bits() & magnitude) | (b.to_bits() & !magnitude))
    };

    /// A pointer plus a constant number of bytes.
    addr<>(base: i64, offset: i64) -> i64 = base.wrapping_add(offset);
    /// The address of an element of `scale` bytes.
    idx<>(base: i64, element: i64, scale: i64) -> i64 = base.wrapping_add(element.wrapping_mul(scale));
    /// One of two values.
    select<T: Num>(flag: bool, a: T, b: T) -> T = if flag { a } else { b };
}

/// The value itself; every NaN becomes the quiet one without sign or payload.
///
/// A compiler may replace any NaN by another one, and `if value == value { value } else { NAN }` by `value`. So the canonical
/// NaN is read from memory by a volatile read, which no compiler can evaluate.
#[inline(always)]
pub fn canonical_nan<T: Float>(a: T) -> T {
    let one = T::INFINITY | T::QUIET;
    if a.to_bits() & (T::TYPE.mask() >> 1) <= T::INFINITY {
        return a;
    }
    // SAFETY: the reference is to a local of this function.
    T::from_bits(unsafe { core::ptr::read_volatile(&one) })
}

/// Signed remainder; traps only on zero. The remainder of the least integer by minus one is zero.
#[inline(always)]
pub fn rem<T: Int>(a: T, b: T) -> Result<T, Trap> {
    if b.unsigned() == 0 {
        return Err(Trap::DivideByZero);
    }
    Ok(T::from_bits(a.signed().wrapping_rem(b.signed()) as u64))
}

/// Unsigned division; traps on zero.
#[inline(always)]
pub fn udiv<T: Int>(a: T, b: T) -> Result<T, Trap> {
    match a.unsigned().checked_div(b.unsigned()) {
        Some(quotient) => Ok(T::from_bits(quotient)),
        None => Err(Trap::DivideByZero),
    }
}

/// Unsigned remainder; traps on zero.
#[inline(always)]
pub fn urem<T: Int>(a: T, b: T) -> Result<T, Trap> {
    match a.unsigned().checked_rem(b.unsigned()) {
        Some(remainder) => Ok(T::from_bits(remainder)),
        None => Err(Trap::DivideByZero),
    }
}

/// A float rounded toward zero to a signed integer; traps if it does not fit.
#[inline(always)]
pub fn ftos_trap<F: Float, T: Int>(a: F) -> Result<T, Trap> {
    let value = a.to_f64().trunc();
    let limit = 2f64.powi(T::BITS as i32 - 1);
    if value >= -limit && value < limit {
        Ok(T::from_bits(value as i64 as u64))
    } else {
        Err(Trap::BadConversion)
    }
}

/// A float rounded toward zero to an unsigned integer; traps if it does not fit.
#[inline(always)]
pub fn ftou_trap<F: Float, T: Int>(a: F) -> Result<T, Trap> {
    let value = a.to_f64().trunc();
    if value > -1.0 && value < 2f64.powi(T::BITS as i32) {
        Ok(T::from_bits(value as u64))
    } else {
        Err(Trap::BadConversion)
    }
}

#[inline(always)]
fn count<T: Int>(n: T) -> u32 {
    n.unsigned() as u32 & (T::BITS - 1)
}

#[inline(always)]
fn rotate_left<T: Int>(a: T, n: u32) -> T {
    let bits = a.unsigned();
    if n == 0 { a } else { T::from_bits((bits << n) | (bits >> (T::BITS - n))) }
}

#[inline(always)]
fn fits_signed<T: Int>(value: i128) -> bool {
    let limit = 1i128 << (T::BITS - 1);
    value >= -limit && value < limit
}

/// The integer part modulo 2^64, from the bits: exact for every finite double.
#[inline(always)]
fn wrap(value: f64) -> u64 {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    if exponent == 0x7ff {
        return 0;
    }
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let magnitude = match exponent - 1075 {
        shift if shift >= 64 || exponent < 1023 => 0,
        shift if shift >= 0 => mantissa << shift,
        shift => mantissa >> -shift,
    };
    if value.is_sign_negative() { magnitude.wrapping_neg() } else { magnitude }
}

#[inline(always)]
fn saturate_signed(value: f64, bits: u32) -> i64 {
    let max = i64::MAX >> (64 - bits);
    (value as i64).clamp(-max - 1, max)
}

/// The result of the machine's instruction. Floats just below the least integer may be rounded to it.
#[inline(always)]
fn signed_or_least(value: f64, bits: u32) -> i64 {
    let beyond = (1u64 << (bits - 1)) as f64;
    if value > -beyond - 1.0 && value < beyond { value as i64 } else { i64::MIN >> (64 - bits) }
}

#[inline(always)]
fn saturate_unsigned(value: f64, bits: u32) -> u64 {
    (value as u64).min(u64::MAX >> (64 - bits))
}

/// Rounds a float. Rust's rounding functions may return a signaling NaN, so NaNs are made quiet here.
#[inline(always)]
fn rounded<T: Float>(a: T, round: fn(f64) -> f64) -> T {
    let value = a.to_f64();
    if value.is_nan() { T::from_bits(a.to_bits() | T::QUIET) } else { T::from_f64(round(value)) }
}

#[inline(always)]
fn minimum<T: Float>(a: T, b: T) -> T {
    let (x, y) = (a.to_f64(), b.to_f64());
    if x.is_nan() || y.is_nan() {
        a.add(b)
    } else if x < y || (x == y && x.is_sign_negative()) {
        a
    } else {
        b
    }
}

#[inline(always)]
fn maximum<T: Float>(a: T, b: T) -> T {
    let (x, y) = (a.to_f64(), b.to_f64());
    if x.is_nan() || y.is_nan() {
        a.add(b)
    } else if x > y || (x == y && x.is_sign_positive()) {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_becomes_the_one() {
        let canonical = |bits| canonical_nan(f64::from_bits(bits)).to_bits();
        let narrow = |bits| canonical_nan(f32::from_bits(bits)).to_bits();
        for nan in [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000, u64::MAX, 0x7ff8_0000_0000_0000] {
            assert_eq!(canonical(nan), 0x7ff8_0000_0000_0000, "{nan:x}");
        }
        for nan in [0x7f80_0001, 0xffc0_0000, u32::MAX, 0x7fc0_0000] {
            assert_eq!(narrow(nan), 0x7fc0_0000, "{nan:x}");
        }
        for number in [0, 1, 1 << 63, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x3ff0_0000_0000_0000] {
            assert_eq!(canonical(number), number);
        }
        assert_eq!([narrow(0xff80_0000), narrow(1 << 31)], [0xff80_0000, 1 << 31]);
    }

    #[test]
    fn rounding_gives_no_signaling_nan() {
        let signaling = f64::from_bits(0x7ff4_0000_0000_0001);
        for round in [floor::<f64>, ceil, trunc, nearest] {
            // The compiler must not know the value.
            let rounded = round(core::hint::black_box(signaling)).to_bits();
            assert_eq!(rounded >> 51, 0xfff, "{rounded:x}");
        }
        assert_eq!([floor(-0.5), ceil(-0.5), trunc(-0.5), nearest(2.5)], [-1.0, -0.0, -0.0, 2.0]);
        assert!(ceil(-0.5f64).is_sign_negative());
    }
}
