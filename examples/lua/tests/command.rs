//! The command line: interrupts, and what it says of a script that has run.
//!
//! In: scripts, and signals at a time when they are known to run. Out: what the command prints, and its exit code.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Output;
use std::process::{Command, Stdio};

const TIERS: [&str; 5] = ["interpreter-in-rust", "interpreter", "baseline", "optimizer", "climbing"];

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// The command, which leaves nothing in the user's own folders.
fn ours() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_azulejo-lua"));
    command.env("AZULEJO_LUA_CACHE", folder().join("cache"));
    command
}

/// The command in a folder where a script has this text.
fn command(script: &str, text: &str) -> Command {
    let folder = folder();
    fs::write(folder.join(script), text).expect("the script can be written");
    let mut command = ours();
    command.current_dir(folder);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command whose script says `ready`, and interrupts it then.
#[cfg(unix)]
fn interrupted(mut command: Command, input: &str, times: usize) -> Output {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::process::CommandExt;

    // Whoever runs the tests in the background may have them ignore interrupts, and then their children would.
    let obey = || {
        // SAFETY: the default disposition may be set at any time.
        let before = unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        if before == libc::SIG_ERR { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: `signal` may be called between `fork` and `exec`.
    unsafe { command.pre_exec(obey) };
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
fn a_script_ends_when_nobody_reads_what_it_writes() {
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;

    for tier in TIERS {
        let mut command = command("endless.lua", "for i = 1, 1e7 do print(i) end");
        let mut child =
            command.args(["--tier", tier, "endless.lua"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut stdout = child.stdout.take().expect("it was asked for");
        let mut first = [0; 4];
        stdout.read_exact(&mut first).expect("it writes");
        drop(stdout);
        assert_eq!(&first, b"1\n2\n", "{tier}");
        assert_eq!(child.wait().expect("it ends").signal(), Some(libc::SIGPIPE), "{tier}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_a_script_and_says_where_it_was() {
    let script = "local function spin(n)
  while true do
    n = n + 1 if n == 1000 then print('ready') io.stdout:flush() io.write('partial') end
  end
end
xpcall(function() spin(1) end, print)
print('no')
";
    for tier in TIERS {
        let name = format!("spin-{tier}.lua");
        let mut command = command(&name, script);
        command.args(["--interruptible", "--tier", tier, &name]);
        let output = interrupted(command, "", 1);
        // C's Lua gives this code.
        assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(1), "partial"), "{tier}");
        let said = text(&output.stderr);
        // The loop looks at its condition or at its end.
        let line = if said.contains(":2: interrupted!") { 2 } else { 3 };
        let traceback = format!(
            "azulejo-lua: {name}:{line}: interrupted!\nstack traceback:\n\t{name}:{line}: in spin ({name}:1)\n\
             \t{name}:6: in function ({name}:6)\n\t{name}:6: in main chunk ({name})\n"
        );
        assert_eq!(said, traceback, "{tier}");
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
    assert!(said.contains("\nstdin:1: interrupted!\nstack traceback:\n"), "{said}");
}

#[test]
fn lines_of_a_pipe_are_answered_as_by_the_reference() {
    let typed = "x = 20\n=x + 1, nil\nfor i = 1, 2 do\nprint(i)\nend\nreturn 'a', nil, 3 == 3 or nil\nx x\nerror('wrong', 0)\n\
                 error({})\nerror()\n= \n= =\n_PROMPT, _PROMPT2 = 'ask ', 5\ndo\nend\n_PROMPT, _PROMPT2 = nil\n=\"a\\\nb\"\n[[ long\n\
                 =string]]\nlocal y = 1\n=y\n=(function() end)()\nio.write('no end')\nprint = nil\n=5\n=(";
    let answers = |mut command: Command| {
        command
            .arg("-i")
            .current_dir(folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("it is there").write_all(typed.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        // The first line says which Lua this is.
        let said: Vec<String> = text(&output.stderr).lines().skip(1).map(str::to_string).collect();
        (output.status.code(), text(&output.stdout), said)
    };
    let found = answers(ours());
    assert!(found.1.starts_with("> > 21\tnil\n> >> >> 1\n2\n> "), "{}", found.1);
    if Command::new("lua5.1").arg("-v").output().is_err() {
        eprintln!("`lua5.1` is not installed: nothing is compared");
        return;
    }
    let (code, printed, said) = answers(Command::new("lua5.1"));
    // One with the library `readline` shows each line behind the prompt.
    let (mut rest, mut answered) = (&printed[..], String::new());
    for line in typed.lines() {
        let (before, behind) = rest.split_once(&format!("{line}\n")).unwrap_or(("", rest));
        answered.push_str(before);
        rest = behind;
    }
    assert_eq!(found, (code, answered + rest, said));
}

#[test]
fn lines_for_debug_are_answered_as_by_the_reference() {
    // What is thrown is a text: C's Lua does not survive anything else. `contin` and ` cont` are statements like others.
    let typed = "print('here', debug.traceback('trace', 1))\nx = 5 print(x, ...)\nerror('oops')\nerror('bare', 0)\nerror(12)\n\
                 local y = = 2\nreturn 1\nlocal z = 1\nprint(z)\n\n-- nothing\nlocal a = nil + 1\n\
                 print(debug.getinfo(1, 'S').source, debug.getinfo(1, 'l').currentline, debug.getinfo(2, 'n').name)\n\
                 print(pcall(coroutine.yield, 1))\nfor i = 1, 2 do\nprint(i) end\n\
                 print(pcall(setfenv, 1, {}))\nsetfenv(1, {print = print}) print(x)\nprint(x)\n\
                 debug.debug()\nprint('deeper')\ncont\nprint(io.read())\na line\ncontin\n cont\ncont\nthe script reads this\n\
                 x = 6\ncont\nsetfenv(0, { print = print, io = io })\nprint(x)\ncont\nx = 7";
    let script = "print('before', select('#', debug.debug()))
        print(x, io.read('*l'))
        print(pcall(debug.debug, 1, 2))
        print(x)
        print(coroutine.wrap(function() debug.debug() print(x) return 'end' end)())
        debug.debug()
        print(x, io.read('*a'))";
    let answers = |mut command: Command| {
        command.arg("debug.lua").current_dir(folder());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("it is there").write_all(typed.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for tier in TIERS {
        let mut own = command("debug.lua", script);
        own.args(["--tier", tier]);
        let found = answers(own);
        assert!(found.1.contains("\nbefore\t0\n"), "{}", found.1);
        if Command::new("lua5.1").arg("-v").output().is_err() {
            eprintln!("`lua5.1` is not installed: nothing is compared");
            continue;
        }
        let (code, printed, said) = answers(Command::new("lua5.1"));
        assert_eq!(found, (code, printed, said.replace("lua5.1:", "azulejo-lua:")), "{tier}");
    }
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
    assert!(said.contains("\nbeside it, optimizing "), "{said}");
    let output =
        self::command("garbage.lua", script).args(["--foreground", "--stats", "garbage.lua"]).output();
    let output = output.expect("it runs");
    assert!(output.status.success());
    assert!(!text(&output.stderr).contains("beside it"), "{}", text(&output.stderr));
}

/// Runs a script with a profile; gives what was said, and the folded stacks.
fn profiled(script: &str, text_of_script: &str, tier: &str) -> (String, Vec<(Vec<String>, u64)>) {
    let mut command = command(script, text_of_script);
    let stacks = format!("{script}.{tier}.folded");
    command.args(["--tier", tier, &format!("--profile={stacks}"), script]);
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{tier}: {said}");
    let stacks = fs::read_to_string(folder().join(stacks)).expect("the stacks are written");
    let stack = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').expect("there is a count");
        (stack.split(';').map(String::from).collect(), count.parse().expect("it is a number"))
    };
    (said, stacks.lines().map(stack).collect())
}

#[test]
fn a_profile_finds_functions_and_lines_in_every_tier() {
    let script = "local function hot(n)\n  local s = 0\n  for i = 1, n do s = s + i % 7 end\n  return s\nend\n\
                  local cold = function() return hot(10) end\n\
                  local function outer()\n  local stop = os.clock() + 0.15\n\
                  while os.clock() < stop do hot(50000) cold() end\nend\n\
                  coroutine.wrap(function() outer() end)()\npcall(outer)\n";
    for tier in TIERS {
        let (said, stacks) = profiled("hot.lua", script, tier);
        let all: u64 = stacks.iter().map(|(_, count)| count).sum();
        assert!(all >= 50, "{tier}: {said}");
        assert!(said.starts_with(&format!("profile    {all} samples, 1ms each\n")), "{tier}: {said}");
        let hot = |stack: &[String]| stack.len() > 2 && stack[stack.len() - 2] == "hot (hot.lua:1)";
        let in_hot: u64 = stacks.iter().filter(|(stack, _)| hot(stack)).map(|(_, count)| count).sum();
        assert!(in_hot * 3 > all, "{tier}: {said}");
        for (stack, _) in &stacks {
            assert!(
                stack[0] == "main chunk (hot.lua)"
                    && stack.last().is_some_and(|line| line.starts_with("hot.lua:"))
            );
        }
        // The table has the same: the hottest function first, and the source of lines.
        let rows: Vec<&str> = said.lines().filter(|line| line.ends_with("hot (hot.lua:1)")).collect();
        let itself = rows.first().and_then(|row| row.split_whitespace().next()).map(str::parse::<u64>);
        assert_eq!(itself, Some(Ok(in_hot)), "{tier}: {said}");
        assert!(said.contains("hot.lua:3  for i = 1, n do s = s + i % 7 end\n"), "{tier}: {said}");
        let ways: [&[&str]; 2] = [
            &["main chunk (hot.lua)", "function (hot.lua:11)", "outer (hot.lua:7)", "hot (hot.lua:1)"],
            &["main chunk (hot.lua)", "outer (hot.lua:7)", "hot (hot.lua:1)"],
        ];
        for way in ways {
            assert!(stacks.iter().any(|(stack, _)| starts_with(stack, way)), "{tier}: {way:?}: {stacks:?}");
        }
    }
}

fn starts_with(stack: &[String], start: &[&str]) -> bool {
    stack.len() > start.len() && stack.iter().zip(start).all(|(a, b)| a == b)
}

/// Calls with different numbers of arguments run different forms of a function, which people know as one.
#[test]
fn a_vararg_function_is_one_in_a_profile() {
    let script = "local function sum(...)\n  local s = 0\n  for k = 1, 2000 do s = s + select('#', ...) end\n  return s\nend\n\
                  local stop = os.clock() + 0.15\n\
                  while os.clock() < stop do sum() sum(1) sum(1, 2) sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) end\n";
    for tier in TIERS {
        let (said, _) = profiled("forms.lua", script, tier);
        let rows = said.lines().filter(|line| line.ends_with("sum (forms.lua:1)")).count();
        assert_eq!(rows, 1, "{tier}: {said}");
    }
}

#[test]
fn time_in_functions_of_rust_is_that_of_the_line_that_calls_them() {
    let script =
        "local t = {}\nfor i = 1, 200 do\n  t[i] = ('x'):rep(100000):gsub('x', 'yy')\nend\nlocal n = #t\n";
    let (said, stacks) = profiled("native.lua", script, "climbing");
    let all: u64 = stacks.iter().map(|(_, count)| count).sum();
    let at = |line: &str| -> u64 {
        let ends = |stack: &&(Vec<String>, u64)| stack.0.last().is_some_and(|last| last == line);
        stacks.iter().filter(ends).map(|(_, count)| count).sum()
    };
    assert!(all >= 20 && at("native.lua:3") * 10 > all * 8, "{said}");
}

#[test]
fn a_script_does_the_same_while_it_is_profiled() {
    // Calls, results and jumps of all kinds, with samples around them.
    let script = "local log = {}\nlocal function say(...) log[#log + 1] = table.concat({ ... }, ' ') return ... end\n\
        local function many(...) return select('#', ...), ... end\n\
        for i = 1, 300 do\n\
          local a, b, c = many(say(i, i + 1))\n  say(a, b, c, (many()))\n\
          local t = { many(say(i)) }\n  say(#t, many(many(3)))\n\
          local n = i % 5\n  while n > 0 do n = n - 1 if n == 2 then break end end\n  repeat n = n + 1 until n >= 3\n\
          for k, v in pairs({ i, i + 1 }) do say(k, v) end\n  for k = 10, 1, -3 do n = n + k end\n\
          local ok, why = pcall(function() if i % 3 == 0 then error('three', 0) end return say('fine', i) end)\n\
          say(n, tostring(ok), why)\n  local co = coroutine.wrap(function(x) say(x, coroutine.yield(x)) return x end)\n\
          say(co(i), co(i + 1))\n  if n > 20 and many() == 0 or #log < 0 then say('and') elseif not ok then say('not') end\nend\n\
        print(table.concat(log, '\\n'))\n";
    for tier in TIERS {
        let run = |arguments: &[&str]| {
            let mut command = command("same.lua", script);
            command.args(["--tier", tier]).args(arguments).arg("same.lua");
            let output = command.stdin(Stdio::null()).output().expect("it runs");
            assert!(output.status.success(), "{tier}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        let plain = run(&[]);
        assert!(plain.lines().count() > 3000, "{tier}");
        assert!(run(&["--profile"]) == plain, "{tier}");
    }
}

#[test]
fn a_page_shows_how_a_function_is_compiled() {
    let script = "local function add(a, b)\n  return a + b\nend\n\
                  Point = {}\nfunction Point:move(by) self.x = add(self.x, by) end\n\
                  local other = { add = function(a) return a end }\n\
                  local function count(...) return (select('#', ...)) end\n\
                  for i = 1, 10 do Point.move({ x = i }, 1) count(i) count(i, i) end\n\
                  collectgarbage() collectgarbage()\n";
    let run = |arguments: &[&str]| {
        let mut command = command("pages.lua", script);
        let output = command.args(arguments).arg("pages.lua").stdin(Stdio::null()).output().expect("it runs");
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = run(&["--explore", "Point:move", "--explore", "pages.lua:1=add.html"]);
    if azulejo::can_compile().is_err() {
        assert_eq!(code, Some(1), "{said}");
        return;
    }
    assert_eq!(
        (code, &*said),
        (Some(0), "Point:move (pages.lua:5): Point_move.html\nadd (pages.lua:1): add.html\n")
    );
    let page = |name: &str| fs::read_to_string(folder().join(name)).expect("the page is written");
    let (of_move, add) = (page("Point_move.html"), page("add.html"));
    assert!(of_move.contains("<title>Point:move (pages.lua:5)</title>") && of_move.contains("SetField"));
    assert!(add.contains("<title>add (pages.lua:1)</title>") && add.contains("== emit\n"));
    // A vararg function is shown as it is called, and is one.
    let (code, said) = run(&["--explore", "count"]);
    assert_eq!((code, &*said), (Some(0), "count (pages.lua:7): count.html\n"));
    let count = page("count.html");
    assert!(count.contains("CountValues") && !count.contains("CallWithVarargs"));
    // Who means none, or several, is told which there are.
    let (code, said) = run(&["--explore", "sub"]);
    let all =
        ["add (pages.lua:1)", "Point:move (pages.lua:5)", "add (pages.lua:6)", "main chunk (pages.lua)"];
    assert!(code == Some(1) && said.starts_with("azulejo-lua: there is no function 'sub'\n"), "{said}");
    assert!(all.iter().all(|name| said.contains(&format!("\n\t{name}\n"))), "{said}");
    let (code, said) = run(&["--explore", "add"]);
    assert_eq!(
        (code, &*said),
        (
            Some(1),
            "azulejo-lua: there are several functions 'add': say CHUNK:LINE\n\tadd (pages.lua:1)\n\tadd (pages.lua:6)\n"
        )
    );
}

/// Where a compiler cannot make what a bytecode means, the function runs in a slower tier, and nobody notices but here.
#[test]
fn all_that_programs_use_can_be_compiled() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hot");
    let mut compiled = 0;
    for tier in ["baseline", "optimizer"] {
        for program in fs::read_dir(&programs).expect("there are programs") {
            let program = program.expect("it can be read").path();
            let output = ours().args(["--stats", "--tier", tier]).arg(&program).output().expect("it runs");
            let said = text(&output.stderr);
            let is_counted = |line: &&str| line.starts_with("baseline ") || line.starts_with("optimizer");
            for line in said.lines().filter(is_counted) {
                let columns: Vec<&str> = line.split_whitespace().collect();
                let [.., made, failed, _, _, _] = columns[..] else { panic!("{line}") };
                assert_eq!(failed, "0", "{} in {tier}: {said}", program.display());
                compiled += made.parse::<u32>().expect("it is a number");
            }
        }
    }
    assert!(compiled > 100 || cfg!(not(target_arch = "x86_64")), "{compiled} functions were compiled");
}

/// Code of the environment runs before all else, and a mistake in it ends the command.
#[test]
fn the_environment_has_code_to_begin_with() {
    fs::write(folder().join("init.lua"), "begun = ...").expect("the script can be written");
    for (init, output, error) in [
        ("begun = 'in the variable'", "in the variable script\n", ""),
        ("@init.lua", "nil script\n", ""),
        ("begun =", "", "azulejo-lua: LUA_INIT:1: unexpected symbol near '<eof>'\n"),
        ("@nowhere.lua", "", "azulejo-lua: cannot open nowhere.lua: No such file or directory\n"),
    ] {
        let mut command = command("begun.lua", "print(begun, 'script')");
        let output_of = command.env("LUA_INIT", init).arg("begun.lua").output().expect("it runs");
        let said = text(&output_of.stdout).replace('\t', " ");
        assert_eq!((said.as_str(), text(&output_of.stderr).as_str()), (output, error), "{init}");
        assert_eq!(output_of.status.success(), error.is_empty(), "{init}");
    }
}

/// A script that ends the process is told of like another.
#[test]
fn a_script_that_exits_is_told_of() {
    let text_of_script = "local s = 0 for i = 1, 1e7 do s = s + i % 7 end print(s) os.exit(3)";
    let mut command = command("exits.lua", text_of_script);
    let output = command.args(["--stats", "--profile", "exits.lua"]).output().expect("it runs");
    let said = text(&output.stderr);
    assert!(said.contains("collecting garbage") && said.contains("exits.lua"), "{said}");
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(3), 1));
}

/// What a run has made the next one finds, whatever that runs; but not if it is told to save nothing.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_run_finds_what_the_one_before_has_made() {
    let cache = folder().join("some").join("cache");
    let _ = fs::remove_dir_all(&cache);
    let script = "local t = {} for i = 1, 100000 do t[i % 10] = (t[i % 10] or 0) + i end
        print(t[3], #tostring(t)) os.exit(7)";
    let run = |folder: &std::path::Path| {
        let mut command = command("cached.lua", script);
        let output = command.args(["--stats", "cached.lua"]).env("AZULEJO_LUA_CACHE", folder).output();
        let output = output.expect("it runs");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(7), "499980000\t21\n".to_string()));
        let said = text(&output.stderr);
        let number = |before: &str, behind: &str| {
            let line = said.lines().find(|line| line.starts_with(before)).unwrap_or_else(|| panic!("{said}"));
            let number = line.split(behind).next().and_then(|start| start.split_whitespace().last());
            number.and_then(|number| number.parse::<u32>().ok()).unwrap_or_else(|| panic!("{line}"))
        };
        (number("saved code", " pieces"), number("code  ", " stencils made"))
    };
    let first = run(&cache);
    assert!(first.0 == 0 && first.1 > 3, "{first:?}");
    let second = run(&cache);
    assert!(second.0 > first.1 && second.1 == 0, "{second:?}");
    let nothing = run(std::path::Path::new(""));
    assert!(nothing.0 == 0 && nothing.1 > 3, "{nothing:?}");
    // A place where nothing can be written.
    let nowhere = run(std::path::Path::new("/dev/null/cache"));
    assert!(nowhere.0 == 0 && nowhere.1 > 3, "{nowhere:?}");
    assert!(cache.join("stencils").is_file());
}

/// What the system refuses is an error, which a program may catch.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_refuses_is_an_error() {
    use std::os::unix::process::CommandExt;

    /// So much the process may have, with what it reserves for its stacks, which is more than half of it.
    const BYTES: libc::rlim_t = 800 << 20;
    const SCRIPT: &str = r#"
        local kept = { ("x"):rep(5e7), ("y"):rep(5e7) }
        local big = ("z"):rep(2e7)
        local function try(what, f, ...)
            local handled
            local function handler(message) handled = message return message end
            local ok, result = pcall(f, ...)
            print(what, ok, type(result) == "string" and #result > 100 and #result or result)
            result = nil
            collectgarbage()
            local arguments = { ... }
            xpcall(function() return f(unpack(arguments)) end, handler)
            assert(not handled, "as in C, no handler is called")
            collectgarbage()
        end
        try("..", function() local s = big while true do s = s .. s end end)
        try("...", function() return #(big .. big .. big .. big .. big .. big .. big .. big) end)
        try("rep", string.rep, big, 20)
        try("concat", table.concat, { big, big, big, big, big, big, big, big })
        try("concat with", table.concat, { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, big)
        try("format", string.format, "%s%s%s%s%s%s%s%s", big, big, big, big, big, big, big, big)
        try("gsub", string.gsub, "abcdefgh", "%w", big)
        try("gsub with captures", string.gsub, big, ".+", ("%0"):rep(9))
        try("gsub with a function", string.gsub, "abcdefgh", "%w", function() return big end)
        try("parts", function() local t = {} for i = 2, 1e9 do t[i] = big:sub(i) end end)
        try("captures", function() local t = {} for i = 2, 1e9 do t[i] = big:match("(.*)", i) end end)
        try("elements", function() local t = {} for i = 1, 1e9 do t[i] = i end end)
        try("insert", function() local t = {} for i = 1, 1e9 do table.insert(t, i) end end)
        try("keys", function() local t = {} for i = 1, 1e9 do t[i + 0.5] = i end end)
        try("backwards", function() local t = {} for i = 1e9, 1, -1 do t[i] = i end end)
        local all = {}
        for i = 1, 1000 do all[i] = "still " .. i end
        print(#table.concat(all), #big, #kept[1] + #kept[2])
    "#;
    let expected = [
        "..",
        "...",
        "rep",
        "concat",
        "concat with",
        "format",
        "gsub",
        "gsub with captures",
        "gsub with a function",
        "parts",
        "captures",
        "elements",
        "insert",
        "keys",
        "backwards",
    ];
    let expected = expected.map(|what| format!("{what}\tfalse\tnot enough memory\n")).concat();
    let expected = expected + "8893\t20000000\t100000000\n";
    // Others take long to fill a table, and do it by the same functions.
    for tier in ["interpreter", "climbing"] {
        let limited = || {
            let limit = libc::rlimit { rlim_cur: BYTES, rlim_max: BYTES };
            // SAFETY: the system reads the limit.
            match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        let mut command = command("refused.lua", SCRIPT);
        command.args(["--tier", tier, "refused.lua"]);
        // SAFETY: `setrlimit` may be called between `fork` and `exec`.
        unsafe { command.pre_exec(limited) };
        let output = command.output().expect("it starts");
        assert_eq!((text(&output.stdout), text(&output.stderr)), (expected.clone(), String::new()), "{tier}");
    }
}
