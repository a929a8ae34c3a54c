//! Mutation testing: damages the compiler in one way at a time, and checks that the tests notice.
//!
//! In: `xtask/sabotage.txt`, a list of damages. Out: for each the check that noticed it, and the time it took. All work happens
//! in a copy of the repository in the target folder. A damage counts as caught if a minute of fuzzing fails, crashes or hangs, or
//! if a test fails or hangs or, while the compiler builds, a test does not; the same test must pass with nothing damaged. Tests that the
//! list names for a damage are run first. A damage whose text no longer matches the file, or that does not build, is an error in
//! the list.

use crate::command;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// The time limit of the fuzzer for a damage.
const SECONDS: u64 = 60;
/// The time limit of a first attempt: the fuzzer finds most damages at once, and others never.
const FIRST_SECONDS: u64 = 6;
/// The additional time after which the fuzzer counts as hanging.
const GRACE: Duration = Duration::from_secs(60);
/// The time after which the tests that are made to notice a damage count as hanging. They are built before.
const MADE_END: Duration = Duration::from_secs(5 * 60);
/// The time after which all tests count as hanging, with their build.
const TESTS_END: Duration = Duration::from_secs(30 * 60);
/// The number of programs to run on the undamaged compiler.
const PROGRAMS: u64 = 1000;

/// The command that builds the fuzzer.
const FUZZER: &str = "build --quiet -p azulejo-rig --bin fuzz";

/// The command that builds the library, without its tests.
const LIBRARY: &str = "build --quiet -p azulejo";

/// The tests to run if the fuzzer found nothing: after a few seconds those that build fast, after a minute the rest.
const TESTS: [&str; 2] = [
    "-p azulejo-core -p azulejo-lang -p azulejo-macros -p azulejo-code -p azulejo-x64 -p azulejo",
    "--workspace --exclude azulejo-core --exclude azulejo-lang --exclude azulejo-macros --exclude azulejo-code --exclude azulejo-x64 --exclude azulejo \
     --exclude xtask",
];

struct Damage {
    name: String,
    file: String,
    /// The arguments of `cargo test` for the tests that are meant to notice it.
    noticed_by: Option<String>,
    old: String,
    new: String,
}

/// A part of the list, for `--part`.
struct Part {
    number: usize,
    of: usize,
}

impl Part {
    fn of(text: &str) -> Option<Part> {
        let (number, of) = text.split_once('/')?;
        let part = Part { number: number.parse().ok()?, of: of.parse().ok()? };
        (1..=part.of).contains(&part.number).then_some(part)
    }

    fn take<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let bound = |number: usize| all.len() * number / self.of;
        &all[bound(self.number - 1)..bound(self.number)]
    }
}

/// Tries every damage whose name contains one of the given words, or all damages if no words are given. `--part 2/4` selects the
/// second quarter of these, since all together take hours.
pub(crate) fn sabotage(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut words: Vec<String> = arguments.collect();
    let part = match words.iter().position(|word| word == "--part") {
        Some(at) => {
            let part = words.drain(at..words.len().min(at + 2)).nth(1);
            part.and_then(|part| Part::of(&part)).ok_or("`--part` wants two numbers, as in `--part 2/4`")?
        }
        None => Part { number: 1, of: 1 },
    };
    let list = read(&root.join("xtask/sabotage.txt"))?;
    let mut damages = parse(&list)?;
    damages.retain(|damage| words.is_empty() || words.iter().any(|word| damage.name.contains(word)));
    let damages = part.take(&damages);
    let copy = root.join("target/sabotage");
    copy_sources(root, &copy)?;
    for damage in damages {
        damage.damaged(&copy)?;
    }
    let mut bench = Bench { copy, passing: HashSet::new() };
    bench.build(FUZZER)?;
    if let Some(how) = bench.fuzz(&["--programs", &PROGRAMS.to_string()])? {
        return Err(format!("with nothing damaged, the fuzzer {how}"));
    }
    let mut caught = 0;
    for damage in damages {
        // A damage that does not build or cannot be tried does not end the run, but makes it fail.
        match bench.try_damage(damage) {
            Ok(Some(how)) => {
                caught += 1;
                println!("caught: {}: {how}", damage.name);
            }
            Ok(None) => println!("NOT CAUGHT: {}", damage.name),
            Err(message) => println!("NOT TRIED: {message}"),
        }
    }
    println!("sabotage: caught {caught} of {}", damages.len());
    if caught == damages.len() { Ok(()) } else { Err("some damage went unnoticed".into()) }
}

