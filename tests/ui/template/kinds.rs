use azulejo::prelude::*;

const TAG: u64 = 0xfff1 << 48;
const NIL: u64 = 0xfff2 << 48;
const HEAP: u64 = 0xfff3 << 48;

mod uses {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64>, b: In<u64> },
        B { dst: Out<u64>, a: In<u64>, b: In<u64> },
        C { dst: Out<u64>, a: In<u64>, b: In<u64> },
        D { dst: Out<u64>, a: In<u64>, b: In<u64> },
        E { dst: Out<u64>, a: In<u64>, b: In<u64> },
        F { dst: Out<u64>, a: In<u64>, n: In<i32> },
        G { dst: Out<u64>, a: In<u64>, n: In<i64> },
        H { dst: Out<u64>, a: In<u64>, b: In<u64> },
        I { dst: Out<u64>, a: In<u64>, b: In<u64> },
        J { dst: Out<u64>, a: In<u64>, b: In<u64> },
        K { dst: Out<u64>, a: In<u64>, b: In<u64> },
        L { dst: Out<u64>, a: In<u64>, b: In<u64> },
        M { dst: Out<u64>, a: In<u64>, b: In<u64> },
        N { dst: Out<u64>, a: In<u64>, b: In<u64> },
        O { dst: Out<u64>, a: In<u64>, b: In<u64> },
        P { dst: Out<u64>, a: In<u64>, b: In<u64> },
        Q { dst: Out<u64>, a: In<u64>, b: In<u64> },
        R { dst: Out<u64>, a: In<u64>, b: In<u64> },
    }

    template! {
        kinds u64 {
            number: f64 { is (ult $box &TAG) unbox (bitcast $box f64) box (bitcast (canonical_nan $value) u64) }
            table: ptr { is (uge $box &HEAP) unbox (sub $box &HEAP) box (add $value &HEAP) }
            nil { is (eq $box &NIL) }
        }

        // no such kind
        Op::A => (flagval (is nubmer $a) u64)
        // the other way round
        Op::B => (flagval (is $a number) u64)
        // no value in the box
        Op::C => (unbox nil $a)
        // no box
        Op::D => (box nil $a)
        // a value of another type
        Op::E => (box number $a)
        // what is no boxed value
        Op::F => (flagval (is number $n) u64)
        // what was taken out already
        Op::G => (as (($a number)) (as (($a number)) (box number $a) $n) $n)
        // a name for nothing
        Op::H => (as (($x nil (add $a $b))) $a $b)
        // a name that nothing uses
        Op::I => (as (($x number (add $a $b))) $a $b)
        // computed without a name
        Op::J => (as (((add $a $b) number)) $a $b)
        // one name for two values
        Op::K => (as (($a number) ($a table $b)) $a $b)
        // nothing to look at
        Op::L => (as () $a $b)
        // no other way
        Op::M => (as (($a number)) (box number $a))
        // two ways of different types
        Op::N => (as (($a number)) $a $b)
        // a name by its position
        Op::O => (as (($1 number)) (box number $1) $b)
        // a name that stands for what was not looked at yet
        Op::P => (as (($t table $a) ($x number (add $t 1))) (box number $x) $b)
        // an operator that is close to a form
        Op::Q => (unbax number $a)
        // too little
        Op::R => (flagval (is number) u64)
    }
}

mod statements {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { a: In<u64>, to: Label },
        B { dst: Out<u64>, a: In<u64>, to: Label },
        C { a: InOut<u64>, to: Label },
    }

    template! {
        kinds u64 { nil { is (eq $box &NIL) } }

        // a value where something is done
        Op::A => (asv (($a nil)) (add $a 1) (branch $to))
        // nothing where there is a value
        Op::B => (as (($a nil)) (dov (branch $to)) (discard $a))
        // after an effect
        Op::C! => (dov (set $a 1) (asv (($a nil)) (slowv (branch $to)) (branch $to)))
    }
}

mod nothing {
    use super::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        A { dst: Out<u64>, a: In<u64> },
        B { dst: Out<u64>, a: In<u64> },
    }

    template! {
        // no kinds
        Op::A => (box number $a)
        // in another form
        Op::B => (as (($a number)) $a 1)
    }
}

fn main() {}
