//! Comparisons and flags.

use super::number::*;
use azulejo_macros::rewrite;

rewrite! {
    pub(super) static COMPARE;

    // Constants move to the right.

    // c < x = x > c
    (lt.$t:value (const $c) $x:variable) => (gt $x (const $c))
    (le.$t:value (const $c) $x:variable) => (ge $x (const $c))
    (ge.$t:value (const $c) $x:variable) => (le $x (const $c))
    (gt.$t:value (const $c) $x:variable) => (lt $x (const $c))
    (ult.$t:int (const $c) $x:variable) => (ugt $x (const $c))
    (ule.$t:int (const $c) $x:variable) => (uge $x (const $c))
    (uge.$t:int (const $c) $x:variable) => (ule $x (const $c))
    (ugt.$t:int (const $c) $x:variable) => (ult $x (const $c))

    // Negations. Ordered comparisons of floats have no inverse: with a NaN, neither a comparison nor its opposite holds.

    // !!f = f
    (notf (notf $f)) => $f
    (notf (eq.$t:value $x $y)) => (ne $x $y)
    (notf (ne.$t:value $x $y)) => (eq $x $y)
    (notf (lt.$t:int $x $y)) => (ge $x $y)
    (notf (le.$t:int $x $y)) => (gt $x $y)
    (notf (ge.$t:int $x $y)) => (lt $x $y)
    (notf (gt.$t:int $x $y)) => (le $x $y)
    (notf (ult.$t:int $x $y)) => (uge $x $y)
    (notf (ule.$t:int $x $y)) => (ugt $x $y)
    (notf (uge.$t:int $x $y)) => (ult $x $y)
    (notf (ugt.$t:int $x $y)) => (ule $x $y)
    (notf (nz.$t:int $x)) => (zr $x)
    (notf (zr.$t:int $x)) => (nz $x)

    // Comparisons of a value with itself. A NaN is not less than itself either, so `lt` and `gt` are false for floats, too.

    (eq.$t:int $x $x) => (const 1)
    (ne.$t:int $x $x) => (const 0)
    (lt.$t:value $x $x) => (const 0)
    (gt.$t:value $x $x) => (const 0)
    (le.$t:int $x $x) => (const 1)
    (ge.$t:int $x $x) => (const 1)
    (ult.$t:int $x $x) => (const 0)
    (ugt.$t:int $x $x) => (const 0)
    (ule.$t:int $x $x) => (const 1)
    (uge.$t:int $x $x) => (const 1)

    // Comparisons of one of two constants.

    // (f ? a : b) = a is f
    (eq.$t:int (select $f (const $a) (const $b)) (const $c)) => $f if (&is_first $a $b $c)
    (ne.$t:int (select $f (const $a) (const $b)) (const $c)) => (notf $f) if (&is_first $a $b $c)
    // (f ? a : b) = b is !f
    (eq.$t:int (select $f (const $a) (const $b)) (const $c)) => (notf $f) if (&is_second $a $b $c)
    (ne.$t:int (select $f (const $a) (const $b)) (const $c)) => $f if (&is_second $a $b $c)
    (nz.$t:int (select $f (const $a) (const $b))) => $f if (&is_second $a $b 0)
    (nz.$t:int (select $f (const $a) (const $b))) => (notf $f) if (&is_first $a $b 0)
    (zr.$t:int (select $f (const $a) (const $b))) => $f if (&is_first $a $b 0)
    (zr.$t:int (select $f (const $a) (const $b))) => (notf $f) if (&is_second $a $b 0)

    // Comparisons with the ends of the range.

    // x = 0
    (eq.$t:int $x (const 0)) => (zr $x)
    (ne.$t:int $x (const 0)) => (nz $x)
    (ult.$t:int _ (const 0)) => (const 0)
    (uge.$t:int _ (const 0)) => (const 1)
    (ule.$t:int $x (const 0)) => (zr $x)
    (ugt.$t:int $x (const 0)) => (nz $x)
    (ult.$t:int $x (const 1)) => (zr $x)
    (uge.$t:int $x (const 1)) => (nz $x)
    (ugt.$t:int _ (const -1)) => (const 0)
    (ule.$t:int _ (const -1)) => (const 1)
    (lt.$t:int _ (const $c)) => (const 0) if (&is_least $t $c)
    (ge.$t:int _ (const $c)) => (const 1) if (&is_least $t $c)
    (gt.$t:int _ (const $c)) => (const 0) if (&is_greatest $t $c)
    (le.$t:int _ (const $c)) => (const 1) if (&is_greatest $t $c)

    // Comparisons of the results of invertible arithmetic.

    // x + a = b if and only if x = b - a
    (eq.$t:int (add $x (const $a)) (const $b)) => (eq $x (const (&sub $b $a)))
    (ne.$t:int (add $x (const $a)) (const $b)) => (ne $x (const (&sub $b $a)))
    (zr.$t:int (add $x (const $a))) => (eq $x (const (&neg $a)))
    (nz.$t:int (add $x (const $a))) => (ne $x (const (&neg $a)))
    // x ^ a = b if and only if x = b ^ a
    (eq.$t:int (xor $x (const $a)) (const $b)) => (eq $x (const (&xor $b $a)))
    (ne.$t:int (xor $x (const $a)) (const $b)) => (ne $x (const (&xor $b $a)))
    // x - y = 0 if and only if x = y
    (zr.$t:int (sub $x $y)) => (eq $x $y)
    (nz.$t:int (sub $x $y)) => (ne $x $y)
    (zr.$t:int (xor $x $y)) => (eq $x $y)
    (nz.$t:int (xor $x $y)) => (ne $x $y)
    // -x = 0 if and only if x = 0
    (zr.$t:int (neg $x)) => (zr $x)
    (nz.$t:int (neg $x)) => (nz $x)
    // x + y = x + z if and only if y = z
    (eq.$t:int (add $x $y) (add $x $z)) => (eq $y $z)
    (ne.$t:int (add $x $y) (add $x $z)) => (ne $y $z)

    // Comparisons of widened values.

    (zr.$b:int (ucast.$a.$b $x)) => (zr $x) if (&is_narrower $a $b)
    (nz.$b:int (ucast.$a.$b $x)) => (nz $x) if (&is_narrower $a $b)
    (zr.$b:int (scast.$a.$b $x)) => (zr $x) if (&is_narrower $a $b)
    (nz.$b:int (scast.$a.$b $x)) => (nz $x) if (&is_narrower $a $b)
    (eq.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (eq $x $y) if (&is_narrower $a $b)
    (ne.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (ne $x $y) if (&is_narrower $a $b)
    (ult.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (ult $x $y) if (&is_narrower $a $b)
    (ule.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (ule $x $y) if (&is_narrower $a $b)
    (uge.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (uge $x $y) if (&is_narrower $a $b)
    (ugt.$b:int (ucast.$a.$b $x) (ucast.$a.$b $y)) => (ugt $x $y) if (&is_narrower $a $b)
    (eq.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (eq $x $y) if (&is_narrower $a $b)
    (ne.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (ne $x $y) if (&is_narrower $a $b)
    (lt.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (lt $x $y) if (&is_narrower $a $b)
    (le.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (le $x $y) if (&is_narrower $a $b)
    (ge.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (ge $x $y) if (&is_narrower $a $b)
    (gt.$b:int (scast.$a.$b $x) (scast.$a.$b $y)) => (gt $x $y) if (&is_narrower $a $b)

    // Flags converted to numbers.

    // flagval f ≠ 0 if and only if f
    (nz.$t:int (flagval $f)) => $f
    (zr.$t:int (flagval $f)) => (notf $f)
    (eq.$t:int (flagval $f) (const 1)) => $f
    (ne.$t:int (flagval $f) (const 1)) => (notf $f)
    (ucast.$a.$b (flagval $f)) => (flagval $f)
    (and.$t:int (flagval $f) (const 1)) => (flagval $f)
    (xor.$t:int (flagval $f) (const 1)) => (flagval (notf $f))
}
