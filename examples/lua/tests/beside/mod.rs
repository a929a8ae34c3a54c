//! Runs programs of Lua in every tier, beside C's Lua.
//!
//! In: programs in a folder, and the binary that runs them. Out: where a tier prints something else than `lua5.1`, byte for byte,
//! starts its standard error with another line, or ends with another exit code. A program that may differ stands in a list with
//! the reason; one that is listed and agrees is reported, too. The test `programs.rs` and `cargo xtask lua-suite` use this file.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The program whose answers are right.
pub(crate) const REFERENCE: &str = "lua5.1";

/// What `--tier` may be.
pub(crate) const TIERS: [&str; 5] =
    ["interpreter-in-rust", "interpreter", "baseline", "optimizer", "climbing"];

/// A program that runs for longer has failed.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Likewise with a collector that works whenever it may: one takes 45 s of CPU time on a slow machine, whose cores others may use too.
const EAGER_LIMIT: Duration = Duration::from_secs(240);

/// A program that prints more than this many bytes is not read to its end.
const MOST: u64 = 1 << 24;

/// How often a running program is looked at.
const GLANCE: Duration = Duration::from_millis(2);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    /// By a signal, as programs that crash do.
    Killed,
    /// It was ended when it had run for so long.
    TooLong(Duration),
}

/// What a run of a program shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) output: Vec<u8>,
    /// The first line of standard error that is not empty, without the name of the program that ran it.
    pub(crate) fault: String,
    pub(crate) end: End,
}

/// A program that did not do in a tier what it should.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A program that may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// The subject in a tier, ready to be given a program.
pub(crate) fn subject(binary: &Path, tier: &str) -> Command {
    let mut command = undisturbed(binary);
    command.args(["--tier", tier]);
    command
}

/// The reference, ready to be given a program.
pub(crate) fn reference() -> Command {
    undisturbed(REFERENCE.as_ref())
}

/// A command that the user's own settings for Lua do not reach. What the subject saves for its next run is beside the subject.
fn undisturbed(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("AZULEJO_LUA_CACHE", program.with_file_name("lua-cache"));
    for variable in ["LUA_INIT", "LUA_PATH", "LUA_CPATH"] {
        command.env_remove(variable);
    }
    command
}

/// Whether the reference is installed.
pub(crate) fn has_reference() -> bool {
    let run = Command::new(REFERENCE).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    !matches!(run, Err(error) if error.kind() == ErrorKind::NotFound)
}

/// Runs a program in its folder without input, for a limited time.
pub(crate) fn run(command: Command, folder: &Path, path: &str) -> io::Result<Outcome> {
    run_for(LIMIT, command, folder, path)
}

fn run_for(limit: Duration, mut command: Command, folder: &Path, path: &str) -> io::Result<Outcome> {
    command.arg(path).current_dir(folder);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (output, error) = (child.stdout.take(), child.stderr.take());
    // A program that prints much waits until it is read.
    let output = thread::spawn(move || read(output));
    let error = thread::spawn(move || read(error));
    let start = Instant::now();
    let end = loop {
        match child.try_wait()? {
            Some(status) => break status.code().map_or(End::Killed, End::Code),
            None if start.elapsed() > limit => {
                child.kill()?;
                child.wait()?;
                break End::TooLong(limit);
            }
            None => thread::sleep(GLANCE),
        }
    };
    let output = output.join().expect("reading does not panic")?;
    let error = error.join().expect("reading does not panic")?;
    Ok(Outcome { output, fault: first_line(&error), end })
}

