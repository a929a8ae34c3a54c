//! Random programs do the same in every tier; mutated ones are refused or safe.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo_core::random::Random;
use azulejo_rig::case::{Case, found};
use azulejo_rig::compare::{Rig, WAYS};
use azulejo_rig::depth;
use azulejo_rig::program::program;
use azulejo_rig::property::{self, Fate};
use std::ops::Range;

/// Checks a property for random numbers of these seeds, each in one of the ways.
fn run<T>(seeds: Range<u64>, property: impl Fn(&mut Rig, &mut Random) -> Result<T, String>) -> Vec<T> {
    let mut rig = Rig::default();
    let mut all = Vec::new();
    for seed in seeds {
        rig.ways = vec![seed as usize % WAYS.len()];
        let result = property(&mut rig, &mut Random::new(seed));
        all.push(result.unwrap_or_else(|failure| panic!("seed {seed}: {failure}")));
    }
    all
}

#[test]
fn random_programs_do_the_same_in_every_tier() {
    run(0..1000, property::of_program);
}

#[test]
fn large_programs_do_the_same_in_every_tier() {
    run(0..10, |rig, random| {
        let program = program(random, 1500);
        rig.check(&program, random.number())
    });
}

#[test]
fn long_programs_do_the_same_in_every_tier() {
    // Judges are slow in debug builds, so these programs are shorter than the fuzzer's.
    run(10..12, |rig, random| {
        let program = program(random, 2500);
        rig.check(&program, random.number())
    });
}

#[test]
fn functions_nest_up_to_the_limit_of_the_stack() {
    run(0..60, |_, random| depth::of_depth(random));
}

#[test]
fn changed_programs_are_refused_or_safe() {
    let fates = run(1 << 32..(1 << 32) + 10_000, property::of_changed_program);
    let count = |wanted| fates.iter().filter(|fate| **fate == wanted).count();
    let (refused, run) = (count(Fate::Refused), count(Fate::Run));
    assert!(refused > 2000 && run > 2000, "{refused} refused, {run} run of {}", fates.len());
}

/// Each file in `found/` failed once, with some initial registers.
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

/// Each of the ways to interpret in machine code gets more programs than the turns above give it.
#[test]
fn machine_code_interprets_as_rust_does() {
    let mut rig = Rig::default();
    let ways = || (0..WAYS.len()).filter(|way| WAYS[*way].is_interpreted());
    for (seed, way) in (0..600).zip(ways().cycle()) {
        rig.ways = vec![way];
        let result = property::of_program(&mut rig, &mut Random::new(seed));
        result.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
    assert_eq!(ways().count(), 3);
    ways().for_each(|way| assert_eq!(WAYS[way].without_code(), 0, "every opcode has code"));
}
