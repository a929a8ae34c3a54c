use azulejo::prelude::*;

const TAG: u64 = 1 << 63;
static WORD: u64 = 0;

fn known(a: u64) -> u64 {
    a
}

mod formulas {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64> },
        B { dst: Out<u64>, a: In<u64> },
    }

    template! {
        macro ^low (,a) (rem ,a 8)
        macro ^outer () (eq $box 1)

        kinds u64 {
            // memory
            loaded { is (eq (load $box u64) 1) }
            // a trap
            divided { is (eq (div $box 3) 1) }
            // in a macro
            by_macro { is (eq (^low $box) 1) }
            // branches
            branches { is (all (gt $box 1) (lt $box 3)) }
            chosen: u64 { is (eq $box 1) unbox (if (eq $box 1) 2 3) box $value }
            // a call
            called { is (eq (call pure known (arglist (carg $box u64)) u64) 1) }
            // the machine
            context { is (eq $box (tc)) }
            // the address of a static
            fixed { is (eq $box (&static WORD)) }
            // steps
            stored { is (do (discard (not $box)) (eq $box 1)) }
            // another name
            named { is (eq $a 1) }
            // the name of the other formulas
            misnamed: u32 { is (gt $box 9) unbox (ucast $box u32) box (ucast $box u64) }
            // the name in a macro
            hidden { is (^outer) }
            // other kinds
            nested { is (notf (is named $box)) }
            // a value that is no flag
            counted { is (and $box 1) }
            // what is in the box is of another type
            wide: u32 { is (gt $box 9) unbox $box box (ucast $value u64) }
            float: f64 { is (gt $box 9) unbox (bitcast $box f64) box $value }
            // nothing of the box
            constant { is (eq &TAG 1) }
        }

        // Each mistake is told once.
        Op::A => (flagval (all (is loaded $a) (is wide $a)) u64)
        // But this is another one.
        Op::B => (flagval (is loadde $a) u64)
    }
}

mod forms {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64> },
    }

    template! {
        kinds u64 {
            // nothing stands between
            first { is (eq $box 1) },
            // twice
            first { is (eq $box 2) }
            // no formulas
            second
            third: u64 {}
            fourth: u64 { is (eq $box 3) unbox $box }
            // no type
            fifth { is (eq $box 4) unbox $box }
            // no such type
            sixth: Table { is (eq $box 5) unbox $box box $value }
            // no such formula
            seventh: u64 { as (eq $box 6) }
            // twice
            eighth { is (eq $box 7) is (eq $box 8) }
            // not closed
            ninth { is }
        }

        // a second set
        kinds u64 { tenth { is (eq $box 9) } }

        Op::A => (flagval (any (is first $a) (is sixth $a) (is second $a)) u64)
    }
}

mod narrow {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u32>, a: In<u32> },
        B { dst: Out<u32>, a: In<u32> },
    }

    template! {
        // words that are too narrow
        kinds u32 { small { is (lt $box 8) } }

        Op::A => (flagval (is small $a) u32)
        // a set without a name for its words
        kinds { small { is (lt $box 8) } }

        Op::B => $a
    }
}

fn main() {}
