use azulejo::prelude::*;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    NotItself { dst: Out<i64> },
    Input { dst: Out<i64>, a: In<i64> },
    Pushed { dst: Push<i64> },
    Type { dst: Out<i64> },
    Raw { dst: Out<i64> },
    Two { dst: Out<i64>, other: Out<i64> },
    Same { dst: Out<i64> },
    Count { dst: Out<i64> },
}

fn store(_: &mut i64) {}
fn narrow(_: &mut i32) {}
fn raw(_: *mut f64) {}
fn two(_: &mut i64, _: &mut i64) {}

template! {
    Op::NotItself => (do (callv store (arglist (carg (place $dst) ptr))) 1)
    Op::Input! => (dov (set $dst 1) (callv store (arglist (carg (place $a) ptr))))
    Op::Pushed! => (callv store (arglist (carg (place $dst) ptr)))
    Op::Type! => (callv narrow (arglist (carg (place $dst) ptr)))
    Op::Raw! => (callv raw (arglist (carg (place $dst) ptr)))
    // they may be one VM register
    Op::Two! => (callv two (arglist (carg (place $dst) ptr) (carg (place $other) ptr)))
    Op::Same! => (let: (($p (place $dst))) (callv two (arglist (carg $p ptr) (carg $p ptr))))
    Op::Count! => (callv store (arglist (carg (place) ptr)))
}

fn main() {}
