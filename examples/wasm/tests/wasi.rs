//! A program in C that counts the words of files and of its input gets arguments, environment and files by WASI.

use azulejo_wasm::wasi::Wasi;
use azulejo_wasm::{Config, Error, Linker, Module, Store, Tier, Tiers, Trap};
use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;

/// The program.
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

/// A stream into a vector.
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

/// Runs the program in a world, and gives its status with what it printed.
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
        Tiers::Climb(2, 20),
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
        // Not capable, and twice no such file.
        let refused = "/poems/../secret: error 76\n/etc/passwd: error 44\n/poems/nothing: error 44\n";
        assert_eq!((status, err.as_str()), (3, refused), "{tiers:?}");
        let wasi = Wasi::new().argument("count").stdin(&b"one two\nthree"[..]);
        assert_eq!(run(tiers, wasi), (0, "1 3 13 \n".to_string(), String::new()), "{tiers:?}");
    }
}

/// The command line, with something to read.
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

#[test]
fn the_command_line_tells_what_is_wrong() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/table.txt").display().to_string();
    for (arguments, wanted) in [
        (&["run", &table][..], "not a valid module"),
        (&["run", "nothing.wasm"], "nothing.wasm: "),
        (&["run", &program().display().to_string(), "--invoke", "run"], "no function `run` is exported"),
        (&["run"], "azulejo-wasm run FILE"),
    ] {
        let output = command(arguments, "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(wanted), "{arguments:?}: {text}");
    }
}