/// Finds damages whose text does not occur exactly once in its file, and other errors in the list.
pub(crate) fn stale(root: &Path) -> Vec<String> {
    match read(&root.join("xtask/sabotage.txt")).and_then(|list| parse(&list)) {
        Ok(damages) => damages.iter().filter_map(|damage| damage.damaged(root).err()).collect(),
        Err(message) => vec![message],
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn parse(list: &str) -> Result<Vec<Damage>, String> {
    list.split("\n\n").filter(|entry| !entry.starts_with('#')).map(Damage::parse).collect()
}

impl Damage {
    fn parse(entry: &str) -> Result<Damage, String> {
        let lines = || entry.trim_matches('\n').lines();
        let marked = |mark: char| lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>();
        let mut plain = lines().filter(|line| !line.starts_with(['|', '>', '?']));
        let (Some(name), Some(file), None) = (plain.next(), plain.next(), plain.next()) else {
            return Err(format!("not a name, a file, and text:\n{entry}"));
        };
        let noticed_by = marked('?').first().map(|tests| tests.trim().to_string());
        let (old, new) = (marked('|').join("\n"), marked('>').join("\n"));
        Ok(Damage { name: name.into(), file: file.into(), noticed_by, old, new })
    }

    /// The file's content before and after the damage.
    fn damaged(&self, copy: &Path) -> Result<(String, String), String> {
        let text = read(&copy.join(&self.file))?;
        match text.matches(&self.old).count() {
            1 => Ok((text.clone(), text.replacen(&self.old, &self.new, 1))),
            n => Err(format!("{}: the text stands {n} times in {}", self.name, self.file)),
        }
    }
}

/// Copies the files under version control. Unchanged files keep their modification time, so that cargo rebuilds little.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), String> {
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("cannot run git: {error}"))?;
    for file in String::from_utf8_lossy(&listed.stdout).lines() {
        let (from, to) = (root.join(file), copy.join(file));
        let Ok(text) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|old| old == text) {
            continue;
        }
        let folder = to.parent().expect("a file is in a folder");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&to, text))
            .map_err(|error| format!("cannot write {}: {error}", to.display()))?;
    }
    Ok(())
}

struct Bench {
    copy: PathBuf,
    /// Tests that are known to pass with nothing damaged.
    passing: HashSet<String>,
}

/// What has noticed a damage.
struct Caught {
    how: String,
    /// The arguments of `cargo test`, if it was a test.
    test: Option<String>,
}

