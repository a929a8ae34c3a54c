//! The fuzzer: generates or mutates modules until there are enough, and prints a line for every one that differs.
//!
//! In: `--modules N`, `--seed N`, `--seconds N`, `--only N` (runs only the module with this number, and writes it to a
//! file), `--file FILE` (runs that module, for a reducer). Out: whether all ways agree with the judge. The seed and a
//! module's number determine the module.

use crate::compare::{self, WAYS};
use crate::oracle::{Judged, Oracle};
use crate::{generate, mutate, programs};
use azulejo_core::random::Random;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A module that takes this long hangs, since the judge bounds the work of calls.
const HANGS: Duration = Duration::from_secs(60);

/// The session ends after this many failures.
const MOST_FAILURES: usize = 20;

/// The options on the command line.
struct Options {
    modules: u64,
    seed: u64,
    seconds: u64,
    only: Option<u64>,
    file: Option<String>,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { modules: 1000, seed: 1, seconds: u64::MAX, only: None, file: None };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` wants a value"))?;
        if word == "--file" {
            options.file = Some(value);
            continue;
        }
        let value: u64 = value.parse().map_err(|_| format!("`{word}` wants a number"))?;
        match word.as_str() {
            "--modules" => options.modules = value,
            "--seed" => options.seed = value,
            "--seconds" => options.seconds = value,
            "--only" => options.only = Some(value),
            _ => {
                return Err(format!(
                    "unknown: `{word}`; known are --modules, --seed, --seconds, --only, --file"
                ));
            }
        }
    }
    Ok(options)
}

/// Counts of a session's modules and calls.
#[derive(Default, Debug)]
pub struct Tally {
    /// All modules.
    pub modules: u64,
    /// Modules that the judge accepted.
    pub valid: u64,
    /// Calls that were compared.
    pub calls: u64,
    /// Compared calls that returned.
    pub returned: u64,
}

/// The module with a number: of six, one is a mutated generated module and one a mutated program.
pub fn module(seed: u64, number: u64) -> (Vec<u8>, Random) {
    let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
    let bytes = match number % 6 {
        1 => {
            let mut bytes = programs::any(&mut random).to_vec();
            mutate::mutate(&mut bytes, &mut random);
            bytes
        }
        4 => {
            let mut bytes = generate::module(&mut random);
            mutate::mutate(&mut bytes, &mut random);
            bytes
        }
        _ => generate::module(&mut random),
    };
    (bytes, random)
}

/// Runs a module in all ways. The error is the first difference.
pub fn check(oracle: &Oracle, bytes: &[u8], random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    tally.modules += 1;
    let Some(Judged { plan, outcome, .. }) = oracle.judge(bytes, random) else {
        // The example may refuse the module or accept it, but must not crash.
        return compare::decode(bytes);
    };
    tally.valid += 1;
    tally.calls += outcome.calls.len() as u64;
    tally.returned += outcome.calls.iter().filter(|end| end.is_ok()).count() as u64;
    for way in WAYS {
        let own = compare::run(bytes, &plan, &outcome, way)
            .map_err(|message| format!("{}: {message}", way.name))?;
        if let Some(difference) = compare::difference(&outcome, &own) {
            return Err(format!("{}: {difference}", way.name));
        }
    }
    Ok(())
}

/// Aborts the process when a module takes too long.
fn watch(number: &'static AtomicU64) {
    std::thread::spawn(move || {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = number.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > HANGS {
                eprintln!("module {now} hangs");
                std::process::abort();
            }
        }
    });
}

/// Runs a session. Returns whether all modules agreed.
pub fn session(words: impl Iterator<Item = String>) -> Result<bool, String> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let options = options(words)?;
    let oracle = Oracle::default();
    let (mut tally, mut failures) = (Tally::default(), 0);
    let start = Instant::now();
    if let Some(file) = options.file {
        let bytes = std::fs::read(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
        return match check(&oracle, &bytes, &mut Random::new(options.seed), &mut tally) {
            Ok(()) => Ok(true),
            Err(message) => Err(format!("{file}: {message}")),
        };
    }
    let numbers = options.only.map_or(0..options.modules, |only| only..only + 1);
    watch(&NUMBER);
    for number in numbers {
        if start.elapsed().as_secs() >= options.seconds || failures == MOST_FAILURES {
            break;
        }
        NUMBER.store(number, Ordering::Relaxed);
        let (bytes, mut random) = module(options.seed, number);
        if options.only.is_some() {
            let file = std::env::temp_dir().join(format!("module-{}-{number}.wasm", options.seed));
            std::fs::write(&file, &bytes)
                .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            eprintln!("{}", file.display());
        }
        if let Err(message) = check(&oracle, &bytes, &mut random, &mut tally) {
            failures += 1;
            println!("module {number} of seed {}, {} bytes: {message}", options.seed, bytes.len());
        }
    }
    println!("{tally:?}, {failures} differ, in {:.0} s", start.elapsed().as_secs_f64());
    Ok(failures == 0)
}
