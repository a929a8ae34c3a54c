//! A C program that counts the words of files and of its input, with arguments, environment and files through WASI.

use azulejo_wasm::wasi::Wasi;
use azulejo_wasm::{Config, Error, Linker, Module, Store, Tier, Tiers, Trap};
use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;

/// The path of the program.
fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/count.wasm")
}

/// A folder with a poem, and a secret beside it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("poems/more")).expect("there is room");
    fs::write(folder.join("secret"), "42").expect("there is room");
    fs::write(folder.join("poems/roses"), "roses are red\nviolets are blue\n").expect("there is room");
    fs::write(folder.join("poems/tiles"), "tiles").expect("there is room");
    folder
}

/// A stream that writes to a shared vector.
#[derive(Clone, Default)]
struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Printed {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("it is text")
    }
}

/// Runs the program. Returns its status and what it printed.
fn run(tiers: Tiers, wasi: Wasi) -> (i32, String, String) {
    let (out, err) = (Printed::default(), Printed::default());
    let module = Module::new(&fs::read(program()).expect("it is there")).expect("it is valid");
    let mut store = Store::new(Config { tiers, ..Config::default() });
    let mut linker = Linker::new();
    linker.wasi(wasi.stdout(out.clone()).stderr(err.clone()));
    let instance = store.instantiate(&module, &linker).expect("there is all it imports");
    match instance.invoke(&mut store, "_start", &[]) {
        Err(Error::Trap(Trap::Exit(status))) => (status, out.text(), err.text()),
        other => panic!("it ended otherwise: {other:?}"),
    }
}

#[test]
fn a_program_reads_files_in_every_tier() {
    let poems = folder("library").join("poems");
    for tiers in [
        Tiers::Only(Tier::Interpreter),
        Tiers::Only(Tier::Baseline),
        Tiers::Only(Tier::Optimizer),
        Tiers::TierUp(2, 20),
    ] {
        let mut wasi =
            Wasi::new().folder(&poems, "/poems").expect("it is there").variable("TITLE", "Counted:");
        for argument in
            ["count", "/poems/roses", "/poems", "/poems/../secret", "/etc/passwd", "/poems/nothing"]
        {
            wasi = wasi.argument(argument);
        }
        let (status, out, err) = run(tiers, wasi);
        assert_eq!(out, "Counted:\n2 6 31 /poems/roses\n2 7 36 /poems\n", "{tiers:?}");
        // The first error is "not capable", the other two are "no such file".
        let refused = "/poems/../secret: error 76\n/etc/passwd: error 44\n/poems/nothing: error 44\n";
        assert_eq!((status, err.as_str()), (3, refused), "{tiers:?}");
        let wasi = Wasi::new().argument("count").stdin(&b"one two\nthree"[..]);
        assert_eq!(run(tiers, wasi), (0, "1 3 13 \n".to_string(), String::new()), "{tiers:?}");
    }
}

/// Runs the command line with an input.
fn command(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_azulejo-wasm"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it is there");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn the_command_line_runs_a_program() {
    let program = program().display().to_string();
    let output = command(&["run", &program, "--env", "TITLE=Hello"], "a b c\n");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"Hello\n1 3 6 \n"[..]));
    let poems = folder("command").join("poems").display().to_string();
    let folder = format!("{poems}::/p");
    let output = command(
        &["run", &program, "--tier", "optimizer", "--dir", &folder, "--", "/p/tiles", "--", "/p/no"],
        "",
    );
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b"0 1 5 /p/tiles\n"[..]));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "--: error 44\n/p/no: error 44\n");
    let output = command(&["run", &program, "--dir", &poems, "--", &poems], "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("2 7 36 {poems}\n"));
}

/// Writes a module in the text format to a file. Returns the path.
#[cfg(feature = "text")]
fn text(name: &str, text: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).expect("there is room");
    file.display().to_string()
}

