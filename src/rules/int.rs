//! Integer arithmetic, bits, shifts, division by constants, and casts between integers.

use super::number::*;
use azulejo_macros::rewrite;

rewrite! {
    pub(super) static INT;

    // Sums. Constants gather on the right, and a difference with a constant becomes a sum.

    // x + 0 = x
    (add.$t:int $x (const 0)) => $x
    // (x + a) + b = x + (a + b)
    // An address keeps a small offset for the instruction that uses it.
    (add.$t:int (add $x (const $a)) (const $b)) => (add $x (const (&add $a $b))) if (&gathers $a $b)
    // (a - x) + b = (a + b) - x
    (add.$t:int (sub (const $a) $x) (const $b)) => (sub (const (&add $a $b)) $x)
    // (x - y) + y = x
    (add.$t:int (sub $x $y) $y) => $x
    // !x + 1 = -x
    (add.$t:int (not $x) (const 1)) => (neg $x)
    // -x + y = y - x
    (add.$t:int (neg $x) $y:variable) => (sub $y $x)
    // x - 0 = x
    (sub.$t:int $x (const 0)) => $x
    // x - c = x + -c
    (sub.$t:int $x:variable (const $c)) => (add $x (const (&neg $c)))
    // x - x = 0
    (sub.$t:int $x $x) => (const 0)
    // 0 - x = -x
    (sub.$t:int (const 0) $x) => (neg $x)
    // -1 - x = !x
    (sub.$t:int (const -1) $x) => (not $x)
    // a - (x + b) = (a - b) - x
    (sub.$t:int (const $a) (add $x (const $b))) => (sub (const (&sub $a $b)) $x)
    // (x + y) - y = x
    (sub.$t:int (add $x $y) $y) => $x
    // y - (x + y) = -x
    (sub.$t:int $y (add $x $y)) => (neg $x)
    // x - (x - y) = y
    (sub.$t:int $x (sub $x $y)) => $y
    // x - -y = x + y
    (sub.$t:int $x (neg $y)) => (add $x $y)
    // --x = x
    (neg.$t:int (neg $x)) => $x
    // -(x - y) = y - x
    (neg.$t:int (sub $x $y)) => (sub $y $x)
    // -!x = x + 1
    (neg.$t:int (not $x)) => (add $x (const 1))

    // Products.

    // x * 0 = 0
    (mul.$t:int $x (const 0)) => (const 0)
    // x * 1 = x
    (mul.$t:int $x (const 1)) => $x
    // x * -1 = -x
    (mul.$t:int $x (const -1)) => (neg $x)
    // x * 2^n = x << n
    (mul.$t:int $x (const $c:pow2)) => (shl $x (const (&log2 $t $c)))
    // (x * a) * b = x * (a * b)
    (mul.$t:int (mul $x (const $a)) (const $b)) => (mul $x (const (&mul $a $b)))
    // (x << a) * b = x * (b << a)
    (mul.$t:int (shl $x (const $a)) (const $b)) => (mul $x (const (&shifted $t $b $a)))
    // (x * a) << b = x * (a << b)
    (shl.$t:int (mul $x (const $a)) (const $b)) => (mul $x (const (&shifted $t $a $b)))
    // -x * c = x * -c
    (mul.$t:int (neg $x) (const $c)) => (mul $x (const (&neg $c)))
    // -x * -y = x * y
    (mul.$t:int (neg $x) (neg $y)) => (mul $x $y)

    // Bits.

    // !!x = x
    (not.$t:int (not $x)) => $x
    // !-x = x - 1
    (not.$t:int (neg $x)) => (add $x (const -1))
    // x & 0 = 0
    (and.$t:int $x (const 0)) => (const 0)
    // x & -1 = x
    (and.$t:int $x (const -1)) => $x
    // x & x = x
    (and.$t:int $x $x) => $x
    // x & !x = 0
    (and.$t:int $x (not $x)) => (const 0)
    // (x & a) & b = x & (a & b)
    (and.$t:int (and $x (const $a)) (const $b)) => (and $x (const (&and $a $b)))
    // (x | y) & x = x
    (and.$t:int (or $x $y) $x) => $x
    // x | 0 = x
    (or.$t:int $x (const 0)) => $x
    // x | -1 = -1
    (or.$t:int $x (const -1)) => (const -1)
    // x | x = x
    (or.$t:int $x $x) => $x
    // x | !x = -1
    (or.$t:int $x (not $x)) => (const -1)
    // (x | a) | b = x | (a | b)
    (or.$t:int (or $x (const $a)) (const $b)) => (or $x (const (&or $a $b)))
    // (x & y) | x = x
    (or.$t:int (and $x $y) $x) => $x
    // x ^ 0 = x
    (xor.$t:int $x (const 0)) => $x
    // x ^ -1 = !x
    (xor.$t:int $x (const -1)) => (not $x)
    // x ^ x = 0
    (xor.$t:int $x $x) => (const 0)
    // x ^ !x = -1
    (xor.$t:int $x (not $x)) => (const -1)
    // (x ^ a) ^ b = x ^ (a ^ b)
    (xor.$t:int (xor $x (const $a)) (const $b)) => (xor $x (const (&xor $a $b)))
    // (x ^ y) ^ y = x
    (xor.$t:int (xor $x $y) $y) => $x
    // !x ^ c = x ^ !c
    (xor.$t:int (not $x) (const $c)) => (xor $x (const (&not $c)))
    // !x ^ !y = x ^ y
    (xor.$t:int (not $x) (not $y)) => (xor $x $y)

    // Shifts and rotations. Constant counts are reduced modulo the width, and masks of counts are dropped.

    // x << 0 = x
    (shl.$t:int $x (const 0)) => $x
    (shr.$t:int $x (const 0)) => $x
    (sar.$t:int $x (const 0)) => $x
    (rotl.$t:int $x (const 0)) => $x
    (rotr.$t:int $x (const 0)) => $x
    // x << n = x << (n mod bits)
    (shl.$t:int $x (const $n)) => (shl $x (const (&count $t $n))) if (&is_over $t $n)
    (shr.$t:int $x (const $n)) => (shr $x (const (&count $t $n))) if (&is_over $t $n)
    (sar.$t:int $x (const $n)) => (sar $x (const (&count $t $n))) if (&is_over $t $n)
    (rotl.$t:int $x (const $n)) => (rotl $x (const (&count $t $n))) if (&is_over $t $n)
    // rotr(x, n) = rotl(x, bits - n)
    (rotr.$t:int $x (const $n)) => (rotl $x (const (&other_way $t $n)))
    // x << (n & m) = x << n if m has all bits of a count
    (shl.$t:int $x (and $n (const $m))) => (shl $x $n) if (&keeps_count $t $m)
    (shr.$t:int $x (and $n (const $m))) => (shr $x $n) if (&keeps_count $t $m)
    (sar.$t:int $x (and $n (const $m))) => (sar $x $n) if (&keeps_count $t $m)
    (rotl.$t:int $x (and $n (const $m))) => (rotl $x $n) if (&keeps_count $t $m)
    (rotr.$t:int $x (and $n (const $m))) => (rotr $x $n) if (&keeps_count $t $m)
    // 0 << n = 0
    (shl.$t:int (const 0) _) => (const 0)
    (shr.$t:int (const 0) _) => (const 0)
    (sar.$t:int (const 0) _) => (const 0)
    (rotl.$t:int (const 0) _) => (const 0)
    (rotr.$t:int (const 0) _) => (const 0)
    // -1 >> n = -1
    (sar.$t:int (const -1) _) => (const -1)
    (rotl.$t:int (const -1) _) => (const -1)
    (rotr.$t:int (const -1) _) => (const -1)
    // (x << a) << b = x << (a + b), or 0 if that is the width or more
    (shl.$t:int (shl $x (const $a)) (const $b)) => (shl $x (const (&sum_of_counts $t $a $b)))
        if (&is_sum_of_counts $t $a $b)
    (shl.$t:int (shl $x (const $a)) (const $b)) => (const 0) if (&exceeds_counts $t $a $b)
    (shr.$t:int (shr $x (const $a)) (const $b)) => (shr $x (const (&sum_of_counts $t $a $b)))
        if (&is_sum_of_counts $t $a $b)
    (shr.$t:int (shr $x (const $a)) (const $b)) => (const 0) if (&exceeds_counts $t $a $b)
    (sar.$t:int (sar $x (const $a)) (const $b)) => (sar $x (const (&least_sum_of_counts $t $a $b)))
    // (x << c) >> c = x & (-1 >> c)
    (shr.$t:int (shl $x (const $c)) (const $c)) => (and $x (const (&low_mask $t $c)))
    // (x >> c) << c = x & (-1 << c)
    (shl.$t:int (shr $x (const $c)) (const $c)) => (and $x (const (&high_mask $t $c)))
    (shl.$t:int (sar $x (const $c)) (const $c)) => (and $x (const (&high_mask $t $c)))
    // (x >> c) & m = x >> c if m has all bits that may be set
    (and.$t:int (shr $x (const $c)) (const $m)) => (shr $x (const $c)) if (&covers $t $m $c)

    // Division by constants. A division is not reached where it would trap: its checks dominate it.

    // x / 1 = x
    (div.$t:int $x (const 1)) => $x
    (udiv.$t:int $x (const 1)) => $x
    // x / -1 = -x
    (div.$t:int $x (const -1)) => (neg $x)
    // x % 1 = 0
    (rem.$t:int $x (const 1)) => (const 0)
    (rem.$t:int $x (const -1)) => (const 0)
    // x / 2^n = x >> n
    (udiv.$t:int $x (const $c:pow2)) => (shr $x (const (&log2 $t $c)))
    // x % 2^n = x & (2^n - 1)
    (urem.$t:int $x (const $c:pow2)) => (and $x (const (&sub $c 1)))
    // x / 2^n = (x + (2^n - 1 if x < 0)) >> n
    (div.$t:int $x (const $c)) =>
        (sar (add $x (shr (sar $x (const (&sign_shift $t))) (const (&bias_shift $t $c)))) (const (&log2 $t $c)))
        if (&is_signed_pow2 $c)
    // x % 2^n = x - ((x + (2^n - 1 if x < 0)) & -2^n)
    (rem.$t:int $x (const $c)) =>
        (sub $x (and
            (add $x (shr (sar $x (const (&sign_shift $t))) (const (&bias_shift $t $c))))
            (const (&neg $c))))
        if (&is_signed_pow2 $c)
    // x / c = (x * m) >> (bits + s)
    (udiv.$t:int $x (const $c)) =>
        (shr (umulhi $x (const (&unsigned_factor $t $c))) (const (&unsigned_shift $t $c)))
        if (&divides_plainly $t $c)
    // x % c = x - c * (x / c)
    (urem.$t:int $x (const $c)) =>
        (sub $x (mul
            (shr (umulhi $x (const (&unsigned_factor $t $c))) (const (&unsigned_shift $t $c)))
            (const $c)))
        if (&divides_plainly $t $c)
    // If m needs one bit more than the type has: q = (x * m) >> bits, x / c = (((x - q) >> 1) + q) >> (s - 1)
    (udiv.$t:int $x (const $c)) =>
        (shr
            (add
                (shr (sub $x (umulhi $x (const (&unsigned_factor $t $c)))) (const 1))
                (umulhi $x (const (&unsigned_factor $t $c))))
            (const (&carry_shift $t $c)))
        if (&divides_with_carry $t $c)
    (urem.$t:int $x (const $c)) =>
        (sub $x (mul
            (shr
                (add
                    (shr (sub $x (umulhi $x (const (&unsigned_factor $t $c)))) (const 1))
                    (umulhi $x (const (&unsigned_factor $t $c))))
                (const (&carry_shift $t $c)))
            (const $c)))
        if (&divides_with_carry $t $c)
    // q = (x * m) >> (bits + s), x / c = q + (1 if q < 0)
    (div.$t:int $x (const $c)) =>
        (add
            (sar (mulhi $x (const (&signed_factor $t $c))) (const (&signed_shift $t $c)))
            (shr
                (sar (mulhi $x (const (&signed_factor $t $c))) (const (&signed_shift $t $c)))
                (const (&sign_shift $t))))
        if (&divides_signed $t $c)
    // If m is too large for the type, with m - 2^bits in place of m: q = (((x * m) >> bits) + x) >> s
    (div.$t:int $x (const $c)) =>
        (add
            (sar (add (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
            (shr
                (sar (add (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                (const (&sign_shift $t))))
        if (&divides_signed_up $t $c)
    // If m is too small for the type, with m + 2^bits in place of m: q = (((x * m) >> bits) - x) >> s
    (div.$t:int $x (const $c)) =>
        (add
            (sar (sub (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
            (shr
                (sar (sub (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                (const (&sign_shift $t))))
        if (&divides_signed_down $t $c)
    // x % c = x - c * (x / c), and x % c = x % -c
    (rem.$t:int $x (const $c)) =>
        (sub $x (mul
            (add
                (sar (mulhi $x (const (&signed_factor $t $c))) (const (&signed_shift $t $c)))
                (shr
                    (sar (mulhi $x (const (&signed_factor $t $c))) (const (&signed_shift $t $c)))
                    (const (&sign_shift $t))))
            (const $c)))
        if (&divides_signed $t $c)
    (rem.$t:int $x (const $c)) =>
        (sub $x (mul
            (add
                (sar (add (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                (shr
                    (sar (add (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                    (const (&sign_shift $t))))
            (const $c)))
        if (&divides_signed_up $t $c)
    (rem.$t:int $x (const $c)) =>
        (sub $x (mul
            (add
                (sar (sub (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                (shr
                    (sar (sub (mulhi $x (const (&signed_factor $t $c))) $x) (const (&signed_shift $t $c)))
                    (const (&sign_shift $t))))
            (const $c)))
        if (&divides_signed_down $t $c)

    // Casts of casts. There is no cast between equal types, so a pair of casts that returns to the first type has a row of its
    // own. Signed casts that narrow have been rewritten to unsigned ones.

    // signed narrow x = narrow x
    (scast.$a.$b $x) => (ucast.$a.$b $x) if (&is_narrower $b $a)
    // narrow(narrow x) = narrow x
    (ucast.$b.$c (ucast.$a.$b $x)) => (ucast.$a.$c $x) if (&is_narrower $b $a) && (&is_narrower $c $b)
    // cast(widen x) = cast x
    (ucast.$b.$c (ucast.$a.$b $x)) => (ucast.$a.$c $x) if (&is_narrower $a $b)
    (ucast.$b.$a (ucast.$a.$b $x)) => $x if (&is_narrower $a $b)
    (scast.$b.$c (ucast.$a.$b $x)) => (ucast.$a.$c $x) if (&is_narrower $a $b)
    (scast.$b.$c (scast.$a.$b $x)) => (scast.$a.$c $x) if (&is_narrower $a $b)
    (ucast.$b.$a (scast.$a.$b $x)) => $x if (&is_narrower $a $b)
    // narrow(signed widen x) = signed cast x
    (ucast.$b.$c (scast.$a.$b $x)) => (scast.$a.$c $x) if (&is_narrower $a $b) && (&is_narrower $c $b)
    // narrow(x & m) = narrow x if m has all bits of the narrow type
    (ucast.$a.$b (and $x (const $m))) => (ucast.$a.$b $x) if (&is_narrower $b $a) && (&keeps $m $b)
    // widen(x) & m = widen x if m has all bits of the narrow type
    (and.$b:int (ucast.$a.$b $x) (const $m)) => (ucast.$a.$b $x) if (&is_narrower $a $b) && (&keeps $m $a)
}
