//! Compiles the C programs of the WebAssembly example. The compiled files are committed beside the sources.
//!
//! In: the sources and `table.txt`. Out: a `.wasm` file beside each source, and the checksums in the table, which the
//! sources print when compiled for this machine. With `--check` it reports whether the committed files differ instead.
//! The compiler driver's linking step is bypassed, since it would run an optimizer if one is
//! installed. So the same compiler and linker produce the same bytes everywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options for all compilations. Floats are not contracted, so that all machines compute the same results.
const COMMON: &str = "-O2 -std=c11 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno";

/// Options for WebAssembly 2.0 without a C library.
const WASM: &str =
    "--target=wasm32 -ffreestanding -mbulk-memory -msign-ext -mnontrapping-fptoint -mmutable-globals";

/// The stack is small and placed below the data, so that a stack overflow traps.
const LINK: &str = "--no-entry --strip-all --stack-first -z stack-size=65536";

/// The version that the committed files were built with. Other versions produce other bytes.
const VERSION: &str = "14.0.6";

/// The runtime that is linked into every native build of a program.
const NATIVE: &str = "native.c";

/// Rebuilds the files, or checks them. Without the compiler nothing changes: a check passes with a message, a rebuild fails.
pub(crate) fn programs(root: &Path, mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let is_check = match arguments.next().as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => return Err(format!("unknown: `{other}`; known is --check")),
    };
    let folder = root.join("examples/wasm/programs");
    if let Err(reason) = has_compiler() {
        eprintln!("wasm-programs: nothing is compiled: {reason}");
        return if is_check { Ok(()) } else { Err("install clang and lld first".to_string()) };
    }
    let out = root.join("target/wasm-programs");
    fs::create_dir_all(&out).map_err(|error| format!("cannot make {}: {error}", out.display()))?;
    let mut stale = Vec::new();
    for source in sources(&folder)? {
        let built = compile(&source, &out)?;
        put(&source.with_extension("wasm"), built, is_check, &mut stale)?;
    }
    let table = folder.join("table.txt");
    let lines =
        read(&table)?.lines().map(|line| row(line, &folder, &out)).collect::<Result<String, String>>()?;
    put(&table, lines.into_bytes(), is_check, &mut stale)?;
    match stale.is_empty() {
        true => Ok(()),
        false => {
            Err(format!("not what the sources give: {}; run `cargo xtask wasm-programs`", stale.join(", ")))
        }
    }
}

/// Checks that the compiler and the linker are installed in the expected version.
fn has_compiler() -> Result<(), String> {
    for program in ["clang", "wasm-ld"] {
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|error| format!("no {program}: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !text.contains(VERSION) {
            return Err(format!("{program} is not {VERSION}: {}", text.lines().next().unwrap_or("")));
        }
    }
    Ok(())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut sources: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|it| it == "c") && !path.ends_with(NATIVE));
    sources.sort();
    Ok(sources)
}

/// Compiles a source to WebAssembly, with tail calls enabled if it contains `musttail`.
fn compile(source: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let object = out.join(source.file_name().expect("a source has a name")).with_extension("o");
    let module = object.with_extension("wasm");
    let mut clang = Command::new("clang");
    clang.args(COMMON.split(' ')).args(WASM.split(' ')).arg("-c").arg(source).arg("-o").arg(&object);
    if read(source)?.contains("musttail") {
        clang.arg("-mtail-call");
    }
    succeed(&mut clang)?;
    succeed(Command::new("wasm-ld").args(LINK.split(' ')).arg(&object).arg("-o").arg(&module))?;
    fs::read(&module).map_err(|error| format!("cannot read {}: {error}", module.display()))
}

/// Recomputes the checksums of a line of the table.
fn row(line: &str, folder: &Path, out: &Path) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, few, _, many, _] = words[..] else { return Ok(format!("{line}\n")) };
    if name.starts_with('#') {
        return Ok(format!("{line}\n"));
    }
    let program = out.join(name);
    let mut clang = Command::new("clang");
    clang.args(COMMON.split(' ')).arg(folder.join(NATIVE)).arg(folder.join(name).with_extension("c"));
    succeed(clang.arg("-o").arg(&program))?;
    let output = Command::new(&program).args([few, many]).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let [of_few, of_many] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("{name} printed {text}"));
    };
    Ok(format!("{name:12}{few:>8}{of_few:>22}{many:>10}{of_many:>22}\n"))
}

fn put(path: &Path, bytes: Vec<u8>, is_check: bool, stale: &mut Vec<String>) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if is_check {
        stale.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        return Ok(());
    }
    eprintln!("{}: {} bytes", path.display(), bytes.len());
    fs::write(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}
