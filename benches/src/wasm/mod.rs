//! The suite of WebAssembly modules: the example beside wasmtime and wasmi.
//!
//! In: the example's programs with their results, and a generated module of more than a megabyte. Out: for each engine
//! the time to compile a module, from its bytes to machine code for every function, on one thread; the time to
//! start, from its bytes to the end of a short first call; the run time once everything is compiled; and the size of the
//! code. Our tiers also run each program for long, including loading, which shows the cost of tiering up. A difference between
//! the engines' results is an error.

mod report;
mod subject;

use crate::measure::{Effort, Sample, Series};
use crate::options::Options;
use azulejo_wasm_rig::{large, programs};
use std::io::Write;
use subject::WasmSubject;

/// The number of functions in the large module, which make more than a megabyte.
const FUNCTIONS: u32 = 3000;

/// A module to measure.
pub(crate) struct Input {
    /// Its name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The number of its functions.
    pub functions: usize,
    /// The argument and result of `run` for measuring start-up.
    pub few: (i32, i64),
    /// The argument and result of `run` for measuring run time.
    pub many: (i32, i64),
    /// Whether only its compile times are meaningful.
    pub is_large: bool,
}

/// The measurements of one engine with one module.
pub(crate) struct WasmRow {
    pub bench: &'static str,
    pub engine: &'static str,
    pub tier: &'static str,
    pub bytes: usize,
    pub functions: usize,
    pub code_bytes: usize,
    pub is_large: bool,
    pub compile: Option<Sample>,
    pub start: Option<Sample>,
    pub run: Option<Sample>,
    pub long: Option<Sample>,
}

/// The number of times that a long run is measured.
const LONG_ROUNDS: usize = 3;

/// Measures all engines on all modules, and prints the results.
pub(crate) fn measure(options: &Options, effort: Effort) -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    for input in inputs(options.only.as_deref().unwrap_or("")) {
        eprintln!("{}", input.name);
        rows.extend(rows_of(&input, effort));
    }
    if let Some(file) = &options.json {
        let mut file = std::fs::File::create(file)?;
        for row in &rows {
            writeln!(file, "{}", report::json(row))?;
        }
    }
    report::print(&rows);
    Ok(())
}

fn inputs(only: &str) -> Vec<Input> {
    let mut inputs: Vec<Input> = programs::all()
        .into_iter()
        .map(|program| Input {
            name: program.name,
            bytes: program.module.to_vec(),
            functions: subject::functions(program.module),
            few: program.few,
            many: program.many,
            is_large: false,
        })
        .collect();
    let bytes = large::module(FUNCTIONS);
    let result = subject::result(&bytes, 1);
    inputs.push(Input {
        name: "large",
        functions: subject::functions(&bytes),
        bytes,
        few: (1, result),
        many: (1, result),
        is_large: true,
    });
    inputs.retain(|input| input.name.contains(only));
    inputs
}

fn rows_of(input: &Input, effort: Effort) -> Vec<WasmRow> {
    let mut series: Vec<[Series<'_>; 4]> = Vec::new();
    let mut rows = Vec::new();
    for subject in subject::all(input) {
        let WasmSubject { engine, tier, compile, mut start, run, long, code_bytes } = subject;
        assert_eq!(start(), input.few.1, "{} in {engine} {tier}", input.name);
        let start: Box<dyn FnMut() + '_> = Box::new(move || {
            std::hint::black_box(start());
        });
        let run = run.filter(|_| !input.is_large).map(|mut run| -> Box<dyn FnMut() + '_> {
            assert_eq!(run(), input.many.1, "{} in {engine} {tier}", input.name);
            Box::new(move || {
                std::hint::black_box(run());
            })
        });
        let long = long.filter(|_| !input.is_large);
        series.push([compile, Some(start), run, long].map(|action| Series::new(action, effort.sample)));
        let (bytes, functions, is_large) = (input.bytes.len(), input.functions, input.is_large);
        let (compile, start, run, long) = (None, None, None, None);
        rows.push(WasmRow {
            bench: input.name,
            engine,
            tier,
            bytes,
            functions,
            code_bytes,
            is_large,
            compile,
            start,
            run,
            long,
        });
    }
    for round in 0..effort.rounds {
        for [compile, start, run, long] in &mut series {
            [compile, start, run].into_iter().for_each(Series::round);
            if round < LONG_ROUNDS {
                long.round();
            }
        }
    }
    for (row, series) in rows.iter_mut().zip(&series) {
        [row.compile, row.start, row.run, row.long] = [0, 1, 2, 3].map(|at: usize| series[at].sample());
    }
    rows
}
