//! Mistakes with `#[forms]`.

mod not_above {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: InOrImm<i64> },
    }
}

mod without_need {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Clone, Copy, Debug)]
    enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    }
}

mod many_mistakes {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: InOrImm },
        Subtract { dst: Out<i64>, a: InOrImm<i64, i32, i16>, b: In<i64> },
        Many { a: InOrImm<i64>, b: InOrImm<i64>, c: InOrImm<i64>, d: InOrImm<i64> },
        Numbered { a: InOrImm<i64> } = 3,
    }

    template! {
        Op::Add      => (add $a $b)
        Op::Subtract => (sub $a $b)
        Op::Many     => (return)
        Op::Numbered => (return $a)
    }
}

mod no_enum {
    use azulejo::prelude::*;

    #[forms]
    struct Op {
        a: InOrImm<i64>,
    }
}

mod with_arguments {
    use azulejo::prelude::*;

    #[forms(b)]
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: InOrImm<i64> },
    }
}

mod no_type_of_a_register {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: InOrImm<String> },
    }
}

mod the_same_name {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { b: InOrImm<i64> },
        AddImmB,
    }
}

mod by_hand {
    use azulejo::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Add { b: In<i64> },
        #[bytecode(form_of = Add)]
        Sum { b: Imm<i64> },
        #[bytecode(context = u8)]
        Other { b: Imm<i64> },
    }
}

mod rows {
    use azulejo::prelude::*;

    #[forms]
    #[derive(Bytecode, Clone, Copy, Debug)]
    pub enum Op {
        Add { dst: Out<i64>, a: In<i64>, b: InOrImm<i64> },
        Scale { dst: Out<f64>, a: In<f64>, by: InOrImm<f64, i32> },
        Skip { by: InOrImm<i64> },
    }

    template! {
        Op::Add     => (add $a $c)
        Op::Scale   => (mul $a $by)
        Op::AddImmC => $a
    }
}

fn main() {}
