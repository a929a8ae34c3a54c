azulejo::rewrite! {
    pub static RULES;

    (add $x) => $x
    (addr $p) => $p
    (neg $x $y) => $x
}

fn main() {}
