//! The command line: interrupts, and what it says of a script that has run.
//!
//! In: scripts, and signals at a time when they are known to run. Out: what the command prints, and its exit code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TIERS: [&str; 5] = ["interpreter-in-rust", "interpreter", "baseline", "optimizer", "climbing"];

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// The command in a folder where a script has this text.
fn command(script: &str, text: &str) -> Command {
    let folder = folder();
    fs::write(folder.join(script), text).expect("the script can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_azulejo-lua"));
    command.current_dir(folder);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command whose script says `ready`, and interrupts it then.
#[cfg(unix)]
fn interrupted(mut command: Command, input: &str, times: usize) -> Output {
    use std::io::{BufRead, BufReader, Read, Write};

    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    stdin.write_all(input.as_bytes()).expect("the script reads");
    let mut stdout = BufReader::new(child.stdout.take().expect("it was asked for"));
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(stdout.read_line(&mut line).expect("it is text") > 0, "the script ends too early");
    }
    for _ in 0..times {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("there is `kill`").success());
    }
    // A script that waits for input has none.
    if times == 1 {
        drop(stdin);
    }
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).expect("it is read");
    let mut output = child.wait_with_output().expect("it ends");
    output.stdout = rest;
    output
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_a_script_and_says_where_it_was() {
    let script = "local function spin(n)\n  while true do\n    n = n + 1\n  end\nend\n\
                  print('ready') io.stdout:flush()\nio.write('partial')\nxpcall(function() spin(1) end, print)\nprint('no')\n";
    for tier in TIERS {
        let mut command = command(&format!("spin-{tier}.lua"), script);
        command.args(["--interruptible", "--tier", tier, &format!("spin-{tier}.lua")]);
        let output = interrupted(command, "", 1);
        // C's Lua gives this code.
        assert_eq!(output.status.code(), Some(1), "{tier}");
        assert_eq!(text(&output.stdout), "partial", "{tier}");
        let said = text(&output.stderr);
        let start = format!("azulejo-lua: spin-{tier}.lua:3: interrupted!\nstack traceback:\n");
        let other = start.replace(":3:", ":2:");
        assert!(said.starts_with(&start) || said.starts_with(&other), "{tier}: {said}");
        let behind =
            format!(" in spin (spin-{tier}.lua:1)\n\tspin-{tier}.lua:8: in function (spin-{tier}.lua:8)\n");
        assert!(said.contains(&behind), "{tier}: {said}");
        assert!(said.ends_with(&format!("in main chunk (spin-{tier}.lua)\n")), "{tier}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_a_script_that_waits() {
    use std::os::unix::process::ExitStatusExt;

    let mut command = command("wait.lua", "print('ready') io.stdout:flush() io.read()");
    command.args(["--interruptible", "wait.lua"]);
    let output = interrupted(command, "", 2);
    assert_eq!(output.status.signal(), Some(2), "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_script_at_once_if_nobody_has_asked_for_more() {
    use std::os::unix::process::ExitStatusExt;

    let mut command = command("plain.lua", "print('ready') io.stdout:flush() while true do end");
    command.args(["plain.lua"]);
    let output = interrupted(command, "", 1);
    assert_eq!((output.status.signal(), text(&output.stderr)), (Some(2), String::new()));
}

#[cfg(unix)]
#[test]
fn an_interrupt_leads_back_to_the_prompt() {
    let mut command = command("nothing.lua", "");
    command.arg("-i");
    let lines = "_PROMPT = '' x = 41\nprint('ready') io.stdout:flush() while true do end\nx = x + 1\n=x\n";
    let output = interrupted(command, lines, 1);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "42\n\n".to_string()));
    let said = text(&output.stderr);
    assert!(said.contains("azulejo-lua: stdin:1: interrupted!\nstack traceback:\n"), "{said}");
}

#[test]
fn statistics_say_what_the_compilers_and_the_collector_did() {
    let script = "local t = {} for i = 1, 200000 do t[i % 100] = { i } end";
    let mut command = command("garbage.lua", script);
    let output = command.args(["--stats", "garbage.lua"]).stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success());
    let said = text(&output.stderr);
    let row = |name: &str| -> Vec<String> {
        let line = said.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("there is no {name}: {said}"));
        line[name.len()..].split_whitespace().map(String::from).collect()
    };
    let phases =
        ["reading source", "making bytecode", "making machine code", "collecting garbage", "running"];
    let percent: f64 = phases.iter().map(|name| row(name)[1].parse::<f64>().expect("a number")).sum();
    assert!((99.0..101.0).contains(&percent), "{said}");
    assert_eq!(row("all")[1], "100.0");
    let count = |name: &str, at: usize| row(name)[at].parse::<u64>().expect("a number");
    assert!(count("collector", 0) > 10 && count("collector", 2) > 1, "{said}");
    assert!(count("heap", 0) > 10_000 && count("heap", 0) <= count("heap", 4), "{said}");
    assert!(said.contains("functions  "), "{said}");
}
