//! How long each pass of the optimizer takes, and how much memory it keeps.
//!
//! An observer looks at the clock between stages. What is not between two stages (emission, installing) is the
//! rest of the whole time. What looking at the clock takes is found first, and taken off.

use crate::clock;
use crate::measure::Effort;
use crate::memory;
use crate::programs::Program;
use crate::subject;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::ranges::Ranges;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::{Allocated, Observer, STAGES, Target};
use azulejo_core::verify::verify;

/// How often the observer hears of a stage: of `rewrite` twice.
const N_STAGES: usize = STAGES.len() + 1;

/// The stages, as the observer hears of them.
fn stages() -> impl Iterator<Item = &'static str> {
    let again = |stage| (stage == "forward").then_some("rewrite 2");
    STAGES.into_iter().flat_map(move |stage| [stage].into_iter().chain(again(stage)))
}

/// Notes when each stage ended, and what was on the heap then.
struct Clock {
    times: Vec<u64>,
    heap: Vec<(u64, u64)>,
}

impl Clock {
    fn new() -> Clock {
        let n_ticks = N_STAGES + 1;
        Clock { times: Vec::with_capacity(n_ticks), heap: Vec::with_capacity(n_ticks) }
    }

    fn clear(&mut self) {
        self.times.clear();
        self.heap.clear();
    }

    fn tick(&mut self) {
        self.times.push(clock::now());
        self.heap.push(memory::now());
    }
}

impl Observer for Clock {
    fn graph(&mut self, _: &'static str, _: &Graph) {
        self.tick();
    }
    fn schedule(&mut self, _: &Graph, _: &Schedule) {
        self.tick();
    }
    fn tiles(&mut self, _: &Target<'_>, _: &TileList) {
        self.tick();
    }
    fn ranges(&mut self, _: &Target<'_>, _: &TileList, _: &Ranges) {
        self.tick();
    }
    fn assignment(&mut self, _: &Target<'_>, _: &Allocated<'_>) {
        self.tick();
    }
}

/// A number for each stage.
type Stages = [f64; N_STAGES];

/// What was learned of a program.
struct Found {
    /// Nanoseconds a bytecode: one round in ten was not slower.
    times: Stages,
    /// Bytes a bytecode that a new compiler keeps.
    kept: Stages,
    /// How often compiling again asks for memory.
    allocations: Stages,
}

/// Prints tables with a line for each program.
pub(crate) fn print(programs: &[Program], effort: Effort) {
    let found: Vec<Found> = programs.iter().map(|program| measure(program, effort)).collect();
    let table = |title: &str, column: fn(&Found) -> &Stages| {
        let mut line = format!("{:16}", "");
        stages().chain(["all"]).for_each(|stage| line += &format!("{stage:>10}"));
        println!("{title}\n{line}");
        for (program, found) in programs.iter().zip(&found) {
            let mut line = format!("{:16}", program.name);
            let all = column(found).iter().sum();
            column(found).iter().chain(&[all]).for_each(|number| line += &format!("{number:>10.1}"));
            println!("{line}");
        }
        println!();
    };
    table("nanoseconds a bytecode", |found| &found.times);
    table("bytes a bytecode that a new compiler keeps", |found| &found.kept);
    table("allocations when it compiles the same again", |found| &found.allocations);
}

fn measure(program: &Program, effort: Effort) -> Found {
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("it is right");
    let source = subject::source(program, &shape);
    let mut compiler = subject::compiler();
    let mut clock = Clock::new();
    let mut rounds: [Vec<f64>; N_STAGES] = Default::default();
    let (mut kept, mut allocations) = (Stages::default(), Stages::default());
    let bytecodes = program.code.ops.len() as f64;
    let looking = (0..1000).map(|_| clock::now().abs_diff(clock::now())).min().unwrap_or(0);
    for round in 0..4 * effort.rounds {
        clock.clear();
        clock.tick();
        drop(compiler.bytecode(&source, &mut clock).expect("it compiles"));
        clock.tick();
        assert_eq!(clock.times.len(), N_STAGES + 1, "the driver tells of every stage");
        for (stage, heap) in clock.heap.windows(2).enumerate() {
            if round == 0 {
                kept[stage] = (heap[1].0 as f64 - heap[0].0 as f64) / bytecodes;
            }
            allocations[stage] = (heap[1].1 - heap[0].1) as f64;
        }
        // The first rounds warm up.
        if round >= effort.rounds {
            for (stage, times) in rounds.iter_mut().zip(clock.times.windows(2)) {
                stage.push((times[1] - times[0]).saturating_sub(looking) as f64 / bytecodes);
            }
        }
    }
    let times = rounds.map(|mut stage| {
        stage.sort_by(f64::total_cmp);
        // What else the machine does only ever adds.
        stage[stage.len() / 10]
    });
    Found { times, kept, allocations }
}
