use azulejo::prelude::*;

#[derive(Fields, Clone, Copy)]
struct Field {
    shape: u32,
    offset: u32,
    name: &'static str,
}

#[derive(Fields, Clone, Copy)]
struct Other {
    shape: u32,
}

fn learn(cases: Cases<'_, Field>) -> Result<u32, Trap> {
    Ok(cases.len() as u32)
}

fn learn_other(cases: Cases<'_, Other>) -> Result<u32, Trap> {
    Ok(cases.len() as u32)
}

fn keep_shape(_: u32) {}

fn keep(_: Cases<'static, Field>) {}

fn take_address(_: *const u8) {}

extern "C" fn learn_directly(cases: Cases<'_, Field>) -> u32 {
    cases.len() as u32
}

mod uses {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        B { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        C { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        D { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        E { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        F { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        G { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        H { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        I { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        J { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        K { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        L { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        M { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        N { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        O { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        P { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        Q { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        R { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        S { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        T { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 16> },
        U { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        V { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        W { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        X { dst: Out<u32>, a: In<u32> },
        Y { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        Z { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
    }

    template! {
        macro ^found (,site ,struct) (cached ,site ,struct (eq $shape (case shape)) 1 2)
        macro ^nested () (cached $cache Field (eq $shape (case shape)) (^twice_nested) (^twice_nested))
        macro ^twice_nested () (cached $cache Field (eq $shape (case shape)) (^thrice_nested) (^thrice_nested))
        macro ^thrice_nested () (cached $cache Field (eq $shape (case shape)) (case offset) (add $shape 1))

        // no site
        Op::A => (cached $shape Field (eq $shape (case shape)) (case offset) 0)
        // no such operand
        Op::B => (cached $cahce Field (eq $shape (case shape)) (case offset) 0)
        // no such field
        Op::C => (cached $cache Field (eq $shape (case shap)) (case offset) 0)
        // a field that is no number
        Op::D => (cached $cache Field (eq $shape (case shape)) (case name) 0)
        // no case at hand
        Op::E => (cached $cache Field (eq $shape (case shape)) 1 (case offset))
        Op::F => (case offset)
        // something is missing
        Op::G => (cached $cache Field (eq $shape (case shape)) (case offset))
        // no struct
        Op::H => (cached $cache (eq $shape (case shape)) (case offset) 0 1)
        // no flag
        Op::I => (cached $cache Field (case shape) (case offset) 0)
        // no value
        Op::J => (cached $cache Field (eq $shape (case shape)) (trap 1) (callv take_address (arglist (carg (tc) ptr))))
        // a value that nobody takes
        Op::K! => (dov (cachedv $cache Field (eq $shape (case shape)) (case offset) (trap 2)) (set $dst 1))
        // a site is no value
        Op::L => (add $cache 1)
        // passed as something else
        Op::M => (call learn (arglist (carg $cache u64)) u32)
        // to a function that only computes
        Op::N => (call pure learn (arglist (carg $cache ptr)) u32)
        // directly
        Op::O => (call "C" learn_directly (arglist (carg $cache ptr)) u32)
        // at an address
        Op::P => unsafe (call (load (tc) ptr) (arglist (carg $cache ptr)) u32)
        // a slow path behind an effect that the condition had for another case
        Op::Q => (cached $cache Field (eq $shape (slow learn (arglist (carg $cache ptr)) u32)) (case offset) 0)
        Op::R => (cached $cache Field (eq (call throws learn (arglist (carg $cache ptr)) u32) (case shape))
            (case offset)
            (slow learn (arglist (carg $cache ptr)) u32))
        // a struct by a parameter
        Op::S => (^found $cache Other)
        // too much
        Op::T => (cached $cache Field (eq $shape (case shape)) (^nested) (^nested))
        // a word of another language
        Op::U => (cache $cache Field (eq $shape (case shape)) (case offset) 0)
        // one way with a flag
        Op::V => (cached $cache Field (eq $shape (case shape)) (nz (case offset)) 0)
        // in a vm register
        Op::W! => (dov (set $cache 1) (set $dst 1))
        // no site in the opcode
        Op::X => (cached $cache Field (eq $a (case shape)) (case offset) 0)
        // no name of a field
        Op::Y => (cached $cache Field (eq $shape (case (add 1 2))) (case offset) 0)
        Op::Z => (cached $cache Field (eq $shape (case)) (case offset) 0)
    }
}

mod asked_of_rustc {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        B { dst: Out<u32>, cache: Site<Field, 2> },
        C { cache: Site<Field, 2> },
        D { cache: Site<Field, 2> },
    }

    template! {
        // another struct
        Op::A => (cached $cache Other (eq $shape (case shape)) 1 0)
        // cases of another struct
        Op::B => (slow learn_other (arglist (carg $cache ptr)) u32)
        // a function that keeps them
        Op::C => (callv keep (arglist (carg $cache ptr)))
        // the address is nobody's
        Op::D => unsafe (callv take_address (arglist (carg $cache ptr)))
    }
}

mod not_told {
    use azulejo::prelude::*;

    #[derive(Clone, Copy)]
    struct Silent {
        shape: u32,
    }

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, shape: In<u32>, cache: Site<Silent, 2> },
    }

    template! {
        Op::A => (cached $cache Silent (eq $shape (case shape)) 1 0)
    }
}

mod outside {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        B { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        C { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        D { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        E { dst: Out<u32>, shape: In<u32> },
    }

    template! {
        // no site
        Op::A => (outside $shape 1)
        // nothing is outside
        Op::B => (outside $cache)
        // behind an effect
        Op::C! => (dov (callv keep_shape (arglist (carg $shape u32))) (set $dst (outside $cache 1)))
        // no value
        Op::D => (outside $cache (callv keep_shape (arglist (carg $shape u32))))
        // no site in the opcode
        Op::E => (outsde $shape 1)
    }
}

mod full {
    use super::*;

    fn tried(shape: u32) -> u32 {
        shape
    }

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        B { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        C { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
        D { dst: Out<u32>, shape: In<u32>, cache: Site<Field, 2> },
    }

    template! {
        // no site
        Op::A => (if (full $shape) 1 0)
        // nothing
        Op::B => (if (full) 1 0)
        // a flag is no number
        Op::C => (add (full $cache) 1)
        // what is not tentative would be done twice
        Op::D => (let: (($x (call tried (arglist (carg $shape u32)) u32)))
            (if (nz $x) $x (slow learn (arglist (carg $cache ptr)) u32)))
    }
}

fn main() {}
