//! The generators meet their goals: valid modules, and calls that do some work.

use azulejo_core::random::Random;
use azulejo_wasm_rig::outcome::Outcome;
use azulejo_wasm_rig::{generate, large, mutate, oracle::Judged, oracle::Oracle};

/// Few calls trap before they did any work; many return, and some write memory.
#[test]
fn most_calls_do_something() {
    let oracle = Oracle::default();
    let (mut calls, mut returned, mut at_once, mut changed) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let bytes = generate::module(&mut random);
        let Judged { outcome, spent, .. } = oracle.judge(&bytes, &mut random).expect("it is valid");
        calls += outcome.calls.len();
        returned += outcome.calls.iter().filter(|end| end.is_ok()).count();
        at_once +=
            outcome.calls.iter().zip(&spent).filter(|(end, spent)| end.is_err() && **spent < 30).count();
        changed +=
            usize::from(outcome.memories.iter().any(|(size, hash)| *hash != Outcome::hash(&vec![0; *size])));
    }
    eprintln!(
        "{calls} calls, {returned} returned, {at_once} trapped at once, {changed} modules changed memory"
    );
    assert!(calls > 1500, "{calls} calls of 300 modules");
    assert!(returned * 3 > calls, "{returned} of {calls} calls returned");
    assert!(at_once * 10 < calls, "{at_once} of {calls} calls trapped at once");
    assert!(changed > 30, "{changed} of 300 modules changed their memory");
}

/// Some mutated modules are still valid, and some are not.
#[test]
fn some_mutated_modules_are_valid() {
    let oracle = Oracle::default();
    let is_valid = |seed| {
        let mut random = Random::new(seed);
        let mut bytes = generate::module(&mut random);
        mutate::mutate(&mut bytes, &mut random);
        oracle.judge(&bytes, &mut random).is_some()
    };
    let valid = (0..300).filter(|seed| is_valid(*seed)).count();
    eprintln!("{valid} of 300 are valid");
    assert!((30..290).contains(&valid), "{valid} of 300 mutated modules are valid");
}

/// The large module is large and runs.
#[test]
fn the_large_module_runs() {
    let bytes = large::module(3000);
    assert!(bytes.len() > 1 << 20, "{} bytes", bytes.len());
    let Judged { plan, outcome, .. } =
        Oracle::default().judge(&bytes, &mut Random::new(0)).expect("it is valid");
    assert_eq!(plan.calls[0].name, "run");
    eprintln!("{} bytes {outcome}", bytes.len());
    assert!(outcome.calls.iter().all(Result::is_ok), "{outcome}");
}