/// Whether the command line succeeded, and what it printed.
fn said(arguments: &[&str]) -> (bool, String, String) {
    let output = command(arguments, "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn help_may_stand_anywhere() {
    let program = program().display().to_string();
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["run", "--help"],
        &["run", &program, "--tier", "--help"],
        &["run", &program, "--invoke", "run", "1", "-h", "--", "a"],
        &["spec", "--help"],
        &["nonsense", "--help"],
    ] {
        let (is_good, out, err) = said(arguments);
        assert!(is_good && err.is_empty(), "{arguments:?}: {err}");
        for word in ["--tier climbing", "--stats", "--time", "--dir FOLDER[::NAME][,MODE]", "--help"] {
            assert!(out.contains(word), "{arguments:?} says nothing of {word}");
        }
    }
    // Options after `--` are the program's.
    let (_, out, err) = said(&["run", &program, "--", "--help"]);
    assert_eq!((out.as_str(), err.as_str()), ("", "--help: error 44\n"));
}

#[cfg(feature = "text")]
#[test]
fn a_module_that_is_text_runs() {
    let add = text(
        "add.wat",
        r#"(module (func $add (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))"#,
    );
    for tier in ["climbing", "interpreter", "baseline", "optimizer"] {
        let (is_good, out, err) = said(&["run", &add, "--tier", tier, "--invoke", "add", "40", "-2"]);
        assert_eq!((is_good, out.as_str(), err.as_str()), (true, "38\n", ""), "{tier}");
    }
    let wrong = text("wrong.wat", "(module\n  (func (i32.ad)))\n");
    let (is_good, _, err) = said(&["run", &wrong]);
    assert!(!is_good && err.contains("wrong.wat:2:10") && err.contains("(i32.ad)"), "{err}");
}

#[cfg(feature = "text")]
#[test]
fn a_trap_says_where_and_a_program_runs_on_fuel() {
    let deep = text(
        "deep.wat",
        r#"(module
            (func $down (param i32) (result i32)
                (if (result i32) (i32.eqz (local.get 0)) (then (unreachable))
                    (else (i32.add (call $down (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))))
            (func $forever (export "forever") (loop (br 0)))
            (func (export "run") (param i32) (result i32) (call $down (local.get 0))))"#,
    );
    for tier in ["climbing", "interpreter", "baseline", "optimizer"] {
        let run = |value| said(&["run", &deep, "--tier", tier, "--invoke", "run", value]);
        let (is_good, _, err) = run("1");
        let expected = "run: unreachable
    in down at 0x36
    in down at 0x3d
    in run at 0x50
";
        assert!(!is_good && err.ends_with(expected), "{tier}: {err}");
        let (_, _, err) = run("100");
        assert!(err.matches("in down").count() == 64 && err.ends_with("and 38 more\n"), "{tier}: {err}");
        let fuel = ["--fuel", "100000"];
        let (is_good, _, err) =
            said(&[&["run", &deep, "--tier", tier, "--invoke", "forever"], &fuel[..]].concat());
        assert!(!is_good && err.contains("forever: all fuel is used up"), "{tier}: {err}");
    }
}

#[cfg(feature = "text")]
#[test]
fn times_and_statistics_are_told_when_asked_for() {
    let count = text(
        "counting.wat",
        r#"(module (func (export "count") (param i32) (result i32)
            (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))) (local.get 0)))"#,
    );
    let run = ["run", &count, "--invoke", "count", "1000000"];
    let (_, out, err) = said(&run);
    assert_eq!((out.as_str(), err.as_str()), ("0\n", ""));
    let (_, out, err) = said(&[&run[..], &["--stats", "--time"]].concat());
    assert_eq!(out, "0\n");
    for word in ["decoded", "linked", "ran", "1 in the optimizer's", "baseline", "compiled"] {
        assert!(err.contains(word), "nothing of {word}: {err}");
    }
    // The function tiered up, and the compile time was measured.
    let optimizer = err.lines().find(|line| line.starts_with("optimizer ")).expect("there is a row");
    assert!(optimizer.split_whitespace().nth(1) == Some("1") && !optimizer.ends_with('-'), "{optimizer}");
}

