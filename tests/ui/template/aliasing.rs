#![deny(deprecated)]

use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    SumAndDifference { sum: Out<i64>, difference: Out<i64>, a: In<i64>, b: In<i64> },
    Exchange { a: InOut<i64>, b: InOut<i64> },
    OneWay { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Behind { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Called { dst: Out<i64>, a: In<i64> },
    // What follows is right.
    Named { sum: Out<i64>, difference: Out<i64>, a: In<i64>, b: In<i64> },
    Own { n: InOut<i64>, by: In<i64> },
    Other { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Left { dst: Out<i64>, a: In<i64>, to: Label },
    Popped { first: Push<i64>, second: Push<i64>, a: Pop<i64>, b: Pop<i64> },
    Constant { dst: Out<i64>, other: Out<i64>, value: Imm<i64> },
}

fn note(_: i64) {}

template! {
    Op::SumAndDifference! => (dov (set $sum (add $a $b)) (set $difference (sub $a $b)))
    Op::Exchange! => (dov (set $a $b) (set $b $a))
    Op::OneWay! => (dov (set $dst 0) (ifv (nz $a) (set $dst 1) (set $dst 2)))
    Op::Behind! => (dov (when (nz $a) (set $dst 1)) (set $dst $b))
    Op::Called! => (dov (set $dst 1) (callv note (arglist (carg $a i64))))

    Op::Named! => (let: (($x $a) ($y $b)) (dov (set $sum (add $x $y)) (set $difference (sub $x $y))))
    Op::Own! => (dov (set $n (add $n $by)) (when (zr $n) (set $n 1)))
    Op::Other! => (ifv (nz $a) (set $dst 1) (set $dst $b))
    Op::Left! => (dov (when (nz $a) (dov (set $dst 1) (branch $to))) (set $dst $a))
    Op::Popped! => (dov (set $first $b) (set $second $a))
    Op::Constant! => (dov (set $dst $value) (set $other $value))
}

fn main() {}
