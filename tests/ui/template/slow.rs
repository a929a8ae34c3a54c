use azulejo::prelude::*;
use azulejo::Trap;

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    A { dst: Out<i64>, a: In<i64> },
    B { dst: Out<i64>, a: In<i64> },
    C { dst: Out<i64>, a: In<i64> },
    D { dst: Out<i64>, a: In<i64> },
    E { dst: Out<i64>, a: In<i64> },
    F { a: In<i64> },
    G { dst: Out<i64>, a: In<i64> },
    H { dst: Out<i64>, a: In<i64> },
    I { dst: Out<i64>, a: In<i64> },
    J { dst: Out<i64>, a: In<i64> },
    K { dst: Out<i64>, a: In<i64> },
}

struct Vm;

fn half(a: i64) -> Result<i64, Trap> {
    Ok(a / 2)
}

fn plain(a: i64) -> i64 {
    a
}

fn note(_: &mut Vm) {}

template! {
    // nothing that is slow
    Op::A => (if (gt $a 0) $a (slow))
    // a function that cannot fail
    Op::B => (if (gt $a 0) $a (slow plain (arglist (carg $a i64)) i64))
    // after an effect
    Op::C => (do (callv note (arglist (carg (tc) ptr))) (if (gt $a 0) $a (slow half (arglist (carg $a i64)) i64)))
    // after another slow path
    Op::D => (add (slow half (arglist (carg $a i64)) i64) (slow half (arglist (carg $a i64)) i64))
    // after a stored output
    Op::E! => (dov (set $dst $a) (when (gt $a 0) (slowv (discard (call throws half (arglist (carg $a i64)) i64)))))
    // a value that nobody takes
    Op::F => (when (gt $a 0) (slow half (arglist (carg $a i64)) i64))
    // a flag
    Op::G => (if (slow (gt $a 0)) $a 1)
    // no value
    Op::H => (if (gt $a 0) $a (slowv (callv note (arglist (carg (tc) ptr)))))
    // no result's type
    Op::I => (if (gt $a 0) $a (slow half (arglist (carg $a i64))))
    // behind a mark to which a way leads that has had an effect
    Op::J! => (letv: (($a $a)) (dov
        (when (gt $a 0) (branch (label slowly)))
        (set $dst $a)
        (when (lt $a -9) (branch (label slowly)))
        (branch (label done))
        (mark slowly)
        (slowv (set $dst (call throws half (arglist (carg $a i64)) i64)))
        (mark done)))
    // behind a mark to which a later step jumps back
    Op::K => (do
        (mark again)
        (when (gt $a 0) (slowv (discard (call throws half (arglist (carg $a i64)) i64))))
        (when (gt $a 9) (branch (label again)))
        $a)
}

fn main() {}
