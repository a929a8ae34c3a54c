//! Calls that are tentative, in front of slow paths; and sites that are full, or were closed. Every tier does the same.

use azulejo::prelude::*;
use azulejo::{Cases, Site};

const TIERS: [Tier; 3] = [Tier::Interpreter, Tier::Baseline, Tier::Optimizer];

/// What a quick function gives when it gives up.
const NOTHING: i64 = i64::MIN;

/// The only operation that is known to a bytecode.
#[derive(Fields, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Known {
    operation: u64,
}

#[derive(Default)]
struct Vm {
    tried: u32,
    slow: u32,
    learned: u32,
}

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Apply { dst: Out<i64>, operation: In<u64>, a: In<i64>, cache: Site<Known, 1> },
    Return { a: In<i64> },
}

template! {
    Op::Apply! => unsafe (dov
        (cachedv $cache Known (eq $operation (case operation))
            (letv: (($found (call tentative quick (arglist (carg (tc) ptr) (carg $operation u64) (carg $a i64)) i64)))
                (when (ne $found &NOTHING) (dov (set $dst $found) (branch (label end)))))
            (discard 0))
        (slowv (dov
            (when (notf (full $cache))
                (callv learn (arglist (carg (tc) ptr) (carg $operation u64) (carg $cache ptr))))
            (set $dst (call slowly (arglist (carg (tc) ptr) (carg $operation u64) (carg $a i64)) i64))))
        (mark end))
    Op::Return => (return $a)
}

fn result(operation: u64, a: i64) -> i64 {
    a.wrapping_mul(10).wrapping_add(operation as i64)
}

/// Takes even numbers only, and changes nothing otherwise.
fn quick(vm: &mut Vm, operation: u64, a: i64) -> i64 {
    if a % 2 != 0 {
        return NOTHING;
    }
    vm.tried += 1;
    result(operation, a)
}

/// Operation 0 is never quick.
fn learn(vm: &mut Vm, operation: u64, cases: Cases<'_, Known>) {
    vm.learned += 1;
    match operation {
        0 => cases.close(),
        operation => assert!(cases.add(Known { operation }), "there was room"),
    }
}

fn slowly(vm: &mut Vm, operation: u64, a: i64) -> i64 {
    vm.slow += 1;
    result(operation, a)
}

/// Applies operations to numbers in each tier, as a function does that climbs and as one that starts there. Compares the results, and
/// returns the counts of the last way.
fn counts(calls: &[(u64, i64)]) -> [u32; 3] {
    let mut all = Vec::new();
    for tier in TIERS {
        let climbing = Engine::<Op>::builder().thresholds(2, 4).build();
        for engine in [Engine::<Op>::builder().only(tier).build(), climbing] {
            let code = vec![
                Op::Apply { dst: 0.into(), operation: 0.into(), a: 1.into(), cache: Site::new() },
                Op::Return { a: 0.into() },
            ];
            let function = engine.define("apply", code, 2).expect("it is right");
            let mut vm = Vm::default();
            for &(operation, a) in calls {
                let found: i64 = engine.call(function, &mut vm, (operation, a)).expect("nothing fails");
                assert_eq!(found, result(operation, a), "{tier:?}: {operation} of {a}");
            }
            all.push([vm.tried, vm.slow, vm.learned]);
        }
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    all[0]
}

#[test]
fn what_gives_up_is_done_slowly() {
    // Learned by the first call; odd numbers go the slow way, on which nothing more is learned.
    let calls: Vec<(u64, i64)> = (0..40).map(|a| (7, a)).collect();
    assert_eq!(counts(&calls), [19, 21, 1]);
    // Another operation finds the site full.
    let calls: Vec<(u64, i64)> = (0..40).map(|a| (7 + (a as u64 & 2), 2 * a)).collect();
    assert_eq!(counts(&calls), [19, 21, 1]);
}

#[test]
fn a_closed_site_learns_nothing() {
    let calls: Vec<(u64, i64)> = (0..40).map(|a| (a as u64 % 3, a)).collect();
    assert_eq!(counts(&calls), [0, 40, 1]);
}

#[test]
fn a_site_whose_cases_are_cleared_is_open() {
    for tier in TIERS {
        let engine = Engine::<Op>::builder().only(tier).build();
        let code = vec![
            Op::Apply { dst: 0.into(), operation: 0.into(), a: 1.into(), cache: Site::new() },
            Op::Return { a: 0.into() },
        ];
        let function = engine.define("apply", code, 2).expect("it is right");
        let mut vm = Vm::default();
        for round in 1..4 {
            for a in 0..20 {
                let operation = if round == 1 { 0 } else { 5 };
                let found: i64 = engine.call(function, &mut vm, (operation, a)).expect("nothing fails");
                assert_eq!(found, result(operation, a));
            }
            assert_eq!(vm.learned, round, "{tier:?}");
            engine.clear_sites();
        }
    }
}
