use azulejo::prelude::*;

template_macros! {
    pub rows {
        macro ^two (,x) (add ,x ,x)
        Op::A => (^two $a)
    }
}

template_macros! {
    pub(super) inner {
        macro ^two (,x) (add ,x ,x)
    }
}

template_macros! {
    twice {
        macro ^two (,x) (add ,x ,x)
        macro ^two (,x) ,x
    }
}

template_macros! {
    form {
        macro two (,x) ,x
    }
}

fn main() {}
