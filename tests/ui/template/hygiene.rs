use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Free { dst: Out<i64>, a: In<i64> },
    Inner { dst: Out<i64>, a: In<i64> },
    Marks,
    Position { dst: Out<i64>, a: In<i64> },
    Flags { dst: Out<i64>, a: In<i64> },
    Parameter { dst: Out<i64> },
    Computed { dst: Out<i64>, a: In<i64> },
    Static,
    Early { dst: Out<i64>, other: Out<i64>, a: In<i64> },
    Jump { dst: Out<i64>, other: Out<i64>, a: In<i64> },
}

static LIMIT: i64 = 5;

template! {
    macro ^free (,a) (add ,a $x)
    macro ^declares (,a) (let: (($own ,a)) (mul $own $own))
    macro ^goes () (branch (label end))
    macro ^sized () (&sizeof [,u8; 2])
    macro ^sum (,x) (&i64::saturating_add ,x, 1)

    // a macro does not see what its caller declares
    Op::Free => (let: (($x 1)) (add $x (^free $a)))
    // nor its caller what it declares
    Op::Inner => (add (^declares $a) $own)
    Op::Marks => (dov (^goes) (mark end))
    // a number is no name
    Op::Position => (let: (($1 5)) (add $a $1))
    // a flag and a value
    Op::Flags => (if (lt $a 1) (lt $a 0) $a)
    // what stands in a constant
    Op::Parameter => (^sized)
    Op::Computed => (^sum (add $a 1))
    Op::Static => (trap (&static LIMIT))
    // stored on one of two ways
    Op::Early! => (dov (when (lt $a 1) (set $dst 1)) (set $other $dst) (set $dst 2))
    Op::Jump! => (dov (when (lt $a 1) (branch (label end))) (set $dst 1) (mark end) (set $other $dst))
}

fn main() {}
