//! The suite of whole programs in Lua: the example of Lua 5.1 beside other implementations.
//!
//! In: the programs of `benches/lua`, each of which prints a line with a checksum and knows the one of its usual size; the
//! implementations that are installed; a release build of `azulejo-lua`, which is made here. Out: how many times as fast as PUC Lua 5.1
//! each implementation is, and how many times as much memory it takes, for each program and in the mean.
//!
//! Each run is a process of its own, with start, compilation and end. The implementations take turns, and the best of some rounds
//! counts. Ratios use the CPU time of the process, of the user and of the system, because others use the machine too; it includes
//! threads that compile. The wall time is in the JSON file.
//!
//! Each program takes PUC Lua about half a second, in which compiling counts. With `--longer` it is told the size that its line
//! `-- longer: N` says, which takes PUC Lua about five seconds.
//!
//! A run fails if it does not end well or prints another line than PUC Lua 5.1. A program with such a run has no part in the means,
//! and the command fails at its end.

mod implementation;
mod process;
mod report;

use crate::options::Options;
use implementation::Implementation;
use process::Run;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const ROUNDS: usize = 5;

/// How often an empty script is run.
const STARTS: usize = 20;

/// The measurements of one implementation with one program, or why there are none.
pub(crate) type Outcome = Result<Best, String>;

/// The best of some runs. Each figure is the least of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    /// Seconds of CPU time.
    pub(crate) cpu: f64,
    /// Seconds.
    pub(crate) wall: f64,
    /// The greatest size of the process in memory, in KiB.
    pub(crate) peak: u64,
}

impl Best {
    fn of(run: &Run) -> Best {
        Best { cpu: run.cpu, wall: run.wall, peak: run.peak }
    }

    fn and(self, other: Best) -> Best {
        Best {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
            peak: self.peak.min(other.peak),
        }
    }
}

/// The measurements of a program, by implementations.
pub(crate) struct LuaRow {
    pub(crate) bench: String,
    pub(crate) outcomes: BTreeMap<&'static str, Outcome>,
}

impl LuaRow {
    /// Whether every implementation has run the program well.
    pub(crate) fn is_complete(&self) -> bool {
        self.outcomes.values().all(Result::is_ok)
    }

    /// The measurements of an implementation, if there are any.
    pub(crate) fn best(&self, implementation: &str) -> Option<Best> {
        self.outcomes.get(implementation)?.as_ref().ok().copied()
    }
}

/// Measures all implementations with all programs, and prints the results.
pub(crate) fn measure(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let only = options.only.as_deref().unwrap_or("");
    let rounds = options.rounds.unwrap_or(if options.is_quick { 1 } else { ROUNDS });
    let implementations = implementation::all()?;
    let mut rows = Vec::new();
    for program in programs(only)? {
        eprintln!("{}", name(&program));
        let size = if options.is_longer { Some(longer_size(&program)?) } else { None };
        rows.push(row(&program, size.as_deref(), &implementations, rounds));
    }
    if rows.is_empty() {
        return Err(format!("no program's name has `{only}` in it").into());
    }
    let starts = starts(&implementations)?;
    let names: Vec<&'static str> = implementations.iter().map(|it| it.name).collect();
    if let Some(file) = &options.json {
        let mut file = fs::File::create(file)?;
        rows.iter().chain([&starts]).try_for_each(|row| write!(file, "{}", report::json(row)))?;
    }
    report::print(&names, &rows, &starts);
    let all = rows.iter().chain([&starts]);
    let failed: Vec<&str> = all.filter(|row| !row.is_complete()).map(|row| row.bench.as_str()).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("failed: {}", failed.join(", ")).into()),
    }
}

/// The programs whose name contains a text, in the order of their names.
fn programs(only: &str) -> Result<Vec<PathBuf>, std::io::Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    let files = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = files.collect::<Result<Vec<PathBuf>, _>>()?;
    files.retain(|file| file.extension().is_some_and(|it| it == "lua") && name(file).contains(only));
    files.sort();
    Ok(files)
}

fn name(program: &Path) -> String {
    program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The size with which a program takes longer.
fn longer_size(program: &Path) -> Result<String, String> {
    let text = fs::read_to_string(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let size = text.lines().find_map(|line| line.strip_prefix("-- longer: "));
    size.map(str::to_string).ok_or_else(|| format!("{} has no line `-- longer: N`", program.display()))
}

/// Runs a program, with a size or with its usual one, with all implementations in turns. One that has failed is not run again.
fn row(program: &Path, size: Option<&str>, implementations: &[Implementation], rounds: usize) -> LuaRow {
    let mut outcomes = BTreeMap::new();
    let mut expected = None;
    for _ in 0..rounds {
        for implementation in implementations {
            let before = outcomes.remove(implementation.name);
            let outcome = match before {
                Some(Err(reason)) => Err(reason),
                Some(Ok(best)) => run(program, size, implementation, &mut expected).map(|now| now.and(best)),
                None => run(program, size, implementation, &mut expected),
            };
            outcomes.insert(implementation.name, outcome);
        }
    }
    LuaRow { bench: name(program), outcomes }
}

/// Runs a program once. `expected` is what the first run of all has printed, which is one of PUC Lua.
fn run(
    program: &Path,
    size: Option<&str>,
    implementation: &Implementation,
    expected: &mut Option<String>,
) -> Outcome {
    let run = process::run(&mut implementation.command(program, size))?;
    let expected = expected.get_or_insert_with(|| run.printed.clone());
    if run.printed != *expected {
        return Err(format!("prints `{}`, and not `{}`", run.printed.trim_end(), expected.trim_end()));
    }
    Ok(Best::of(&run))
}

/// Runs an empty script with all implementations.
fn starts(implementations: &[Implementation]) -> Result<LuaRow, std::io::Error> {
    let script = std::env::temp_dir().join(format!("azulejo-empty-{}.lua", std::process::id()));
    fs::write(&script, "")?;
    let row = row(&script, None, implementations, STARTS);
    fs::remove_file(&script)?;
    Ok(LuaRow { bench: report::START.to_string(), ..row })
}
