//! Logs of compilations: stages by name, functions by pattern, output to files or to the standard error stream, and numbers
//! that mean the same in every stage.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]

use azulejo::Log;
use azulejo::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

#[derive(Bytecode, Clone, Copy, Debug)]
enum Op {
    Load { dst: Out<i64>, value: Imm<i64> },
    Add { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Mul { dst: Out<i64>, a: In<i64>, b: In<i64> },
    Halve { dst: Out<i64>, a: In<i64> },
    JumpLess { a: In<i64>, b: In<i64>, to: Label },
    Return { a: In<i64> },
}

template! {
    Op::Load     => $value
    Op::Add      => (add $a $b)
    Op::Mul      => (mul $a $b)
    Op::Halve    => (call halve (arglist (carg $a i64)) i64)
    Op::JumpLess => (when (lt $a $b) (branch $to))
    Op::Return   => (return $a)
}

extern "C" fn halve(a: i64) -> i64 {
    a / 2
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// The sum of `k * halve(k * k)` over all k below register 0.
fn program() -> Vec<Op> {
    vec![
        Op::Load { dst: r(1), value: Imm(0) },
        Op::Load { dst: r(2), value: Imm(0) },
        Op::Load { dst: r(4), value: Imm(1) },
        Op::Mul { dst: r(3), a: r(1), b: r(1) },
        Op::Halve { dst: r(3), a: r(3) },
        Op::Mul { dst: r(3), a: r(3), b: r(1) },
        Op::Add { dst: r(2), a: r(2), b: r(3) },
        Op::Add { dst: r(1), a: r(1), b: r(4) },
        Op::JumpLess { a: r(1), b: r(0), to: Label(3) },
        Op::Return { a: r(2) },
    ]
}

/// A directory that no other test uses.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("azulejo-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// The names and contents of the files in a directory, which is removed.
fn files(directory: &PathBuf) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory).expect("the directory was made");
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).expect("it is text");
        (entry.file_name().into_string().expect("it is plain"), text)
    };
    let mut files: Vec<_> = entries.map(|entry| file(entry.expect("it is there"))).collect();
    files.sort();
    std::fs::remove_dir_all(directory).expect("nobody else has it");
    files
}

fn stages(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("== ")).collect()
}

/// The lines of a stage.
fn stage<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let from = text.lines().skip_while(|line| *line != format!("== {name}")).skip(1);
    from.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn a_log_has_what_was_asked_for_and_nothing_else() {
    let directory = directory("asked");
    let log = Log::of("tile,emit").expect("there are such stages").functions("s*m").directory(&directory);
    let engine: Engine<Op> = Engine::<Op>::builder().log(log).build();
    for name in ["sum", "product"] {
        let function = engine.define(name, program(), 5).expect("it is right");
        engine.compile_in(function, Tier::Baseline).expect("it compiles");
        engine.compile(function).expect("it compiles");
    }
    let files = files(&directory);
    let kinds: Vec<&str> =
        files.iter().map(|(name, _)| name.split_once('-').expect("it has a number").1).collect();
    assert_eq!(kinds, ["sum-baseline.txt", "sum-optimizer.txt"]);
    let (baseline, optimizer) = (&files[0].1, &files[1].1);
    assert!(baseline.starts_with("function sum\ntier baseline\n"), "{baseline}");
    assert_eq!(stages(baseline), ["emit"]);
    assert_eq!(stages(optimizer), ["tile", "emit"]);
    // Baseline code names the bytecode of each instruction.
    let said: BTreeSet<&str> =
        stage(baseline, "emit").iter().filter_map(|line| Some(line.rsplit_once("; @")?.1)).collect();
    assert_eq!(
        said,
        (0..program().len())
            .map(|at| at.to_string())
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect()
    );
}

#[test]
fn graphs_are_drawn_beside_a_log() {
    let directory = directory("drawn");
    let log = Log::of("build,rewrite").expect("there are such stages").directory(&directory);
    let engine: Engine<Op> = Engine::<Op>::builder().log(log).build();
    let function = engine.define("a/strange \"name\"", program(), 5).expect("it is right");
    engine.compile(function).expect("it compiles");
    let files = files(&directory);
    let kinds: Vec<&str> =
        files.iter().map(|(name, _)| name.split_once('-').expect("it has a number").1).collect();
    let name = "a_strange__name_-optimizer";
    let expected =
        [".0-build.dot", ".1-rewrite.dot", ".2-rewrite.dot", ".txt"].map(|rest| format!("{name}{rest}"));
    assert_eq!(kinds, expected);
    // Each block of the text is a box in the drawing with the same lines, and each edge between blocks is an arrow.
    let text = &files[3].1;
    let drawing = &files[0].1;
    for line in stage(text, "build") {
        let line = line.split("  #").next().expect("a line has a start");
        match line.strip_prefix("    ") {
            Some(node) => {
                assert!(drawing.contains(&format!("{}\\l", node.replace('"', "\\\""))), "{node}\n{drawing}")
            }
            None => {
                let (block, from) =
                    line.trim_end_matches(':').split_once(" <- ").unwrap_or((line.trim_end_matches(':'), ""));
                assert!(drawing.contains(&format!("  {block} [label=")), "{block}\n{drawing}");
                for from in from.split_whitespace() {
                    let (from, way) = from.split_once('.').unwrap_or((from, "0"));
                    assert!(
                        drawing.contains(&format!("  {from} -> {block} [taillabel=\"{way}\"")),
                        "{line}\n{drawing}"
                    );
                }
            }
        }
    }
}