fn read(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.expect("the pipe was asked for").take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn first_line(error: &[u8]) -> String {
    let text = String::from_utf8_lossy(error);
    // What a panic says starts with an empty line.
    let line = text.lines().find(|line| !line.is_empty()).unwrap_or("");
    let name = ["lua5.1: ", "azulejo-lua: "].into_iter().find_map(|name| line.strip_prefix(name));
    name.unwrap_or(line).to_string()
}

/// Says what differs first, if anything does.
pub(crate) fn difference(ours: &Outcome, theirs: &Outcome) -> Option<String> {
    if ours.output != theirs.output {
        let (mut left, mut right) =
            (ours.output.split(|byte| *byte == b'\n'), theirs.output.split(|byte| *byte == b'\n'));
        for line in 1.. {
            let (left, right) = (left.next(), right.next());
            if left != right {
                let [left, right] = [left, right].map(|text| {
                    text.map_or("nothing".to_string(), |text| format!("`{}`", text.escape_ascii()))
                });
                let ended =
                    if ours.end == theirs.end { String::new() } else { format!("; {}", ending(ours)) };
                return Some(format!("line {line} is {left}, not {right}{ended}"));
            }
        }
    }
    if ours.end != theirs.end {
        return Some(format!("{}, not {}", ending(ours), ending(theirs)));
    }
    (ours.fault != theirs.fault)
        .then(|| format!("standard error starts with `{}`, not `{}`", ours.fault, theirs.fault))
}

/// How a run ended, in words.
pub(crate) fn ending(outcome: &Outcome) -> String {
    let how = match outcome.end {
        End::Code(code) => format!("exit code {code}"),
        End::Killed => "killed".to_string(),
        End::TooLong(limit) => format!("more than {} s", limit.as_secs()),
    };
    if outcome.fault.is_empty() { how } else { format!("{how} (`{}`)", outcome.fault) }
}

/// Runs all programs in all tiers beside the reference. The failures come in the order of the programs.
pub(crate) fn compare(binary: &Path, folder: &Path, programs: &[String], listed: &[Listed]) -> Vec<Failure> {
    let mut failures = each(programs, |path| match run(reference(), folder, path) {
        Err(error) => vec![format!("{path}: {REFERENCE} cannot run: {error}")],
        Ok(theirs) => {
            let found: Vec<String> = TIERS
                .iter()
                .filter_map(|tier| {
                    let found = match run(subject(binary, tier), folder, path) {
                        Ok(ours) => difference(&ours, &theirs)?,
                        Err(error) => format!("cannot run: {error}"),
                    };
                    Some(format!("{path} in {tier}: {found}"))
                })
                .collect();
            match listed.iter().find(|listed| listed.path == path) {
                Some(listed) if found.is_empty() => {
                    vec![format!("{path}: agrees, yet is listed: {}", listed.reason)]
                }
                Some(_) => Vec::new(),
                None => found,
            }
        }
    });
    for Listed { path, .. } in listed.iter().filter(|listed| !programs.contains(&listed.path)) {
        let text = format!("{path}: is listed, yet there is no such program");
        failures.push(Failure { path: path.clone(), text });
    }
    failures
}

/// Runs programs in tiers with a collector that does something whenever it may, `steps` or `cycles`: they are to do what they do otherwise.
/// Those that are listed are left out. The failures come in the order of the programs.
pub(crate) fn compare_eager(
    binary: &Path,
    folder: &Path,
    programs: &[String],
    eagerness: &str,
    tiers: &[&str],
    listed: &[Listed],
) -> Vec<Failure> {
    each(programs, |path| {
        if listed.iter().any(|listed| listed.path == path) {
            return Vec::new();
        }
        let in_tier = |tier: &&str| {
            let mut eager = subject(binary, tier);
            eager.env("AZULEJO_LUA_EAGER_COLLECTOR", eagerness);
            let found = run_for(EAGER_LIMIT, eager, folder, path);
            let found = match (run(subject(binary, tier), folder, path), found) {
                (Ok(expected), Ok(found)) => difference(&found, &expected)?,
                (Err(error), _) | (_, Err(error)) => format!("cannot run: {error}"),
            };
            Some(format!("{path} in {tier} with `{eagerness}`: {found}"))
        };
        tiers.iter().filter_map(in_tier).collect()
    })
}

/// Does something with each program, several at a time. What it reports comes in the order of the programs.
pub(crate) fn each(programs: &[String], check: impl Fn(&str) -> Vec<String> + Sync) -> Vec<Failure> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for text in check(path) {
                        let failure = Failure { path: path.clone(), text };
                        failures.lock().expect("no thread panics with the lock").push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no thread panics with the lock");
    failures.sort_by(|left, right| left.path.cmp(&right.path));
    failures
}

/// The programs in a folder and in those below it, as paths from the folder.
pub(crate) fn programs(folder: &Path) -> io::Result<Vec<String>> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            programs.extend(self::programs(&path)?.iter().map(|inner| format!("{name}/{inner}")));
        } else if name.ends_with(".lua") {
            programs.push(name);
        }
    }
    programs.sort();
    Ok(programs)
}

/// The list of programs that may differ: a path and the reason in each line.
pub(crate) fn listed(text: &str) -> Result<Vec<Listed>, String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| match line.split_once(": ") {
            Some((path, reason)) if !reason.trim().is_empty() => {
                Ok(Listed { path: path.to_string(), reason: reason.to_string() })
            }
            _ => Err(format!("no path with a reason: {line}")),
        })
        .collect()
}
