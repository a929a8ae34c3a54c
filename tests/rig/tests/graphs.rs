//! Random graphs do as machine code what they mean.

#![cfg(all(target_arch = "x86_64", unix))]

use azulejo_core::fuzzing::{Options, Random, graph};
use azulejo_rig::compare::{Rig, WAYS};
use std::ops::Range;

/// Each seed goes one way.
fn run(seeds: Range<u64>, options: &Options) {
    let mut rig = Rig::default();
    let (mut ended, n_seeds) = (0, seeds.end - seeds.start);
    for seed in seeds {
        let mut random = Random::new(seed);
        let graph = graph(&mut random, options);
        rig.ways = vec![seed as usize % WAYS.len()];
        if let Some(result) = rig.compare_graph(&graph, &mut random) {
            result.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            ended += 1;
        }
    }
    assert!(ended * 2 > n_seeds, "{ended} of {n_seeds} ended");
}

#[test]
fn small_graphs_do_what_they_mean() {
    run(0..6000, &Options { calls: false, own_memory: true, ..Options::SMALL });
}

#[test]
fn large_graphs_do_what_they_mean() {
    run(6000..6400, &Options { max_blocks: 20, max_nodes: 60, calls: false, own_memory: true });
}
