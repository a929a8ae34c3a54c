//! Random programs do the same in every tier; changed ones are refused or safe.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo::verify;
use azulejo_core::random::Random;
use azulejo_rig::case::{Case, found};
use azulejo_rig::compare::{Rig, WAYS};
use azulejo_rig::minimise::ends;
use azulejo_rig::mutate::mutate;
use azulejo_rig::program::program;
use azulejo_rig::run::Verified;
use std::ops::Range;

/// Programs of these seeds, each in one of the ways, as large as `size` says.
fn run(seeds: Range<u64>, size: impl Fn(&mut Random) -> usize) {
    let mut rig = Rig::default();
    for seed in seeds {
        rig.ways = vec![seed as usize % WAYS.len()];
        let mut random = Random::new(seed);
        let size = size(&mut random);
        let program = program(&mut random, size);
        rig.check(&program, random.number()).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
}

#[test]
fn random_programs_do_the_same_in_every_tier() {
    run(0..1000, |random| 8 + random.below(60));
}

#[test]
fn large_programs_do_the_same_in_every_tier() {
    run(0..10, |_| 1500);
}

#[test]
fn changed_programs_are_refused_or_safe() {
    let mut rig = Rig::default();
    let (mut refused, mut compiled, mut run) = (0, 0, 0);
    for seed in 0..10_000 {
        rig.ways = vec![seed as usize % WAYS.len()];
        let mut random = Random::new(1 << 32 | seed);
        let size = 4 + random.below(24);
        let mut program = program(&mut random, size);
        mutate(&mut random, &mut program);
        let code = program.code();
        match verify(&code.ops, &code.labels, program.registers) {
            Err(error) => {
                assert!((error.at as usize) <= code.ops.len(), "{error:?} points into the code");
                refused += 1;
            }
            // One that may not end is compiled only.
            Ok(_) if !ends(&program) || program.registers > 1000 => {
                let verified = Verified::new(&program).expect("it was accepted");
                rig.compile(&verified).unwrap_or_else(|failure| panic!("{failure}\n{program}"));
                compiled += 1;
            }
            Ok(_) => {
                let checked = rig.check(&program, random.number());
                checked.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
                run += 1;
            }
        }
    }
    println!("{refused} refused, {compiled} compiled, {run} run");
    assert!(refused > 2000 && run > 2000, "{refused} refused, {compiled} compiled, {run} run");
}

/// Each file in `found/` went wrong once, with some registers.
#[test]
fn what_was_found_stays_right() {
    let mut rig = Rig::default();
    for (name, text) in found("txt") {
        let Case { program, start } = Case::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for start in start.into_iter().chain(0..20) {
            rig.check(&program, start).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        }
    }
}

#[test]
fn programs_read_back() {
    let program = program(&mut Random::new(3), 40);
    let case = Case { program, start: Some(7) };
    let again = Case::parse(&case.to_string()).expect("what is printed can be read");
    assert_eq!((again.program, again.start), (case.program, case.start));
}
