//! Times every engine on a program: in rounds, one engine after another, so that what disturbs hits all the same.

use crate::clock;
use crate::programs::{Kind, Program};
use crate::subject::{self, Subject};
use std::time::Duration;

/// How long measuring may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many rounds.
    pub rounds: usize,
    /// How long one sample takes at least: short things are repeated.
    pub sample: Duration,
}

/// Nanoseconds for one repetition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The median of all rounds.
    pub median: f64,
    /// One round in ten was not slower than this.
    pub low: f64,
    /// One round in ten was not faster than this.
    pub high: f64,
}

/// What was learned of one engine with one program.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The program.
    pub bench: String,
    /// What it is measured for.
    pub kind: Kind,
    /// Whose engine.
    pub engine: &'static str,
    /// Which tier of it.
    pub tier: &'static str,
    /// The program's length.
    pub bytecodes: usize,
    /// The length of its machine code, zero if there is none.
    pub code_bytes: usize,
    /// Compiling, as a user does it.
    pub compile: Option<Sample>,
    /// Compiling, below the engine.
    pub pipeline: Option<Sample>,
    /// Running once.
    pub run: Option<Sample>,
    /// Heap use: of the first compilation by a new compiler, and of the next.
    pub heap: Option<(crate::memory::Use, crate::memory::Use)>,
}

/// Measures all engines on a program, after comparing their results.
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

/// Something that is timed again and again.
pub(crate) struct Series<'a> {
    action: Option<Box<dyn FnMut() + 'a>>,
    repetitions: u32,
    times: Vec<f64>,
}

impl<'a> Series<'a> {
    pub(crate) fn new(mut action: Option<Box<dyn FnMut() + 'a>>, sample: Duration) -> Series<'a> {
        let mut repetitions = 1;
        if let Some(action) = &mut action {
            // Doubled until it takes long enough; warms up as well.
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
