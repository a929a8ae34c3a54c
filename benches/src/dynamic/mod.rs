//! The suite of a dynamic language: a small machine with boxed values, shapes and closures, beside Lua.
//!
//! In: five programs, each in Lua and in the machine's bytecode. Out: for each program the seconds of PUC Lua 5.1, and how many times
//! as fast LuaJIT and each of our tiers are. A tier's engine climbs up to it, and runs the program some times before it is measured. The
//! fastest run counts. Then all functions are compiled again and again, with what their sites have learned. Where an interpreter of Lua
//! is missing, its columns are left out. A difference between results is an error. Switches between fibers are measured as well.

mod heap;
mod lua;
mod machine;
mod programs;
mod report;
mod switches;
mod writer;

use crate::clock;
use crate::options::Options;
use azulejo::Builder;
use azulejo::prelude::*;
use heap::Heap;
use lua::Lua;
use machine::Op;
use programs::{Definer, DynamicProgram};
use std::io::Write;

/// How often a program runs before it is measured.
const WARM_UP: usize = 3;
const ROUNDS: usize = 5;
/// How often each function is compiled again.
const COMPILATIONS: usize = 50;

/// The fastest runs of a program, in seconds.
pub(crate) struct DynamicRow {
    pub(crate) bench: &'static str,
    /// By the names of the engines. All rows have the same.
    pub(crate) seconds: Vec<(&'static str, f64)>,
}

/// One of our tiers with a program in it.
struct Runner {
    tier: Tier,
    engine: Engine<Op>,
    heap: Box<Heap>,
    functions: Vec<FunctionId>,
    /// The address of its function `run`.
    run: u64,
    n: f64,
}

/// An engine that climbs up to a tier; an interpreter stays in it.
fn builder(tier: Tier) -> Builder {
    match tier {
        Tier::Interpreter => Builder::default().only(tier),
        _ => Builder::default().up_to(tier),
    }
}

impl Runner {
    fn new(program: &DynamicProgram, tier: Tier) -> Runner {
        let engine: Engine<Op> = builder(tier).times(true).build();
        let mut defined = Definer { engine: &engine, functions: Vec::new() };
        let run = (program.define)(&mut defined);
        let functions = defined.functions;
        Runner { tier, engine, heap: Heap::new(), functions, run, n: program.n }
    }

    /// Runs the program. Returns its result and the seconds.
    fn run(&mut self) -> (f64, f64) {
        let start = clock::now();
        self.heap.clear();
        let closure = machine::boxed(self.heap.new_closure(self.run, 1, &[]));
        let function = *self.functions.last().expect("there is one");
        let result: u64 = self
            .engine
            .call(function, &mut self.heap, (closure, self.n.to_bits()))
            .unwrap_or_else(|error| panic!("{error}"));
        (f64::from_bits(result), (clock::now() - start) as f64 / 1e9)
    }

    fn warm_up(&mut self) {
        for _ in 0..WARM_UP {
            self.run();
        }
    }

    /// Compiles all functions again, and returns how many bytecodes that are, and the seconds. All stencils have been made.
    fn compile(&self) -> (u64, f64) {
        let compiled = || {
            let stats = self.engine.stats();
            let of_tier = if self.tier == Tier::Baseline { stats.baseline } else { stats.optimizer };
            (of_tier.bytecodes, of_tier.time.as_secs_f64())
        };
        let before = compiled();
        for function in (0..COMPILATIONS).flat_map(|_| &self.functions) {
            let again =
                self.engine.discard(*function).and_then(|()| self.engine.compile_in(*function, self.tier));
            again.unwrap_or_else(|error| panic!("{error}"));
        }
        let after = compiled();
        (after.0 - before.0, after.1 - before.1)
    }

    /// Prints what has been compiled.
    fn print_code(&self) {
        println!("{:?}\n{}", self.tier, self.engine.stats());
        for function in &self.functions {
            let name = self.engine.name(*function).unwrap_or_default();
            match self.engine.disassemble(*function) {
                Ok(listing) => println!("{name}, {:?}\n{listing}", self.engine.tier(*function)),
                Err(error) => println!("{name}: {error}"),
            }
        }
    }
}

/// Measures all engines on all programs, and prints the results.
pub(crate) fn measure(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let only = options.only.as_deref().unwrap_or("");
    let luas = lua::all();
    let mut rows = Vec::new();
    let mut compiled = [(0, 0.0); 2];
    for program in programs::all().into_iter().filter(|program| program.name.contains(only)) {
        let mut runners =
            [Tier::Interpreter, Tier::Baseline, Tier::Optimizer].map(|tier| Runner::new(&program, tier));
        if options.code {
            for runner in &mut runners[1..] {
                runner.warm_up();
                println!("{}", program.name);
                runner.print_code();
            }
            continue;
        }
        eprintln!("{}", program.name);
        let rounds = options.rounds.unwrap_or(if options.is_quick { 1 } else { ROUNDS });
        rows.push(row(&program, &mut runners, &luas, rounds)?);
        for ((bytecodes, seconds), runner) in compiled.iter_mut().zip(&runners[1..]) {
            let more = runner.compile();
            (*bytecodes, *seconds) = (*bytecodes + more.0, *seconds + more.1);
        }
    }
    if let Some(file) = &options.json {
        let mut file = std::fs::File::create(file)?;
        rows.iter().try_for_each(|row| write!(file, "{}", report::json(row)))?;
    }
    switches::print()?;
    report::print(&rows, compiled.map(|(bytecodes, seconds)| bytecodes as f64 / seconds / 1e6));
    Ok(())
}

/// Measures all engines on a program, in turns.
fn row(
    program: &DynamicProgram,
    runners: &mut [Runner],
    luas: &[Lua],
    rounds: usize,
) -> Result<DynamicRow, Box<dyn std::error::Error>> {
    for runner in &mut *runners {
        runner.warm_up();
    }
    let names = luas.iter().map(|lua| lua.name).chain(runners.iter().map(|runner| name(runner.tier)));
    let mut seconds: Vec<(&'static str, f64)> = names.map(|name| (name, f64::INFINITY)).collect();
    let mut expected = None;
    for _ in 0..rounds {
        let mut found = Vec::new();
        for lua in luas {
            found.push(lua.run(program)?);
        }
        found.extend(runners.iter_mut().map(Runner::run));
        for ((name, least), (result, time)) in seconds.iter_mut().zip(found) {
            if *expected.get_or_insert(result) != result {
                return Err(format!("{} in {name} is {result}, and not {expected:?}", program.name).into());
            }
            *least = least.min(time);
        }
    }
    Ok(DynamicRow { bench: program.name, seconds })
}

fn name(tier: Tier) -> &'static str {
    match tier {
        Tier::Interpreter => "interpreter",
        Tier::Baseline => "baseline",
        Tier::Optimizer => "optimizer",
    }
}
