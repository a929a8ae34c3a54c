azulejo::rewrite! {
    pub static RULES;

    $x => $x
}

azulejo::rewrite! {
    pub static MORE;

    (neg $x) -> $x
}

azulejo::rewrite! {
    pub static CONDITIONS;

    (neg $x) => $x if $x
}

azulejo::rewrite! {
    (neg $x) => $x
}

fn main() {}
