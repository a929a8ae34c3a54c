use azulejo::prelude::*;

#[derive(Fields, Clone, Copy, Debug)]
struct Seen {
    key: u64,
}

#[derive(Fields, Clone, Copy, Debug)]
struct Other {
    key: u64,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[repr(u8)]
enum Op {
    A { dst: Out<i64>, a: In<i64>, b: In<i64> },
    B { dst: Out<i64>, a: In<i64>, b: In<i64> },
    C { dst: Out<i64>, a: In<i64>, b: In<i64> },
    D { dst: Out<i64>, a: In<i64>, b: In<i64> },
    E { dst: Out<i64>, a: In<i64>, b: In<i64> },
    F { dst: Out<i64>, a: In<i64>, b: In<i64> },
    G { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    First { dst: Out<i64>, a: In<i64>, b: In<i64> },
    More { dst: Out<i64>, a: In<i64>, b: In<i64>, c: In<i64> },
    Narrow { dst: Out<i64>, a: In<i32>, b: In<i64> },
    Named { dst: Out<i64>, a: In<i64>, right: In<i64> },
    Jump { a: In<i64>, to: Label },
    JumpUnless { a: In<i64>, to: Label },
    Always { a: In<i64>, to: Label },
    Sometimes { a: In<i64>, b: InOut<i64> },
    Once { a: In<i64>, b: InOut<i64> },
    Site { dst: Out<i64>, a: In<i64>, seen: Site<Seen, 2> },
    OtherSite { dst: Out<i64>, a: In<i64>, seen: Site<Other, 2> },
    WiderSite { dst: Out<i64>, a: In<i64>, seen: Site<Seen, 3> },
    Placed { dst: Out<i64>, a: In<i64> },
    Stored { dst: Out<i64>, a: In<i64> },
    Return { a: In<i64> },
}

fn place(_: &mut i64) {}

template! {
    // nothing
    Op::A => (do (quicken) (add $a $b))
    // no opcode
    Op::B => (do (quicken $a) (add $a $b))
    // an opcode that there is not
    Op::C => (do (quicken Op::Ad) (add $a $b))
    // without its enum
    Op::D => (do (quicken Add) (add $a $b))
    // of another enum
    Op::E => (do (quicken Option::Add) (add $a $b))
    // as a value
    Op::F => (add (quicken Op::Add) $b)
    // more operands
    Op::G => (do (quicken Op::More) (add $a $b))
    Op::Add => (add $a $b)
    // one that reads more
    Op::First => (do (quicken Op::Add) (copy $a))
    // fewer operands
    Op::More => (do (quicken Op::Add) (add (add $a $b) $c))
    // an operand of another type
    Op::Narrow => (do (quicken Op::Add) (add (scast $a i64) $b))
    // an operand of another name
    Op::Named => (do (quicken Op::Add) (add $a $right))
    Op::Jump => (when (nz $a) (branch $to))
    // right
    Op::JumpUnless => (dov (quicken Op::Jump) (when (zr $a) (branch $to)))
    // one that goes on elsewhere
    Op::Always => (dov (quicken Op::Jump) (discard $a) (branch $to))
    // one that always writes
    Op::Sometimes! => (dov (quicken Op::Once) (when (nz $a) (set $b 1)))
    Op::Once! => (set $b $a)
    // a site of other cases
    Op::Site => (do (quicken Op::OtherSite) (copy $a))
    // of another number of cases
    Op::OtherSite => (do (quicken Op::WiderSite) (copy $a))
    Op::WiderSite => (copy $a)
    // one that takes no address
    Op::Placed! => (dov (quicken Op::Stored) (callv place (arglist (carg (place $dst) ptr))) (discard $a))
    Op::Stored => (copy $a)
    Op::Return => (return $a)
}

fn main() {}
