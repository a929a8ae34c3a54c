//! Runs random programs of Lua in every tier of the Lua example, beside C's Lua.
//!
//! In: how many programs, and the first seed. Out: a line for each program that does something else in a tier, and the count. Such programs
//! stay in the target folder. The programs come from the generator of the example's tests. They run in one process with C's Lua, by the
//! example's test `reference`; or with `--processes`, each in processes of its own, with the command line and everything around.

use crate::beside;
use crate::command;
use std::fs;
use std::path::Path;

#[path = "../../examples/lua/tests/random_programs/mod.rs"]
mod random_programs;

/// How many programs there are at once.
const BATCH: u64 = 500;

/// Runs the programs. `--programs N` says how many, `--seed N` which is the first, `--processes` that each has its own processes.
pub(crate) fn fuzz(root: &Path, mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut seed, mut programs, mut has_processes) = (1, 1000, false);
    while let Some(argument) = arguments.next() {
        if argument == "--processes" {
            has_processes = true;
            continue;
        }
        let value = arguments.next().and_then(|text| text.parse().ok());
        let value = value.ok_or_else(|| format!("{argument} needs a number"))?;
        match &*argument {
            "--programs" => programs = value,
            "--seed" => seed = value,
            _ => return Err(format!("what is {argument}?")),
        }
    }
    if !has_processes {
        return in_process(root, seed, programs);
    }
    if !beside::has_reference() {
        eprintln!("no program is tried: no {}", beside::REFERENCE);
        return Ok(());
    }
    let binary = command::lua(root)?;
    let folder = binary.ancestors().nth(2).expect("it is in a folder of the target folder").join("lua-fuzz");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let (mut first, end, mut differ) = (seed, seed + programs, 0);
    while first < end {
        let last = end.min(first + BATCH);
        differ += batch(&binary, &folder, first..last)?;
        first = last;
    }
    let line = format!("lua-fuzz: {programs} programs, {differ} differ");
    if differ > 0 {
        return Err(line);
    }
    eprintln!("{line}");
    Ok(())
}

/// Runs the programs in one process.
fn in_process(root: &Path, seed: u64, programs: u64) -> Result<(), String> {
    let line = "cargo test --quiet --release -p azulejo-lua --test reference -- --nocapture";
    let mut command = command::command(root, line);
    command.env("LUA_PROGRAM_SEED", seed.to_string()).env("LUA_PROGRAMS", programs.to_string());
    let output = command.output().map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if output.status.success() {
        eprintln!("lua-fuzz: {programs} programs, 0 differ");
        return Ok(());
    }
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    eprintln!("{said}");
    // A process that was taken down counted nothing.
    let count =
        said.split_once(&format!(" of {programs} differ")).and_then(|(before, _)| before.rsplit(' ').next());
    Err(format!("lua-fuzz: {programs} programs, {} differ", count.unwrap_or("one or more")))
}

/// Runs the programs of these seeds; returns how many differ.
fn batch(binary: &Path, folder: &Path, seeds: std::ops::Range<u64>) -> Result<usize, String> {
    let names: Vec<String> = seeds.clone().map(|seed| format!("{seed}.lua")).collect();
    let cannot = |error| format!("cannot write to {}: {error}", folder.display());
    for (seed, name) in seeds.zip(&names) {
        fs::write(folder.join(name), random_programs::program(seed)).map_err(cannot)?;
    }
    let failures = beside::compare(binary, folder, &names, &[]);
    failures.iter().for_each(|failure| eprintln!("{}", failure.text));
    let has_failed = |name: &&String| failures.iter().any(|failure| failure.path == **name);
    for name in names.iter().filter(|name| !has_failed(name)) {
        fs::remove_file(folder.join(name)).map_err(cannot)?;
    }
    Ok(names.iter().filter(has_failed).count())
}
