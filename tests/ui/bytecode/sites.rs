use azulejo::prelude::*;

const ROOM: usize = 4;

#[derive(Clone, Copy)]
struct Field(u32);

struct Moved(u32);

mod written {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        // not written out
        A { cache: Site<Field, ROOM> },
        B { cache: Site<Field, { 2 + 2 }> },
        // too many, too few, no number
        C { cache: Site<Field, 17> },
        D { cache: Site<Field, 0> },
        E { cache: Site<Field, true> },
        // nothing said
        F { cache: Site<Field> },
        G { cache: Site },
    }
}

mod not_copied {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { cache: Site<Moved, 2> },
    }

    template! {
        Op::A => (return)
    }
}

mod aligned {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(align(16))]
    struct Wide(u64);

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { cache: Site<Wide, 2> },
    }

    template! {
        Op::A => (return)
    }
}

fn main() {}
