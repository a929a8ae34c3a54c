//! Random graphs, compiled to this machine's code, behave as the reference evaluator says.

use azulejo_code::status::Status;
use azulejo_core::check::evaluate::{Environment, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{self, OWN_SLOTS, Options, Random};
use azulejo_core::ir::graph::Graph;
use azulejo_core::pass::Blind;
use azulejo_core::text::print;
use azulejo_toy::{Compiler, TOY};

/// Graphs that take more steps are skipped.
const STEPS: usize = 20_000;
/// The memory that a graph may access: the slots at `local`, and as many at `tc`.
type Slots = [u64; 2 * OWN_SLOTS];

/// The outcome of a graph on these slots, and the slots' contents afterwards.
fn meaning(graph: &Graph, slots: &Slots, frame: u64) -> Option<(Outcome, Vec<u64>)> {
    let mut memory = Memory::default();
    let addresses: Vec<u64> = (0..slots.len() as u64).map(|at| frame + at * 8).collect();
    for (address, slot) in addresses.iter().zip(slots) {
        memory.write(*address, 8, *slot);
    }
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let context = frame + OWN_SLOTS as u64 * 8;
    let mut machine = Environment { context, unit: 0, frame, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, STEPS).ok()?;
    let after = addresses.iter().map(|address| machine.memory.read(*address, 8)).collect();
    (outcome != Outcome::OutOfSteps).then_some((outcome, after))
}

#[test]
fn graphs_do_what_they_mean() {
    let options = Options { calls: false, own_memory: true, edge: false, ..Options::SMALL };
    let compiler = Compiler::new(1 << 22, &TOY, 0, &[]).expect("this system has memory for code");
    let mut compiler = compiler.with_checks(true);
    let mut ended = 0;
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let graph = fuzzing::graph(&mut random, &options);
        let before: Slots = std::array::from_fn(|_| random.number() >> random.below(64));
        let mut slots = before;
        let frame = slots.as_mut_ptr();
        let Some(expected) = meaning(&graph, &before, frame.addr() as u64) else { continue };
        compiler.set_chaos(if random.one_in(2) { random.number() | 1 } else { 0 });
        let compiled = compiler.graph(|to| *to = graph.clone(), &mut Blind);
        let compiled =
            compiled.unwrap_or_else(|error| panic!("seed {seed}: {error}, of\n{}", print::graph(&graph)));
        let context = slots[OWN_SLOTS..].as_mut_ptr().cast();
        // SAFETY: the graph uses no other slots.
        let status = unsafe { compiled.enter(context, frame, std::ptr::null()) };
        let outcome = match status {
            Status::Returned(bits) => Outcome::Returned(bits),
            Status::Exited { at } => Outcome::Exited(at as u64),
            Status::Trapped { trap, at } => Outcome::Trapped { code: trap.code() as u64, origin: at },
            other => unreachable!("there are no calls: {other:?}"),
        };
        assert_eq!((outcome, slots.to_vec()), expected, "seed {seed}, of\n{}", print::graph(&graph));
        ended += 1;
    }
    assert!(ended > 1000, "{ended} ended");
}
