//! How long each pass of the optimizer takes.
//!
//! An observer looks at the clock between stages. What is not between two stages (emission, installing) is the
//! rest of the whole time; reading the clock costs some ten nanoseconds a stage, which only the shortest programs
//! notice.

use crate::measure::Effort;
use crate::programs::Program;
use crate::subject;
use azulejo_core::grammar::TileSet;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::graph::Graph;
use azulejo_core::ir::ranges::Ranges;
use azulejo_core::ir::schedule::Schedule;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::pass::Observer;
use azulejo_core::verify::verify;
use std::time::Instant;

/// The stages, as the observer hears of them; the second time of `rewrite` is its own.
const STAGES: [&str; 10] =
    ["build", "rewrite", "forward", "rewrite 2", "dead", "place", "tile", "live", "allocate", "emit"];

/// Notes when each stage ended.
struct Clock {
    times: Vec<Instant>,
}

impl Clock {
    fn tick(&mut self) {
        self.times.push(Instant::now());
    }
}

impl Observer for Clock {
    fn graph(&mut self, _: &'static str, _: &Graph) {
        self.tick();
    }
    fn schedule(&mut self, _: &Graph, _: &Schedule) {
        self.tick();
    }
    fn tiles(&mut self, _: &TileSet, _: &TileList) {
        self.tick();
    }
    fn ranges(&mut self, _: &TileList, _: &Ranges) {
        self.tick();
    }
    fn assignment(&mut self, _: &TileSet, _: &TileList, _: &Assignment) {
        self.tick();
    }
}

/// Prints a line for each program: nanoseconds a bytecode in each pass, medians of the rounds.
pub(crate) fn print(programs: &[Program], effort: Effort) {
    let mut line = format!("{:16}", "");
    STAGES.iter().chain(&["all"]).for_each(|stage| line += &format!("{stage:>10}"));
    println!("nanoseconds a bytecode\n{line}");
    for program in programs {
        let times = measure(program, effort);
        let mut line = format!("{:16}", program.name);
        let all = times.iter().sum();
        times.iter().chain(&[all]).for_each(|time| line += &format!("{time:>10.1}"));
        println!("{line}");
    }
}

fn measure(program: &Program, effort: Effort) -> [f64; STAGES.len()] {
    let shape = verify(&program.code.ops, &program.code.labels, program.code.registers).expect("it is right");
    let source = subject::source(program, &shape);
    let mut compiler = subject::compiler();
    let mut clock = Clock { times: Vec::new() };
    let mut rounds: [Vec<f64>; STAGES.len()] = Default::default();
    let bytecodes = program.code.ops.len() as f64;
    for round in 0..4 * effort.rounds {
        clock.times.clear();
        clock.tick();
        drop(compiler.bytecode(&source, &mut clock).expect("it compiles"));
        clock.tick();
        assert_eq!(clock.times.len(), STAGES.len() + 1, "the driver tells of every stage");
        // The first rounds warm up.
        if round >= effort.rounds {
            for (stage, times) in rounds.iter_mut().zip(clock.times.windows(2)) {
                stage.push((times[1] - times[0]).as_nanos() as f64 / bytecodes);
            }
        }
    }
    rounds.map(|mut stage| {
        stage.sort_by(f64::total_cmp);
        stage[stage.len() / 2]
    })
}