#[cfg(feature = "text")]
#[test]
fn all_imports_that_are_missing_or_wrong_are_told() {
    let needs = text(
        "needs.wat",
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func (param i32) (result i64)))
            (import "wasi_snapshot_preview1" "fd_dance" (func (param i32 f64)))
            (import "env" "memory" (memory 1 2))
            (import "env" "table" (table 1 funcref))
            (import "env" "now" (global (mut i64)))
            (import "wasi_snapshot_preview1" "fd_close" (global i32)))"#,
    );
    let (is_good, _, err) = said(&["run", &needs]);
    let module = "`wasi_snapshot_preview1`";
    let lines = [
        format!(
            "{needs}: incompatible import type of {module} `fd_write`: (func (param i32) (result i64)) is expected, and there is (func (param i32 i32 i32 i32) (result i32))"
        ),
        format!(
            "unknown import {module} `fd_dance`: (func (param i32 f64)) is expected, and {module} has no `fd_dance`"
        ),
        "unknown import `env` `memory`: (memory 1 2) is expected, and there is no `env`".into(),
        "unknown import `env` `table`: (table 1 funcref) is expected, and there is no `env`".into(),
        "unknown import `env` `now`: (global (mut i64)) is expected, and there is no `env`".into(),
        format!(
            "incompatible import type of {module} `fd_close`: (global i32) is expected, and there is (func (param i32) (result i32))"
        ),
    ];
    assert!(!is_good);
    assert_eq!(err.lines().collect::<Vec<_>>(), lines);
}

#[cfg(feature = "text")]
#[test]
fn a_program_writes_where_it_may() {
    // Creates `note` in the first folder, and writes to it. The exit status is the error number of the first failure.
    let writes = text(
        "writes.wat",
        r#"(module
            (import "wasi_snapshot_preview1" "path_open"
                (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "note") (data (i32.const 16) "hello\n") (data (i32.const 32) "\10\00\00\00\06\00\00\00")
            (func $expect (param i32) (if (local.get 0) (then (call $exit (local.get 0)))))
            (func (export "_start")
                (call $expect (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 4)
                    (i32.const 1) (i64.const 0x40) (i64.const 0) (i32.const 0) (i32.const 64)))
                (call $expect (call $write (i32.load (i32.const 64)) (i32.const 32) (i32.const 1) (i32.const 68)))))"#,
    );
    let folder = folder("written");
    let note = folder.join("note");
    let _ = fs::remove_file(&note);
    let given = folder.display().to_string();
    for mode in ["", ",read"] {
        let output = command(&["run", &writes, "--dir", &format!("{given}{mode}")], "");
        assert_eq!((output.status.code(), note.exists()), (Some(69), false), "{mode}");
    }
    for name in ["", "::/here"] {
        let output = command(&["run", &writes, "--dir", &format!("{given}{name},write")], "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read_to_string(&note).expect("it was written"), "hello\n");
        fs::remove_file(&note).expect("it is there");
    }
}

#[test]
fn the_command_line_tells_what_is_wrong() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/table.txt").display().to_string();
    for (arguments, wanted) in [
        (&["run", &table][..], "not a valid module"),
        (&["run", "nothing.wasm"], "nothing.wasm: "),
        (&["run", &program().display().to_string(), "--invoke", "run"], "no function `run` is exported"),
        (&["run"], "azulejo-wasm run FILE"),
        (&["dance"], "no command `dance`"),
        (&["run", "nothing.wasm", "--fast"], "no option `--fast`"),
        (&["run", "nothing.wasm", "--tier", "best"], "no tier `best`"),
        (&["run", "nothing.wasm", "--fuel", "much"], "`much` is no amount of fuel"),
        (&["run", "nothing.wasm", "--tier"], "something is missing behind --tier"),
        (&["spec", "--tier", "best"], "no such tier"),
    ] {
        let output = command(arguments, "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(wanted), "{arguments:?}: {text}");
    }
}
