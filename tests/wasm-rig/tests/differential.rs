//! Generated modules, mutated modules and the C programs do the same in every tier as in wasmi. `cargo xtask wasm-fuzz`
//! tests more of them.

use azulejo_core::random::Random;
use azulejo_wasm_rig::compare::{self, WAYS};
use azulejo_wasm_rig::oracle::{Judged, Oracle};
use azulejo_wasm_rig::session::{self, Tally};
use azulejo_wasm_rig::{large, programs};

/// Only a few modules, since the compilers are not optimized in tests.
#[test]
fn modules_do_the_same_everywhere() {
    let (oracle, mut tally) = (Oracle::default(), Tally::default());
    for number in 0..60 {
        let (bytes, mut random) = session::module(5, number);
        let result = session::check(&oracle, &bytes, &mut random, &mut tally);
        assert_eq!(result, Ok(()), "module {number}");
    }
    eprintln!("{tally:?}");
    assert!(tally.valid > 30 && tally.returned > 60, "{tally:?}");
}

/// The judge's results for the C programs agree with the C compiler's.
#[test]
fn the_judge_knows_the_programs() {
    for program in programs::all() {
        let Judged { outcome, .. } =
            Oracle::default().judge(program.module, &mut Random::new(0)).expect("it is valid");
        assert!(!outcome.calls.is_empty(), "{}", program.name);
    }
}

/// A module with hundreds of functions does the same in all tiers.
#[test]
fn the_large_module_does_the_same_everywhere() {
    let bytes = large::module(300);
    let Judged { plan, outcome, .. } =
        Oracle::default().judge(&bytes, &mut Random::new(0)).expect("it is valid");
    for way in WAYS {
        let own = compare::run(&bytes, &plan, &outcome, way).expect("it is run");
        assert_eq!(compare::difference(&outcome, &own), None, "{}", way.name);
    }
}

/// A function that both faults and makes tail calls: the table of instructions that it reads is moved beyond the memory's
/// end.
#[test]
fn a_fault_beside_a_tail_call_is_a_trap() {
    let threaded =
        programs::all().into_iter().find(|program| program.name == "threaded").expect("it is there");
    let mut bytes = threaded.module.to_vec();
    // The address of the table.
    let constant = [0x41, 0x80, 0x80, 0x84, 0x80, 0x00];
    let at = bytes.windows(6).position(|window| window == constant).expect("the linker wrote it in full");
    bytes[at + 5] = 2;
    let result = session::check(&Oracle::default(), &bytes, &mut Random::new(1), &mut Tally::default());
    assert_eq!(result, Ok(()));
}