impl Bench {
    fn cargo(&self, line: &str) -> Command {
        let mut command = Command::new("cargo");
        command.args(line.split(' ')).current_dir(&self.copy);
        command.env("CARGO_TARGET_DIR", self.copy.join("target")).env("RUST_BACKTRACE", "0");
        // Debug information would slow down the build, which is repeated for each damage.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn build(&self, line: &str) -> Result<(), String> {
        let output = self.cargo(line).stderr(Stdio::piped()).output();
        let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("it does not build:\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn try_damage(&mut self, damage: &Damage) -> Result<Option<String>, String> {
        let path = self.copy.join(&damage.file);
        let (whole, damaged) = damage.damaged(&self.copy)?;
        write(&path, &damaged)?;
        let result = self.look(damage.noticed_by.as_deref());
        write(&path, &whole)?;
        let result = match result {
            Ok(Some(Caught { how, test: Some(test) })) => self.passes(test).map(|()| Some(how)),
            Ok(caught) => Ok(caught.map(|caught| caught.how)),
            Err(message) => Err(message),
        };
        result.map_err(|message| format!("{}: {message}", damage.name))
    }

    /// Checks, once for each test, that it passes with nothing damaged.
    fn passes(&mut self, test: String) -> Result<(), String> {
        if !self.passing.contains(&test) && self.failing(&test, TESTS_END)?.is_some() {
            return Err(format!("`{test}` fails with nothing damaged"));
        }
        self.passing.insert(test);
        Ok(())
    }

    fn look(&self, noticed_by: Option<&str>) -> Result<Option<Caught>, String> {
        let by = |test: &str, how| Some(Caught { how, test: Some(test.to_string()) });
        if let Some(tests) = noticed_by {
            if self.build(&format!("test --quiet --no-run {tests}")).is_err() {
                self.build(LIBRARY)?;
                return Ok(by(tests, format!("a test of `{tests}` does not build")));
            }
            let start = Instant::now();
            if self.failing(tests, MADE_END)?.is_some() {
                let seconds = start.elapsed().as_secs_f32();
                return Ok(by(tests, format!("a test of `{tests}` fails, after {seconds:.1} s")));
            }
        }
        self.build(FUZZER)?;
        let start = Instant::now();
        let after = |how: String| format!("{how}, after {:.1} s", start.elapsed().as_secs_f32());
        for (seconds, packages) in [FIRST_SECONDS, SECONDS].into_iter().zip(TESTS) {
            if let Some(how) = self.fuzz(&["--seconds", &seconds.to_string()])? {
                return Ok(Some(Caught { how: after(format!("the fuzzer {how}")), test: None }));
            }
            if let Some(which) = self.failing(&format!("{packages} --tests"), TESTS_END)? {
                return Ok(by(&which, after(format!("a test fails ({which})"))));
            }
        }
        Ok(None)
    }

    /// Runs tests. Returns which one fails or does not end in time, if one does: as cargo names it, so that the list can.
    fn failing(&self, tests: &str, limit: Duration) -> Result<Option<String>, String> {
        let ended = command::end_within(self.cargo(&format!("test --quiet {tests}")), limit);
        let ended = ended.map_err(|error| format!("cannot run cargo: {error}"))?;
        let Some(Output { status, stderr, .. }) = ended else { return Ok(Some(tests.to_string())) };
        let said = String::from_utf8_lossy(&stderr);
        let named =
            said.lines().find_map(|line| Some(line.split_once("to rerun pass `")?.1.trim_end_matches('`')));
        Ok((!status.success()).then(|| named.unwrap_or(tests).to_string()))
    }

    /// Runs the fuzzer. Returns how it fails, if it does.
    fn fuzz(&self, arguments: &[&str]) -> Result<Option<String>, String> {
        let mut command = Command::new(self.copy.join("target/debug/fuzz"));
        command.args(["--failures", "1"]).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot run the fuzzer: {error}"))?;
        let asked = arguments.iter().skip_while(|word| **word != "--seconds").nth(1);
        let seconds = asked.and_then(|seconds| seconds.parse().ok()).unwrap_or(SECONDS);
        let limit = Instant::now() + Duration::from_secs(seconds) + GRACE;
        loop {
            let status = child.try_wait().map_err(|error| format!("cannot wait for the fuzzer: {error}"))?;
            match status {
                Some(status) if status.success() => return Ok(None),
                Some(status) => return Ok(Some(describe(status))),
                None if Instant::now() > limit => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(Some("does not end".into()));
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(1) => "finds a difference or a verifier's complaint".into(),
        Some(_) => "panics".into(),
        None => "crashes".into(),
    }
}
