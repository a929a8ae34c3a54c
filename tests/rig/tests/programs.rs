//! Random programs do the same in every tier; changed ones are refused or safe.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo::verify;
use azulejo_core::random::Random;
use azulejo_rig::compare::{Rig, WAYS};
use azulejo_rig::minimise::ends;
use azulejo_rig::mutate::mutate;
use azulejo_rig::program::{Program, program};
use azulejo_rig::run::{Start, Verified};
use std::ops::Range;

#[track_caller]
fn check(rig: &mut Rig, program: &Program, start: &Start) {
    rig.check(program, start).unwrap_or_else(|failure| panic!("{failure}"));
}

/// Programs of these seeds, each in one of the ways, as large as `size` says.
fn run(seeds: Range<u64>, size: impl Fn(&mut Random) -> usize) {
    let mut rig = Rig::default();
    for seed in seeds {
        rig.ways = vec![seed as usize % WAYS.len()];
        let mut random = Random::new(seed);
        let size = size(&mut random);
        let program = program(&mut random, size);
        check(&mut rig, &program, &Start::random(&mut random));
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
                check(&mut rig, &program, &Start::random(&mut random));
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
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("it is text");
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for seed in 0..20 {
            let start = Start::random(&mut Random::new(seed));
            rig.check(&program, &start).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
        }
        count += 1;
    }
    assert!(count > 0, "there are no files");
}

#[test]
fn programs_read_back() {
    let program = program(&mut Random::new(3), 40);
    assert_eq!(Program::parse(&program.to_string()), Ok(program));
}
