//! Addresses: offsets gather outermost, so that one addressing mode takes base, index, scale and offset.

use super::number::*;
use azulejo_macros::rewrite;

rewrite! {
    pub(super) static MEMORY;

    // p + 0 = p
    (addr $p 0) => $p
    // (p + a) + b = p + (a + b)
    (addr (addr $p $a) $b) => (addr $p (&add $a $b)) if (&fits_32 (&add $a $b))
    (addr (add.i64 $p (const $a)) $b) => (addr $p (&add $a $b)) if (&fits_32 (&add $a $b))
    (add.i64 (addr $p $a) (const $b)) => (addr $p (&add $a $b)) if (&fits_32 (&add $a $b))
    // p[c] = p + c * s
    (idx $p (const $c) $s) => (addr $p (&mul $c $s))
    // (p + o)[x] = p[x] + o
    (idx (addr $p $o) $x:variable $s) => (addr (idx $p $x $s) $o)
    (idx (add.i64 $p (const $o:imm32)) $x:variable $s) => (addr (idx $p $x $s) $o)
    // p[x + c] = p[x] + c * s
    (idx $p (add.i64 $x (const $c)) $s) => (addr (idx $p $x $s) (&mul $c $s)) if (&fits_32_scaled $c $s)
    // p[x << n] = p[x], with the scale shifted by n. (Multiplications by scales have been rewritten to shifts.)
    (idx $p (shl.i64 $x (const $n)) $s) => (idx $p $x (&shifted_scale $s $n)) if (&is_scale (&shifted_scale $s $n))
    // p + (x << n) = p[x]
    (add.i64 $p:variable (shl.i64 $x (const 1))) => (idx $p $x 2)
    (add.i64 $p:variable (shl.i64 $x (const 2))) => (idx $p $x 4)
    (add.i64 $p:variable (shl.i64 $x (const 3))) => (idx $p $x 8)
    // 3x = x + 2x, which is one address computation
    (mul.i64 $x:variable (const 3)) => (idx $x $x 2)
    (mul.i64 $x:variable (const 5)) => (idx $x $x 4)
    (mul.i64 $x:variable (const 9)) => (idx $x $x 8)

    // A store writes bits, so a float is stored without moving it to an integer register.
    (store.i64 $p (bitcast.f64.i64 $x)) => (store.f64 $p $x)
    (store.i32 $p (bitcast.f32.i32 $x)) => (store.f32 $p $x)

    // A sum that is used as an address becomes an address operator, which addressing modes match.

    (load.$t:value (add.i64 $p (const $o:imm32))) => (load (addr $p $o))
    (store.$t:value (add.i64 $p (const $o:imm32)) $x) => (store (addr $p $o) $x)
    (load.$t:value (add.i64 $p:variable $x:variable)) => (load (idx $p $x 1))
    (store.$t:value (add.i64 $p:variable $x:variable) $y) => (store (idx $p $x 1) $y)
    (load.$t:value (addr (add.i64 $p:variable $x:variable) $o)) => (load (addr (idx $p $x 1) $o))
    (store.$t:value (addr (add.i64 $p:variable $x:variable) $o) $y) => (store (addr (idx $p $x 1) $o) $y)
}
