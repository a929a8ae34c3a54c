azulejo::rewrite! {
    pub static RULES;

    (add.int32 $x $y) => $x
    (add.i32.i64 $x $y) => $x
    (add.$t:int $x (const 1.5)) => $x
    (abs.i32 $x) => $x
    (lt.i32 $x $y) => $x
    (nz.$t:int $x) => (zr.$u $x)
    (eq.i64 $x (ucast.i32.i64 $y)) => (eq $x $y)
}

fn main() {}
