//! A crate that forbids `unsafe` can have bytecode, templates and calls nevertheless: the `unsafe` code is the macros', not
//! the crate's.

#![forbid(unsafe_code)]

use azulejo::prelude::*;

struct Vm {
    calls: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Count { dst: Out<i64>, a: In<i64> },
    CountDirectly { a: In<i64> },
    Return { a: In<i64> },
}

fn count(vm: &mut Vm, a: i64) -> i64 {
    vm.calls += 1;
    a + vm.calls as i64
}

extern "C" fn count_directly(vm: &mut Vm, a: i64) {
    vm.calls += a as u32;
}

template! {
    Op::Add           => (add $a $b)
    Op::Count         => (call count (arglist (carg (tc) ptr) (carg $a i64)) i64)
    Op::CountDirectly => (callv "C" count_directly (arglist (carg (tc) ptr) (carg $a i64)))
    Op::Return        => (return $a)
}

#[test]
fn templates_without_unsafe() {
    let code = vec![
        Op::Add { dst: 0.into(), a: 0.into(), b: 1.into() },
        Op::CountDirectly { a: 0.into() },
        Op::Count { dst: 0.into(), a: 0.into() },
        Op::Return { a: 0.into() },
    ];
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let function = engine.define("f", code.clone(), 2).expect("it is right");
        let mut vm = Vm { calls: 0 };
        assert_eq!(engine.call(function, &mut vm, (3i64, 4i64)), Ok(7 + 8i64), "{tier:?}");
        assert_eq!(vm.calls, 8);
    }
}
