//! What each operator means, as plain Rust.
//!
//! One function an operator, named like it, generic over the types it works on. The generated interpreter calls
//! these directly (so rustc's code generator is the oracle), and [`super::op`] wraps them as functions on bits for
//! constant folding, the reference evaluator and the tests. An operator on two types (a comparison has the type
//! it compares, a cast the types from and to) takes them in the order from, to.

use super::trap::Trap;
use super::ty::Type;

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
    /// Signed division, which traps; or IEEE division, which does not.
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
    /// Exact for both widths.
    fn to_f64(self) -> f64;
    /// Rounds to nearest for the narrow width.
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
    /// Nothing: the operand is evaluated and forgotten.
    discard<T: Num>(_a: T) -> () = ();
    /// A signed integer as a float, rounded to nearest.
    stof<F: Int, T: Float>(a: F) -> T = T::from_i64(a.signed());
    /// An unsigned integer as a float, rounded to nearest.
    utof<F: Int, T: Float>(a: F) -> T = T::from_u64(a.unsigned());
    /// A float rounded toward zero, modulo two to the width; NaN and infinities give zero.
    ftoi_wrap<F: Float, T: Int>(a: F) -> T = T::from_bits(wrap(a.to_f64()));
    /// A float rounded toward zero to the nearest signed integer there is; NaN gives zero.
    ftos_sat<F: Float, T: Int>(a: F) -> T = T::from_bits(saturate_signed(a.to_f64(), T::BITS) as u64);
    /// A float rounded toward zero to the nearest unsigned integer there is; NaN gives zero.
    ftou_sat<F: Float, T: Int>(a: F) -> T = T::from_bits(saturate_unsigned(a.to_f64(), T::BITS));
    /// A float rounded toward zero to a signed integer; the least one where there is none.
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
    /// Left shift; the count counts modulo the width.
    shl<T: Int>(a: T, n: T) -> T = T::from_bits(a.unsigned() << count(n));
    /// Right shift that brings in zeros; the count counts modulo the width.
    shr<T: Int>(a: T, n: T) -> T = T::from_bits(a.unsigned() >> count(n));
    /// Right shift that brings in the sign; the count counts modulo the width.
    sar<T: Int>(a: T, n: T) -> T = T::from_bits((a.signed() >> count(n)) as u64);
    /// Left rotation; the count counts modulo the width.
    rotl<T: Int>(a: T, n: T) -> T = rotate_left(a, count(n));
    /// Right rotation; the count counts modulo the width.
    rotr<T: Int>(a: T, n: T) -> T = rotate_left(a, (T::BITS - count(n)) % T::BITS);
    /// Zeros above the highest one; the width for zero.
    clz<T: Int>(a: T) -> T = T::from_bits((a.unsigned().leading_zeros() - (64 - T::BITS)) as u64);
    /// Zeros below the lowest one; the width for zero.
    ctz<T: Int>(a: T) -> T = T::from_bits(a.unsigned().trailing_zeros().min(T::BITS) as u64);
    /// How many bits are one.
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

/// The value itself, and for every NaN the one that is quiet and has neither sign nor payload.
///
/// A compiler may take any NaN that it knows for any other, and `if value == value { value } else { NAN }` for `value`. So
/// what stands for a NaN here is read from memory, where no compiler looks before the program runs.
#[inline(always)]
pub fn canonical_nan<T: Float>(a: T) -> T {
    let one = T::INFINITY | T::QUIET;
    if a.to_bits() & (T::TYPE.mask() >> 1) <= T::INFINITY {
        return a;
    }
    // SAFETY: it is a value of this function.
    T::from_bits(unsafe { core::ptr::read_volatile(&one) })
}

/// Signed remainder; the remainder of the least integer by minus one is zero, and only zero traps.
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

/// A float rounded toward zero to a signed integer; traps where there is none.
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

/// A float rounded toward zero to an unsigned integer; traps where there is none.
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

/// What a machine's instruction gives. Just below the least integer there may be floats that are rounded to it.
#[inline(always)]
fn signed_or_least(value: f64, bits: u32) -> i64 {
    let beyond = (1u64 << (bits - 1)) as f64;
    if value > -beyond - 1.0 && value < beyond { value as i64 } else { i64::MIN >> (64 - bits) }
}

#[inline(always)]
fn saturate_unsigned(value: f64, bits: u32) -> u64 {
    (value as u64).min(u64::MAX >> (64 - bits))
}

/// A rounding function of Rust may hand a signaling NaN on, and so may its arithmetic.
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
            // Not known to whoever compiles this.
            let rounded = round(core::hint::black_box(signaling)).to_bits();
            assert_eq!(rounded >> 51, 0xfff, "{rounded:x}");
        }
        assert_eq!([floor(-0.5), ceil(-0.5), trunc(-0.5), nearest(2.5)], [-1.0, -0.0, -0.0, 2.0]);
        assert!(ceil(-0.5f64).is_sign_negative());
    }
}
