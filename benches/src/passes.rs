//! The time that each pass of the optimizer takes, and the memory that it keeps.
//!
//! An observer reads the clock between stages. Work outside of the stages (emission, installation) accounts for the
//! rest of the total time. The cost of reading the clock is measured first, and subtracted.

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

/// The stages that programs without kinds of values, and without floats as indices, do not have.
const ABSENT: [&str; 3] = ["kinds", "lower", "counters"];
/// The number of stages that the observer is notified of. `rewrite` counts twice.
const N_STAGES: usize = STAGES.len() - ABSENT.len() + 1;

/// The names of the stages, in the order of the notifications.
fn stages() -> impl Iterator<Item = &'static str> {
    let again = |stage| (stage == "forward").then_some("rewrite 2");
    STAGES
        .into_iter()
        .filter(|stage| !ABSENT.contains(stage))
        .flat_map(move |stage| [stage].into_iter().chain(again(stage)))
}

/// Records the time and the heap use at the end of each stage.
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

/// The measurements of a program.
struct Found {
    /// Nanoseconds per bytecode, at the 10th percentile of the rounds.
    times: Stages,
    /// Bytes per bytecode that a new compiler keeps.
    kept: Stages,
    /// The number of allocations when the program is compiled again.
    allocations: Stages,
}

/// Prints tables with a row for each program.
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
        // The first rounds are for warm-up.
        if round >= effort.rounds {
            for (stage, times) in rounds.iter_mut().zip(clock.times.windows(2)) {
                stage.push((times[1] - times[0]).saturating_sub(looking) as f64 / bytecodes);
            }
        }
    }
    let times = rounds.map(|mut stage| {
        stage.sort_by(f64::total_cmp);
        // Interference by the system only increases times, so a low percentile is used.
        stage[stage.len() / 10]
    });
    Found { times, kept, allocations }
}
