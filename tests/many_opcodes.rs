//! The time that rustc takes for a bytecode of many opcodes: about as long as for several bytecodes with the same number
//! together.
//!
//! rustc checks generated programs, with the libraries that this test was built with.

#![cfg(unix)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program with `n_bytecodes` bytecodes of `n_opcodes` opcodes, each with a template.
fn program(n_bytecodes: usize, n_opcodes: usize) -> String {
    let mut program = String::new();
    for bytecode in 0..n_bytecodes {
        let (mut opcodes, mut rows) = (String::new(), String::new());
        for number in 0..n_opcodes {
            writeln!(opcodes, "    Add{number} {{ dst: Out<i64>, a: In<i64> }},").unwrap();
            writeln!(rows, "    Op::Add{number} => (add $a {number})").unwrap();
        }
        writeln!(
            program,
            "pub mod bytecode{bytecode} {{\n\
             use azulejo::prelude::*;\n\
             #[derive(Bytecode, Clone, Copy, Debug)]\npub enum Op {{\n{opcodes}}}\ntemplate! {{\n{rows}}}\n}}"
        )
        .unwrap();
    }
    program
}

/// The most recent build of azulejo's library, in the folder of this test.
fn library(folder: &Path) -> PathBuf {
    let files = folder.read_dir().expect("tests are in a folder").filter_map(Result::ok);
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libazulejo-") && name.ends_with(".rlib")
    };
    let libraries = files.map(|file| file.path()).filter(is_library);
    let newest = libraries.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    newest.expect("the tests were built with it")
}

/// The CPU time of all children that have ended.
fn spent_by_children() -> Duration {
    // SAFETY: zero is valid for all fields, and the pointer is valid for writes.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    Duration::new(usage.ru_utime.tv_sec as u64, usage.ru_utime.tv_usec as u32 * 1000)
}

#[test]
fn rustc_looks_at_each_opcode_once() {
    let folder = std::env::current_exe().expect("the test has a file");
    let folder = folder.parent().expect("it is in a folder");
    let scratch = std::env::temp_dir().join(format!("azulejo-many-opcodes-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let check = |n_bytecodes, n_opcodes| {
        let source = scratch.join("many.rs");
        std::fs::write(&source, program(n_bytecodes, n_opcodes)).unwrap();
        let before = spent_by_children();
        let output = Command::new(&rustc)
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--cap-lints=allow"])
            .arg("--extern")
            .arg(format!("azulejo={}", library(folder).display()))
            .arg(format!("-Ldependency={}", folder.display()))
            .arg("--out-dir")
            .arg(&scratch)
            .arg(&source)
            .output()
            .expect("rustc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        spent_by_children() - before
    };
    // Warm up the file cache.
    check(1, 1);
    // What else the machine does makes some of the runs slower, so the fastest of a few counts.
    let (mut several, mut one) = (Duration::MAX, Duration::MAX);
    for _ in 0..4 {
        several = several.min(check(8, 100));
        one = one.min(check(1, 800));
        if one < several * 5 / 4 {
            break;
        }
    }
    std::fs::remove_dir_all(&scratch).unwrap();
    let ratio = one.as_secs_f64() / several.as_secs_f64();
    // The ratio was two when each opcode was compared with each other.
    assert!(ratio < 1.5, "8 times 100 opcodes took {several:?}, 800 took {one:?}: {ratio:.2} times as long");
}
