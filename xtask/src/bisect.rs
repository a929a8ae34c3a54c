//! Finds the function and the compiler step that make a command fail.
//!
//! In: a command that uses azulejo, and fails. Out: the compilation, the pass and the step at fault, and the changes that this
//! step made. The command is run repeatedly under different limits (`JIT_LIMIT`). The compiled code is correct under any limit,
//! so if one more function or step makes the command fail, that one is at fault. The command must be deterministic.

use azulejo_core::pass::limits::Limits;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: cargo xtask bisect [--timeout SECONDS] -- COMMAND [ARGUMENT …]";

/// The maximum number of lines of a difference to print.
const SHOWN: usize = 60;

/// The compilation and the steps at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Culprit {
    /// The number of the compilation, counted from 1.
    function: u64,
    /// The tier and the function's name, as in the report.
    name: String,
    /// The passes without which the failure disappears, each with the step at fault, in pipeline order. Empty if
    /// the failure remains without any optional step.
    steps: Vec<(&'static str, u64)>,
}

impl Culprit {
    /// The limits under which the command fails, and those with one step less.
    fn limits(&self) -> (String, String) {
        match self.steps[..] {
            [(pass, step), ..] => {
                let with = |step: u64| format!("functions={},{pass}={step}", self.function);
                (with(step), with(step - 1))
            }
            [] => (format!("functions={}", self.function), format!("functions={}", self.function - 1)),
        }
    }
}

/// A command, or a test's stand-in for one.
trait Subject {
    /// Runs under limits. Returns whether it succeeded, and its report of each compilation.
    fn run(&mut self, limits: &str) -> Result<(bool, String), String>;
}

/// Finds the culprit by binary search.
fn find(subject: &mut dyn Subject) -> Result<Culprit, String> {
    let (is_good, report) = subject.run("")?;
    if is_good {
        return Err("the command does not fail".into());
    }
    if !subject.run("functions=0")?.0 {
        return Err("the command also fails if nothing is compiled: the compiler is not at fault".into());
    }
    let compiled = report.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).max().unwrap_or(0);
    let function = first_bad(compiled, &mut |count| subject.run(&format!("functions={count}")))?;
    let (_, report) = subject.run(&format!("functions={function}"))?;
    let lines = || report.lines().filter_map(|line| line.strip_prefix(&format!("{function} ")));
    let name = lines().find(|line| !line.starts_with("took ")).unwrap_or("?").to_string();
    let mut culprit = Culprit { function, name, steps: Vec::new() };
    let without = Limits::PASSES.map(|pass| format!(",{pass}=0")).concat();
    if !subject.run(&format!("functions={function}{without}"))?.0 {
        return Ok(culprit);
    }
    // An error of one pass may show only through a later pass. Passes that the failure does not need are disabled.
    let mut others = String::new();
    for pass in Limits::PASSES.into_iter().rev() {
        if !subject.run(&format!("functions={function}{others},{pass}=0"))?.0 {
            write!(others, ",{pass}=0").expect("text has room");
            continue;
        }
        let taken = lines().find_map(|line| line.strip_prefix("took ")).unwrap_or("");
        let taken = taken.split(' ').find_map(|word| word.strip_prefix(pass)?.strip_prefix('='));
        let most = taken.and_then(|taken| taken.parse().ok()).unwrap_or(1 << 20);
        let step =
            first_bad(most, &mut |steps| subject.run(&format!("functions={function},{pass}={steps}")))?;
        culprit.steps.insert(0, (pass, step));
    }
    Ok(culprit)
}

/// The least limit up to `most` under which the run fails, given that it succeeds under a limit of zero.
fn first_bad(most: u64, run: &mut dyn FnMut(u64) -> Result<(bool, String), String>) -> Result<u64, String> {
    let (mut good, mut bad) = (0, most);
    if most == 0 || run(most)?.0 {
        return Err("the command does not do the same each time: it failed, and then not".into());
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match run(middle)?.0 {
            true => good = middle,
            false => bad = middle,
        }
    }
    Ok(bad)
}

/// A command line, run in the current directory.
struct Program {
    words: Vec<String>,
    timeout: Option<Duration>,
    /// The folder for reports and traces.
    folder: PathBuf,
    runs: u32,
}

