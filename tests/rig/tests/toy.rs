//! Random programs and graphs do the same as code of a second machine, in either tier and called by others.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo_core::random::Random;
use azulejo_rig::case::{Case, found};
use azulejo_rig::compare::{RigOn, ways_of_graphs};
use azulejo_rig::property;
use azulejo_rig::subject::Subject;
use azulejo_toy::Emitter;
use std::ops::Range;

/// A property on random numbers of these seeds, each in one of these ways.
fn run<T>(
    seeds: Range<u64>,
    ways: &[usize],
    property: impl Fn(&mut RigOn<Emitter>, &mut Random) -> Result<T, String>,
) -> RigOn<Emitter> {
    let mut rig = RigOn::default();
    for seed in seeds {
        rig.ways = vec![ways[seed as usize % ways.len()]];
        let result = property(&mut rig, &mut Random::new(seed));
        result.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
    rig
}

fn every_way() -> Vec<usize> {
    (0..Emitter::WAYS.len()).collect()
}

#[test]
fn random_programs_do_the_same_in_every_tier() {
    let mut rig = run(0..400, &every_way(), property::of_program);
    rig.look_at_interpreters();
    let (reached, all) = rig.tiles.count();
    assert!(reached * 10 > all * 9, "{reached} tiles of {all}; never: {:?}", rig.tiles.never());
}

#[test]
fn random_graphs_do_what_they_mean() {
    let ways: Vec<usize> = ways_of_graphs::<Emitter>().collect();
    run(0..600, &ways, property::of_graph);
}

#[test]
fn changed_programs_are_refused_or_safe() {
    run(0..1000, &every_way(), property::of_changed_program);
}

/// Each file in `found/` went wrong once, on another machine.
#[test]
fn what_was_found_is_right() {
    let mut rig = RigOn::<Emitter>::default();
    for (name, text) in found("txt") {
        let Case { program, start } = Case::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for start in start.into_iter().chain(0..2) {
            rig.check(&program, start).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        }
    }
}
