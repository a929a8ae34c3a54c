//! Random graphs as machine code and in the reference evaluator: what bytecode cannot say, such as loops with several
//! ways in.
//!
//! In: a graph that touches only the slots of its own frame and context. Out: agreement, or the pass that changed
//! what the graph means.

use crate::compare::{Failure, Rig};
use azulejo::x64::Status;
use azulejo_core::check::evaluate::{Machine, Memory, Outcome, evaluate};
use azulejo_core::fuzzing::{OWN_SLOTS, Random};
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::Observer;
use azulejo_core::text::print;

/// A graph that takes longer is left out.
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

impl Rig {
    /// Runs a graph in every tier; `None` if it does not end soon.
    pub fn compare_graph(&mut self, graph: &Graph, random: &mut Random) -> Option<Result<(), Failure>> {
        let slots: [u64; 2 * OWN_SLOTS] = std::array::from_fn(|_| random.number() >> random.below(64));
        let mut real = slots;
        let frame = real.as_mut_ptr();
        let expected = meaning(graph, &slots, frame as u64);
        if expected.0 == Outcome::OutOfSteps {
            return None;
        }
        let chaos = random.number() | 1;
        for index in 0..self.ways.len() {
            let way = self.ways[index];
            let compiled = match self.compile_in(way, chaos, |compiler, observer| {
                compiler.graph(|to| *to = graph.clone(), observer)
            }) {
                Ok(compiled) => compiled,
                Err(failure) => return Some(Err(failure)),
            };
            real = slots;
            let (frame, context) = (real.as_mut_ptr(), real[OWN_SLOTS..].as_mut_ptr());
            // SAFETY: the graph uses only the slots there are.
            let outcome = match unsafe { compiled.enter(context.cast(), frame, std::ptr::null()) } {
                Status::Returned(bits) => Outcome::Returned(bits),
                Status::Exited { at } => Outcome::Exited(at as u64),
                Status::Trapped { trap, at } => Outcome::Trapped { code: trap.code() as u64, origin: at },
            };
            if (outcome, real.to_vec()) != expected {
                let text = self.blame(way, chaos, graph, &slots, frame as u64, &expected);
                return Some(Err(Failure::Graph(format!("found {outcome:?}, {real:x?}\n{text}"))));
            }
        }
        Some(Ok(()))
    }

    /// Which pass it is that changes what a graph means.
    fn blame(
        &mut self,
        way: usize,
        chaos: u64,
        graph: &Graph,
        slots: &[u64],
        frame: u64,
        expected: &(Outcome, Vec<u64>),
    ) -> String {
        let mut stages = Stages::default();
        let again = self.compile_in(way, chaos, |compiler, _| {
            compiler.graph(|to| *to = graph.clone(), &mut stages)
        });
        if again.is_err() {
            return print::graph(graph);
        }
        let mut before = graph;
        for (pass, after) in &stages.graphs {
            if meaning(after, slots, frame) != *expected {
                let (before, after) = (print::graph(before), print::graph(after));
                return format!("{pass} changes what this means:\n{before}----\n{after}");
            }
            before = after;
        }
        format!("the machine code does not mean\n{}{}", print::graph(graph), stages.assignment)
    }
}
