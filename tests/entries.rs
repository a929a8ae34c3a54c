//! Baseline code hands values on from one bytecode to the next in registers. Where it is left, for whatever reason, it is entered again
//! where a jump leads only, since there it takes all from VM registers.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use azulejo::prelude::*;
use azulejo::{Cases, Trap};

struct Vm {
    engine: *const Engine<Op>,
}

/// The double of a key, learned. It is always that of 21, of which the opcode makes sure.
#[derive(Fields, Clone, Copy, Debug)]
#[repr(C)]
struct Seen {
    key: u64,
    double: u64,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Clear,
    Const { dst: Out<u64>, k: Imm<u64> },
    Call { dst: Out<u64>, function: Imm<u32> },
    CallSeen { dst: Out<u64>, function: Imm<u32>, a: In<u64>, cache: Site<Seen, 2> },
    Double { dst: Out<u64>, a: In<u64>, cache: Site<Seen, 2> },
    Count { n: InOut<i64>, to: Label },
    Return { a: In<u64> },
}

template! {
    Op::Clear => (callv clear (arglist (carg (tc) ptr)))
    Op::Const => $k
    Op::Call => (invoke $function (arglist) u64)
    Op::CallSeen => (cached $cache Seen (eq $a (case key))
        (invoke $function (arglist) u64)
        (invoke (do (discard (slow learn (arglist (carg $a u64) (carg $cache ptr)) u64)) $function) (arglist) u64))
    Op::Double => (do (when (ne $a 21) (cold (dov (trap 2))))
        (cached $cache Seen (eq $a (case key)) (case double)
            (slow learn (arglist (carg $a u64) (carg $cache ptr)) u64)))
    Op::Count! => (dov (set $n (sub $n 1)) (when (likely (gt $n 0)) (branch $to)))
    Op::Return => (return $a)
}

/// Forgets all cases: code that has them is discarded, also that which runs.
fn clear(vm: &mut Vm) {
    // SAFETY: the engine is there as long as its program runs.
    unsafe { &*vm.engine }.clear_sites();
}

fn learn(a: u64, cases: Cases<'_, Seen>) -> Result<u64, Trap> {
    if cases.iter().all(|case| case.key != a) {
        cases.add(Seen { key: a, double: 2 * a });
    }
    Ok(2 * a)
}

#[test]
fn code_that_is_left_is_entered_where_jumps_lead() -> Result<(), Error> {
    for tier in [Tier::Interpreter, Tier::Baseline, Tier::Optimizer] {
        let engine: Engine<Op> = Engine::<Op>::builder().only(tier).build();
        let leaf = engine.define("leaf", vec![Op::Return { a: 0.into() }], 1)?;
        let code = vec![
            Op::Clear,
            Op::Const { dst: 1.into(), k: Imm(7) },
            Op::CallSeen { dst: 0.into(), function: Imm(leaf.number()), a: 1.into(), cache: Site::new() },
            Op::Const { dst: 1.into(), k: Imm(21) },
            Op::Double { dst: 1.into(), a: 1.into(), cache: Site::new() },
            Op::Return { a: 1.into() },
        ];
        let learns = engine.define("learns", code, 2)?;
        let code = vec![
            Op::Const { dst: 0.into(), k: Imm(9) },
            Op::Call { dst: 1.into(), function: Imm(learns.number()) },
            Op::Count { n: 0.into(), to: Label(1) },
            Op::Return { a: 1.into() },
        ];
        let outer = engine.define("outer", code, 2)?;
        let mut vm = Vm { engine: &engine };
        for run in 0..6 {
            let result: u64 = engine.call(outer, &mut vm, ())?;
            assert_eq!(result, 42, "{tier:?}, run {run}");
            if run == 1 {
                engine.discard(learns)?;
            }
        }
    }
    Ok(())
}
