//! Times every engine on a program. The engines take turns in rounds, so that disturbances affect all of them alike.

use crate::clock;
use crate::programs::{Kind, Program};
use crate::subject::{self, Subject};
use std::time::Duration;

/// The extent of the measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of rounds.
    pub rounds: usize,
    /// The minimum duration of one sample; short actions are repeated.
    pub sample: Duration,
}

/// Nanoseconds per repetition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The median of all rounds.
    pub median: f64,
    /// The 10th percentile.
    pub low: f64,
    /// The 90th percentile.
    pub high: f64,
}

/// The measurements of one engine with one program.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The program's name.
    pub bench: String,
    /// The program's purpose.
    pub kind: Kind,
    /// The engine's name.
    pub engine: &'static str,
    /// The engine's tier.
    pub tier: &'static str,
    /// The number of bytecodes in the program.
    pub bytecodes: usize,
    /// The size of its machine code; zero if there is none.
    pub code_bytes: usize,
    /// Compile time through the public interface.
    pub compile: Option<Sample>,
    /// Compile time below the engine.
    pub pipeline: Option<Sample>,
    /// Run time.
    pub run: Option<Sample>,
    /// Heap use of the first compilation by a new compiler, and of the next one.
    pub heap: Option<(crate::memory::Use, crate::memory::Use)>,
}

/// Measures all engines on a program, after checking their results.
pub(crate) fn measure(program: &Program, effort: Effort) -> Vec<Row> {
    let mut subjects = subject::all(program);
    for subject in &mut subjects {
        let Some(run) = &mut subject.run else { continue };
        for _ in 0..2 {
            let result = run();
            let (name, engine, tier) = (&program.name, subject.engine, subject.tier);
            assert_eq!(result, program.expected, "{name} in {engine} {tier}");
        }
    }
    let mut series: Vec<[Series<'_>; 3]> = Vec::new();
    let mut rows = Vec::new();
    for subject in subjects {
        let Subject { engine, tier, compile, pipeline, run, code_bytes, heap } = subject;
        let run = run.filter(|_| program.kind != Kind::Tiny);
        let run = run.map(|mut run| -> Box<dyn FnMut() + '_> {
            Box::new(move || {
                std::hint::black_box(run());
            })
        });
        series.push([compile, pipeline, run].map(|action| Series::new(action, effort.sample)));
        let (bench, kind, bytecodes) = (program.name.clone(), program.kind, program.code.ops.len());
        let none = None::<Sample>;
        rows.push(Row {
            bench,
            kind,
            engine,
            tier,
            bytecodes,
            code_bytes,
            compile: none,
            pipeline: none,
            run: none,
            heap,
        });
    }
    for _ in 0..effort.rounds {
        series.iter_mut().flatten().for_each(Series::round);
    }
    for (row, series) in rows.iter_mut().zip(&series) {
        [row.compile, row.pipeline, row.run] = [0, 1, 2].map(|at: usize| series[at].sample());
    }
    rows
}

/// A repeatedly timed action.
pub(crate) struct Series<'a> {
    action: Option<Box<dyn FnMut() + 'a>>,
    repetitions: u32,
    times: Vec<f64>,
}

impl<'a> Series<'a> {
    pub(crate) fn new(mut action: Option<Box<dyn FnMut() + 'a>>, sample: Duration) -> Series<'a> {
        let mut repetitions = 1;
        if let Some(action) = &mut action {
            // Doubles the repetitions until a sample is long enough, which also warms up.
            while time(action, repetitions) < sample.as_nanos() as f64 {
                repetitions *= 2;
            }
        }
        Series { action, repetitions, times: Vec::new() }
    }

    pub(crate) fn round(&mut self) {
        if let Some(action) = &mut self.action {
            self.times.push(time(action, self.repetitions) / self.repetitions as f64);
        }
    }

    pub(crate) fn sample(&self) -> Option<Sample> {
        let mut times = self.times.clone();
        times.sort_by(f64::total_cmp);
        let at = |tenths: usize| times.get((times.len().max(1) - 1) * tenths / 10).copied();
        Some(Sample { median: at(5)?, low: at(1)?, high: at(9)? })
    }
}

fn time(action: &mut Box<dyn FnMut() + '_>, repetitions: u32) -> f64 {
    let start = clock::now();
    for _ in 0..repetitions {
        action();
    }
    (clock::now() - start) as f64
}
