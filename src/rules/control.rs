//! Copies and selects. The pass itself folds branches on known flags.

use azulejo_macros::rewrite;

rewrite! {
    pub(super) static CONTROL;

    // A copy equals its operand.
    (copy.$t:value $x) => $x
    // true ? x : y = x
    (select.$t:value (const 1) $x _) => $x
    (select.$t:value (const 0) _ $y) => $y
    // f ? x : x = x
    (select.$t:value _ $x $x) => $x
    // !f ? x : y = f ? y : x
    (select.$t:value (notf $f) $x $y) => (select $f $y $x)
    // f ? 1 : 0
    (select.$t:int $f (const 1) (const 0)) => (flagval $f)
    (select.$t:int $f (const 0) (const 1)) => (flagval (notf $f))
    (select.$t:int $f (const -1) (const 0)) => (neg (flagval $f))
    (select.$t:int $f (const 0) (const -1)) => (neg (flagval (notf $f)))
    // Nested selects on the same flag.
    (select.$t:value $f (select $f $x _) $y) => (select $f $x $y)
    (select.$t:value $f $x (select $f _ $y)) => (select $f $x $y)
    // x = y ? x : y = y
    (select.$t:int (eq.$t $x $y) $x $y) => $y
    (select.$t:int (ne.$t $x $y) $x $y) => $x
    // x ≠ 0 ? x : 0 = x
    (select.$t:int (nz.$t $x) $x (const 0)) => $x
    (select.$t:int (zr.$t $x) (const 0) $x) => $x
}
