//! Floats. Few identities hold: an operation that quiets a NaN must stay, and the sign of zero must not be lost.

use super::number::*;
use azulejo_macros::rewrite;

rewrite! {
    pub(super) static FLOAT;

    // Signs. These operations only change the sign bit, so the rules hold for NaNs, too.

    // --x = x
    (neg.$t:float (neg $x)) => $x
    // |-x| = |x|
    (abs.$t:float (neg $x)) => (abs $x)
    // ||x|| = |x|
    (abs.$t:float (abs $x)) => (abs $x)
    // |copysign(x, y)| = |x|
    (abs.$t:float (copysign $x _)) => (abs $x)
    // copysign(-x, y) = copysign(x, y)
    (copysign.$t:float (neg $x) $y) => (copysign $x $y)
    (copysign.$t:float (abs $x) $y) => (copysign $x $y)
    (copysign.$t:float (copysign $x _) $y) => (copysign $x $y)
    // copysign(x, |y|) = |x|
    (copysign.$t:float $x (abs _)) => (abs $x)
    // copysign(x, x) = x
    (copysign.$t:float $x $x) => $x
    // copysign(x, copysign(y, z)) = copysign(x, z)
    (copysign.$t:float $x (copysign _ $z)) => (copysign $x $z)

    // x / 2^n = x * 2^-n
    (div.$t:float $x (const $c)) => (mul $x (const (&inverse $t $c))) if (&has_exact_inverse $t $c)

    // Rounding. A rounded number is integral, so rounding it again does not change it.

    (floor.$t:float $x@(floor _)) => $x
    (floor.$t:float $x@(ceil _)) => $x
    (floor.$t:float $x@(trunc _)) => $x
    (floor.$t:float $x@(nearest _)) => $x
    (ceil.$t:float $x@(floor _)) => $x
    (ceil.$t:float $x@(ceil _)) => $x
    (ceil.$t:float $x@(trunc _)) => $x
    (ceil.$t:float $x@(nearest _)) => $x
    (trunc.$t:float $x@(floor _)) => $x
    (trunc.$t:float $x@(ceil _)) => $x
    (trunc.$t:float $x@(trunc _)) => $x
    (trunc.$t:float $x@(nearest _)) => $x
    (nearest.$t:float $x@(floor _)) => $x
    (nearest.$t:float $x@(ceil _)) => $x
    (nearest.$t:float $x@(trunc _)) => $x
    (nearest.$t:float $x@(nearest _)) => $x

    // Canonical NaNs. A comparison does not depend on the bits of a NaN, and no integer converts to a NaN.

    (canonical_nan.$t:float $x@(canonical_nan _)) => $x
    (canonical_nan.$t:float $x@(stof _)) => $x
    (canonical_nan.$t:float $x@(utof _)) => $x
    (lt.$t:float (canonical_nan $x) $y) => (lt $x $y)
    (lt.$t:float $x (canonical_nan $y)) => (lt $x $y)
    (le.$t:float (canonical_nan $x) $y) => (le $x $y)
    (le.$t:float $x (canonical_nan $y)) => (le $x $y)
    (ge.$t:float (canonical_nan $x) $y) => (ge $x $y)
    (ge.$t:float $x (canonical_nan $y)) => (ge $x $y)
    (gt.$t:float (canonical_nan $x) $y) => (gt $x $y)
    (gt.$t:float $x (canonical_nan $y)) => (gt $x $y)
    (eq.$t:float (canonical_nan $x) $y) => (eq $x $y)
    (ne.$t:float (canonical_nan $x) $y) => (ne $x $y)

    // Conversions.

    // A bitcast and its inverse cancel.
    (bitcast.$b.$a (bitcast.$a.$b $x)) => $x
    // Widening is exact, so an integer converts to the same float without being widened first.
    (stof.$b.$f (scast.$a.$b $x)) => (stof.$a.$f $x) if (&is_narrower $a $b) && (&is_wide $a)
    // A zero-extended integer is not negative, so the signed conversion, which machines have, returns the same float.
    (utof.$b.$f $x@(ucast.$a.$b _)) => (stof.$b.$f $x) if (&is_narrower $a $b)
    // Narrowing a widened float does not round. It quiets NaNs, but so does the widening that stays.
    (fcast.f32.f64 (fcast.f64.f32 (fcast.f32.f64 $x))) => (fcast.f32.f64 $x)
}
