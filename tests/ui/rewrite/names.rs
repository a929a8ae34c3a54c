azulejo::rewrite! {
    pub static RULES;

    (add.i64 $x (const $c)) => $y
    (add.i64 $x (const $c)) => $c
    (add.i64 $x (const $c)) => (add $x (const $d))
    (add.i64 $x (const $c)) => (add $x (const (&f $x)))
    (add.i64 $x (const $c:even)) => $x
    (add.i64 $x:pow2 $y) => $x
}

fn main() {}
