//! Random graphs run as machine code, and in the reference evaluator: the same end, the same memory.

#![cfg(target_arch = "x86_64")]

use azulejo_core::check::evaluate::{Machine, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{OWN_SLOTS, Options, Random, graph};
use azulejo_core::ir::graph::Graph;
use azulejo_core::pass::Blind;
use azulejo_core::text::print;
use azulejo_x64::{Compiler, Features, Status};

const STEPS: usize = 20_000;

/// Runs a graph both ways; false if it does not end soon.
fn agree(compiler: &mut Compiler, graph: &Graph, random: &mut Random) -> bool {
    let slots: [u64; 2 * OWN_SLOTS] = std::array::from_fn(|_| random.number() >> random.below(64));
    let mut real = slots;
    let (frame, context) = (real.as_mut_ptr(), real[OWN_SLOTS..].as_mut_ptr());
    let mut memory = Memory::default();
    for (at, slot) in slots.iter().enumerate() {
        memory.write(frame as u64 + at as u64 * 8, 8, *slot);
    }
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let mut machine =
        Machine { context: context as u64, unit: 0, frame: frame as u64, memory, callee: &mut callee };
    let expected = evaluate(graph, &mut machine, STEPS).expect("the graph is right");
    if expected == Outcome::OutOfSteps {
        return false;
    }
    let compiled = compiler.graph(|to| *to = graph.clone(), &mut Blind).expect("it compiles");
    // SAFETY: the graph uses only the slots there are.
    let status = unsafe { compiled.enter(context.cast(), frame, std::ptr::null()) };
    let found = match status {
        Status::Returned(bits) => Outcome::Returned(bits),
        Status::Exited { at } => Outcome::Exited(at as u64),
        Status::Trapped { trap, at } => Outcome::Trapped { code: trap.code() as u64, origin: at },
    };
    assert_eq!(found, expected, "{}\n{:02x?}", print::graph(graph), compiled.bytes());
    for (at, slot) in real.iter().enumerate() {
        let wanted = machine.memory.read(frame as u64 + at as u64 * 8, 8);
        assert_eq!(*slot, wanted, "slot {at} in\n{}", print::graph(graph));
    }
    true
}

fn run(seeds: std::ops::Range<u64>, options: &Options, features: Features) {
    let mut compiler = Compiler::new(16 << 20, features, &[]).expect("this machine runs code");
    let mut ended = 0;
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        let mut random = Random::new(seed);
        let graph = graph(&mut random, options);
        ended += agree(&mut compiler, &graph, &mut random) as u64;
    }
    assert!(ended * 2 > n_seeds, "{ended} of {n_seeds} ended");
}

#[test]
fn small_graphs_do_what_they_mean() {
    let options = Options { calls: false, own_memory: true, ..Options::SMALL };
    run(0..600, &options, Features::detect());
}

#[test]
fn small_graphs_do_what_they_mean_on_the_oldest_machine() {
    let options = Options { calls: false, own_memory: true, ..Options::SMALL };
    run(1000..1600, &options, Features::empty());
}

#[test]
fn large_graphs_do_what_they_mean() {
    let options = Options { max_blocks: 20, max_nodes: 60, calls: false, own_memory: true };
    run(2000..2100, &options, Features::detect());
}
