azulejo::rewrite! {
    pub static RULES;

    (add.i64 $x 1) => $x
    (add.i64 $x (const $c)) => 1
    (add.i64 $x (const $c)) => (&f $c)
    (add.i64 $x (const (neg $y))) => $x
    (add.i64 $x (&f $x)) => $x
    (add.i64 $x $y) => _
}

fn main() {}