impl Subject for Program {
    fn run(&mut self, limits: &str) -> Result<(bool, String), String> {
        let report = self.folder.join("report.txt");
        let _ = fs::remove_file(&report);
        let is_good =
            self.run_with(&[("JIT_LIMIT", limits), ("JIT_LIMIT_REPORT", &report.to_string_lossy())])?;
        self.runs += 1;
        println!(
            "{:4} {}",
            if is_good { "good" } else { "bad" },
            if limits.is_empty() { "no limit" } else { limits }
        );
        Ok((is_good, fs::read_to_string(&report).unwrap_or_default()))
    }
}

impl Program {
    fn run_with(&self, variables: &[(&str, &str)]) -> Result<bool, String> {
        let [program, arguments @ ..] = &self.words[..] else { return Err(USAGE.into()) };
        let mut command = Command::new(program);
        command.args(arguments).envs(variables.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot run `{program}`: {error}"))?;
        let start = Instant::now();
        loop {
            match child.try_wait().map_err(|error| format!("cannot wait for `{program}`: {error}"))? {
                Some(status) => return Ok(status.success()),
                None if self.timeout.is_some_and(|timeout| start.elapsed() > timeout) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(false);
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Writes the trace of the culprit's function under these limits to a file, and returns it.
    fn trace(&self, culprit: &Culprit, limits: &str, file: &str) -> Result<String, String> {
        let logs = self.folder.join("logs");
        let _ = fs::remove_dir_all(&logs);
        let (form, name) = culprit.name.split_once(' ').unwrap_or((&culprit.name, "*"));
        let variables = [
            ("JIT_LIMIT", limits),
            ("JIT_LIMIT_REPORT", ""),
            ("JIT_LOG", "all"),
            ("JIT_LOG_FN", &name.replace('*', "?")),
            ("JIT_LOG_DIR", &logs.to_string_lossy()),
        ];
        self.run_with(&variables)?;
        let entries = fs::read_dir(&logs).map_err(|error| format!("nothing was logged: {error}"))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.to_string_lossy().ends_with(&format!("-{form}.txt")));
        // The last compilation of this kind.
        let last = files.iter().max().ok_or("nothing was logged")?;
        let trace = fs::read_to_string(last).map_err(|error| format!("cannot read a log: {error}"))?;
        fs::write(self.folder.join(file), &trace).map_err(|error| format!("cannot write {file}: {error}"))?;
        Ok(trace)
    }
}

/// The first stage in which two traces differ, and the difference.
fn difference(good: &str, bad: &str) -> Option<(String, String)> {
    let stages = |trace: &str| -> Vec<String> { trace.split("\n== ").skip(1).map(str::to_string).collect() };
    let (good, bad) = (stages(good), stages(bad));
    let (good, bad) = std::iter::zip(&good, &bad).find(|(good, bad)| good != bad)?;
    let (name, bad) = bad.split_once('\n')?;
    let (_, good) = good.split_once('\n')?;
    let (good, bad): (Vec<&str>, Vec<&str>) = (good.lines().collect(), bad.lines().collect());
    let same_start = std::iter::zip(&good, &bad).take_while(|(good, bad)| good == bad).count();
    let (good, bad) = (&good[same_start..], &bad[same_start..]);
    let same_end =
        std::iter::zip(good.iter().rev(), bad.iter().rev()).take_while(|(good, bad)| good == bad).count();
    let (good, bad) = (&good[..good.len() - same_end], &bad[..bad.len() - same_end]);
    let mut text = String::new();
    for line in good.iter().filter(|line| !bad.contains(line)).take(SHOWN / 2) {
        writeln!(text, "- {}", line.trim_end()).expect("text has room");
    }
    for line in bad.iter().filter(|line| !good.contains(line)).take(SHOWN / 2) {
        writeln!(text, "+ {}", line.trim_end()).expect("text has room");
    }
    Some((name.to_string(), text))
}

/// Finds the cause of failure of the command after `--`, and prints it.
pub(crate) fn bisect(root: &Path, mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut timeout = None;
    loop {
        match arguments.next().as_deref() {
            Some("--") => break,
            Some("--timeout") => {
                let seconds = arguments.next().and_then(|seconds| seconds.parse().ok()).ok_or(USAGE)?;
                timeout = Some(Duration::from_secs(seconds));
            }
            _ => return Err(USAGE.into()),
        }
    }
    let folder = root.join("target/bisect");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut program = Program { words: arguments.collect(), timeout, folder, runs: 0 };
    let culprit = find(&mut program)?;
    let (bad_limits, good_limits) = culprit.limits();
    println!();
    if let Some((pass, step)) = culprit.steps.first() {
        let good = program.trace(&culprit, &good_limits, "good.txt")?;
        let bad = program.trace(&culprit, &bad_limits, "bad.txt")?;
        match difference(&good, &bad) {
            Some((stage, text)) => {
                print!("what step {step} of `{pass}` changes, first seen in `{stage}`:\n{text}\n")
            }
            None => println!("what it changes is seen in no trace\n"),
        }
        println!("traces: target/bisect/good.txt target/bisect/bad.txt");
    } else {
        program.trace(&culprit, &bad_limits, "bad.txt")?;
        println!("trace: target/bisect/bad.txt");
    }
    println!("again: JIT_LIMIT={bad_limits} {}", program.words.join(" "));
    let steps: Vec<String> =
        culprit.steps.iter().map(|(pass, step)| format!("`{pass}` in step {step}")).collect();
    let by = match steps.is_empty() {
        true => {
            "no step that could be left out: a template, build, a tile of one operator, or emit".to_string()
        }
        false => format!("by {}", steps.join(" and then ")),
    };
    println!("bisect: function {} ({}), {by}; {} runs", culprit.function, culprit.name, program.runs);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in that fails if a given function is compiled with a given number of steps of a pass.
    struct Broken {
        functions: u64,
        function: u64,
        step: Option<(&'static str, u64)>,
        /// A pass without which the failure does not show either.
        also_needs: &'static str,
    }

    impl Subject for Broken {
        fn run(&mut self, limits: &str) -> Result<(bool, String), String> {
            let limit = |name: &str| {
                let of = limits.split(',').find_map(|limit| limit.strip_prefix(name)?.strip_prefix('='));
                of.map_or(u64::MAX, |number| number.parse().expect("it is a number"))
            };
            let compiled = self.functions.min(limit("functions"));
            let mut report = String::new();
            for number in 1..=compiled {
                writeln!(report, "{number} optimizer f{number}\n{number} took rewrite=1000 tile=70")
                    .expect("it has room");
            }
            let is_last = compiled == limit("functions") || limit("functions") == u64::MAX;
            let steps =
                |pass: &str| if compiled == self.function && is_last { limit(pass) } else { u64::MAX };
            let goes_wrong = self.step.is_none_or(|(pass, step)| steps(pass) >= step);
            let is_seen = self.also_needs.is_empty() || steps(self.also_needs) > 0;
            Ok((compiled < self.function || !goes_wrong || !is_seen, report))
        }
    }

    #[test]
    fn the_least_function_and_step_are_found() {
        for step in
            [None, Some(("rewrite", 1)), Some(("rewrite", 613)), Some(("tile", 70)), Some(("place", 5000))]
        {
            for function in [1, 2, 77, 100] {
                for also_needs in ["", "allocate"] {
                    let found = find(&mut Broken { functions: 100, function, step, also_needs });
                    let found = found.expect("it fails");
                    assert_eq!((found.function, found.name), (function, format!("optimizer f{function}")));
                    let also = (!also_needs.is_empty()).then_some((also_needs, 1));
                    assert_eq!(found.steps, step.into_iter().chain(also).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn what_is_not_the_compilers_fault_is_told() {
        let mut good = Broken { functions: 3, function: 4, step: None, also_needs: "" };
        assert_eq!(find(&mut good), Err("the command does not fail".into()));
        let mut always = Broken { functions: 3, function: 0, step: None, also_needs: "" };
        let error = find(&mut always).expect_err("it fails without a compiler");
        assert!(error.contains("the compiler is not at fault"), "{error}");
    }

    #[test]
    fn a_difference_is_the_first_stages() {
        let good =
            "function f\n\n== build\nb0:\n    a\n    b\n\n== rewrite\nb0:\n    c\n    d\n\n== tile\nx\n";
        let bad =
            "function f\n\n== build\nb0:\n    a\n    b\n\n== rewrite\nb0:\n    e\n    d\n\n== tile\ny\n";
        assert_eq!(difference(good, bad), Some(("rewrite".into(), "-     c\n+     e\n".into())));
        assert_eq!(difference(good, good), None);
    }
}