/// Everything that a stage names exists in an earlier stage.
#[test]
fn numbers_mean_the_same_in_every_stage() {
    let engine = Engine::<Op>::new();
    let function = engine.define("sum", program(), 5).expect("it is right");
    let text = engine.stages(function).expect("it compiles");
    let names = "bytecode build represent rewrite forward rewrite dead place tile live allocate emit";
    assert_eq!(stages(&text).join(" "), names);
    let words = |line: &'static str| line.split([' ', '=']).filter(|word| !word.is_empty());
    let text: &'static str = text.leak();
    let bytecodes = stage(text, "bytecode").len();

    // Nodes are defined in the stage that uses them, and bytecodes exist.
    for graph in ["build", "represent", "rewrite", "forward", "dead", "place"] {
        let plain = |line: &'static str| line.split('#').next().expect("a line has a start");
        let lines: Vec<&str> = stage(text, graph).into_iter().map(plain).collect();
        let defined: BTreeSet<&str> =
            lines.iter().filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
        let is_node =
            |word: &&str| word.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
        for line in &lines {
            for node in words(line).filter(is_node) {
                assert!(defined.contains(node), "{graph}: {node} in {line}");
            }
            for at in words(line).filter_map(|word| word.strip_prefix('@')) {
                assert!(at.parse::<usize>().is_ok_and(|at| at < bytecodes), "{line}");
            }
        }
    }
    // Every node that `dead` renumbers exists in the stage before.
    let before = stage(&text[text.rfind("== rewrite").expect("there is one")..], "rewrite").join("\n");
    for line in stage(text, "dead").iter().filter(|line| line.contains(" = ")) {
        let (now, was) = line.split_once("  # was ").expect("each node has another number");
        let operator =
            now.split_once(" = ").expect("it has a value").1.split(' ').next().expect("it has an operator");
        assert!(before.contains(&format!("    {was} = {operator}")), "{line}\n{before}");
    }
    // Instructions are in the order of their numbers, and live ranges and machine code refer to existing ones.
    let numbered: Vec<&str> = stage(text, "tile")
        .into_iter()
        .filter(|line| line.starts_with("    ") && !line.contains("->"))
        .collect();
    for (at, line) in numbered.iter().enumerate() {
        assert!(line.trim().starts_with(&format!("{at}: ")), "{line}");
    }
    for line in stage(text, "live") {
        let (registers, segments) = line.split_once(':').expect("it has a colon");
        assert!(registers.ends_with(" int"), "{line}");
        for segment in segments.split_whitespace().take_while(|word| word.contains("..")) {
            let (start, end) = segment.split_once("..").expect("it has two ends");
            let number =
                |position: &str| position[..position.len() - 1].parse::<usize>().expect("it has a number");
            assert!(number(start) <= number(end) && number(end) <= numbered.len(), "{line}");
        }
    }
    let mut bytes = Vec::new();
    for line in stage(text, "emit") {
        let at = u32::from_str_radix(line[..6].trim(), 16).expect("it starts with an offset");
        assert_eq!(at as usize, bytes.len(), "{line}");
        let hex = line[8..]
            .split("   ")
            .next()
            .expect("it has bytes")
            .split(' ')
            .take_while(|word| word.len() == 2);
        bytes.extend(hex.map_while(|byte| u8::from_str_radix(byte, 16).ok()));
        let note = line.rsplit_once(" ; ").expect("it says whose it is").1;
        if let Some((inst, rest)) = note.split_once(' ') {
            let tile = rest.split(' ').next().expect("it has a tile");
            let of = numbered[inst.parse::<usize>().expect("it is a number")];
            assert!(tile == "move" || of.trim().starts_with(&format!("{inst}: {tile}.")), "{line}: {of}");
        } else {
            assert_eq!(note, "frame", "{line}");
        }
    }
    engine.compile(function).expect("it compiles");
    // The displacements of calls are filled in later, so only the lengths are compared.
    assert_eq!(bytes.len(), engine.code_len(function));
}

/// [`the_environment_asks_for_logs`] also runs this test, in a process of its own.
#[test]
fn compiles_two_functions() {
    let engine = Engine::<Op>::builder().background(true).thresholds(2, 4).build();
    for name in ["sum", "other"] {
        let function = engine.define(name, program(), 5).expect("it is right");
        assert_eq!(engine.call::<_, i64>(function, &mut (), (4i64,)), Ok(16));
        engine.compile(function).expect("it compiles");
    }
}

fn run(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["--exact", "compiles_two_functions", "--nocapture"]);
    let output = command.envs(variables.iter().copied()).output().expect("it starts");
    let error = String::from_utf8(output.stderr).expect("it is text");
    assert!(output.status.success(), "{error}");
    error
}

#[test]
fn the_environment_asks_for_logs() {
    let nothing = run(&[]);
    assert_eq!(nothing, "");
    let text = run(&[("JIT_LOG", "rewrite, allocate"), ("JIT_LOG_FN", "?um")]);
    assert!(text.contains("function sum\ntier optimizer\n\n== rewrite\nb0"), "{text}");
    assert!(!text.contains("function other"), "{text}");
    assert!(!text.contains("== build"), "{text}");
    let wrong = run(&[("JIT_LOG", "rewritten")]);
    assert!(
        wrong.starts_with("JIT_LOG: there is no stage `rewritten`; there are bytecode, build, "),
        "{wrong}"
    );
    let directory = directory("environment");
    let quiet = run(&[("JIT_LOG", "all"), ("JIT_LOG_DIR", directory.to_str().expect("it is text"))]);
    assert_eq!(quiet, "");
    let files = files(&directory);
    assert!(files.iter().any(|(name, _)| name.ends_with("-other-optimizer.txt")), "{files:?}");
}
