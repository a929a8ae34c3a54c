//! Random graphs run as machine code, and in the reference evaluator: the same end, the same memory.

#![cfg(target_arch = "x86_64")]

use azulejo_core::check::evaluate::{Machine, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{OWN_SLOTS, Options, Random, graph};
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::Observer;
use azulejo_core::target::{RegSet, RegisterFile};
use azulejo_core::text::print;
use azulejo_x64::regs::{RAX, RCX, RDI, RDX, REGISTERS, RSI, XMM0, XMM1, XMM2, XMM3};
use azulejo_x64::{Compiler, Features, Status};

const STEPS: usize = 20_000;

/// Keeps the graph after each pass, so that the one to blame can be told.
#[derive(Default)]
struct Stages {
    graphs: Vec<(&'static str, Graph)>,
    assignment: String,
}

impl Observer for Stages {
    fn graph(&mut self, pass: &'static str, graph: &Graph) {
        self.graphs.push((pass, graph.clone()));
    }

    fn assignment(&mut self, _: &TileSet, tiles: &TileList, assignment: &Assignment) {
        self.assignment = print::assignment(tiles, assignment, print::Names::NUMBERS);
    }
}

/// How a graph ends on these slots, and what is in them then.
fn meaning(graph: &Graph, slots: &[u64], frame: u64) -> (Outcome, Vec<u64>) {
    let mut memory = Memory::default();
    for (at, slot) in slots.iter().enumerate() {
        memory.write(frame + at as u64 * 8, 8, *slot);
    }
    let mut callee = |_: &_, _, _: &[u64], _: &mut Memory| unreachable!("there are no calls");
    let context = frame + OWN_SLOTS as u64 * 8;
    let mut machine = Machine { context, unit: 0, frame, memory, callee: &mut callee };
    let outcome = evaluate(graph, &mut machine, STEPS).expect("the graph is right");
    let after = (0..slots.len() as u64).map(|at| machine.memory.read(frame + at * 8, 8)).collect();
    (outcome, after)
}

/// Runs a graph both ways; false if it does not end soon.
fn agree(compiler: &mut Compiler, graph: &Graph, random: &mut Random) -> bool {
    let slots: [u64; 2 * OWN_SLOTS] = std::array::from_fn(|_| random.number() >> random.below(64));
    let mut real = slots;
    let (frame, context) = (real.as_mut_ptr(), real[OWN_SLOTS..].as_mut_ptr());
    let expected = meaning(graph, &slots, frame as u64);
    if expected.0 == Outcome::OutOfSteps {
        return false;
    }
    let mut stages = Stages::default();
    let compiled = compiler.graph(|to| *to = graph.clone(), &mut stages).expect("it compiles");
    // SAFETY: the graph uses only the slots there are.
    let status = unsafe { compiled.enter(context.cast(), frame, std::ptr::null()) };
    let outcome = match status {
        Status::Returned(bits) => Outcome::Returned(bits),
        Status::Exited { at } => Outcome::Exited(at as u64),
        Status::Trapped { trap, at } => Outcome::Trapped { code: trap.code() as u64, origin: at },
    };
    if (outcome, real.to_vec()) == expected {
        return true;
    }
    let mut before = graph;
    for (pass, after) in &stages.graphs {
        let found = meaning(after, &slots, frame as u64);
        let texts = || format!("{}----\n{}", print::graph(before), print::graph(after));
        assert_eq!(found, expected, "{pass} changes what this means:\n{}", texts());
        before = after;
    }
    let text = print::graph(graph) + &stages.assignment;
    panic!("the machine gives {outcome:?}, {real:x?} and not {expected:x?}\n{text}{:02x?}", compiled.bytes());
}

fn run(seeds: std::ops::Range<u64>, options: &Options, features: Features) {
    run_with(&REGISTERS, seeds, options, features);
}

fn run_with(
    registers: &'static RegisterFile,
    seeds: std::ops::Range<u64>,
    options: &Options,
    features: Features,
) {
    let compiler = Compiler::new(16 << 20, features, &[]).expect("this machine runs code");
    let mut compiler = compiler.with_registers(registers);
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
    run(0..3000, &options, Features::detect());
}

#[test]
fn small_graphs_do_what_they_mean_on_the_oldest_machine() {
    let options = Options { calls: false, own_memory: true, ..Options::SMALL };
    run(3000..5000, &options, Features::empty());
}

#[test]
fn large_graphs_do_what_they_mean() {
    let options = Options { max_blocks: 20, max_nodes: 60, calls: false, own_memory: true };
    run(5000..5200, &options, Features::detect());
}

/// So few registers that hardly a value keeps its own.
static FEW: RegisterFile = RegisterFile {
    int: &[RAX, RCX, RDX, RSI, RDI],
    float: &[XMM0, XMM1, XMM2, XMM3],
    callee_saved: RegSet::EMPTY,
    ..REGISTERS
};

#[test]
fn few_registers_are_enough() {
    let options = Options { calls: false, own_memory: true, ..Options::SMALL };
    run_with(&FEW, 5200..7200, &options, Features::detect());
    let options = Options { max_blocks: 20, max_nodes: 60, calls: false, own_memory: true };
    run_with(&FEW, 7200..7400, &options, Features::detect());
}
