azulejo::rewrite! {
    pub static RULES;

    (ad.$t:int $x (const 0)) => $x
    (when $x $y) => $x
}

fn main() {}
