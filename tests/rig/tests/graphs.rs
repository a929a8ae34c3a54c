//! The machine code of random graphs does what the graphs mean.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo_core::fuzzing::{Options, Random, graph};
use azulejo_core::text::parse;
use azulejo_core::vocab::Vocabulary;
use azulejo_rig::case::{found, start_line};
use azulejo_rig::compare::{Rig, WAYS};
use std::ops::Range;

/// Each seed is run in one way.
fn run(seeds: Range<u64>, options: &Options) {
    let mut rig = Rig::default();
    let (mut ended, n_seeds) = (0, seeds.end - seeds.start);
    for seed in seeds {
        let mut random = Random::new(seed);
        let graph = graph(&mut random, options);
        rig.ways = vec![seed as usize % WAYS.len()];
        let ends = rig.check_graph(&graph, random.number());
        ended += ends.unwrap_or_else(|failure| panic!("seed {seed}: {failure}")) as u64;
    }
    assert!(ended * 2 > n_seeds, "{ended} of {n_seeds} ended");
}

/// Each file in `found/` with this ending failed once, on some initial memory.
#[test]
fn what_was_found_stays_right() {
    let mut rig = Rig::default();
    for (name, text) in found("graph") {
        let (start, text) = start_line(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let graph = parse::graph(Vocabulary::BUILTIN, text);
        let graph = graph.unwrap_or_else(|error| panic!("{name}: {error}"));
        for start in start.into_iter().chain(0..20) {
            rig.check_graph(&graph, start).unwrap_or_else(|failure| panic!("{name}: {failure}"));
        }
    }
}

#[test]
fn small_graphs_do_what_they_mean() {
    run(0..6000, &Options { calls: false, own_memory: true, ..Options::SMALL });
}

#[test]
fn large_graphs_do_what_they_mean() {
    run(6000..6400, &Options { max_blocks: 20, max_nodes: 60, calls: false, own_memory: true, edge: true });
}
