//! Runs the rigs' commands in release builds: running more programs is worth more than debug assertions, unless building takes longer.

use crate::command;
use std::path::Path;

/// Runs the rig's binary of this name.
pub(crate) fn rig(root: &Path, name: &str, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    built(root, &format!("--release -p azulejo-rig --bin {name}"), arguments)
}

/// Compares tiers on random programs, with what the tests have built: every pass is verified, and no release build of the rig is made.
pub(crate) fn rig_of_tests(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    built(root, "-p azulejo-rig --bin fuzz", arguments)
}

/// Compares the WebAssembly example with wasmi.
pub(crate) fn wasm_rig(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    built(root, "--release -p azulejo-wasm-rig --bin wasm-fuzz", arguments)
}

/// Likewise, with what the tests have built: a release build of what it compares with takes minutes.
pub(crate) fn wasm_rig_of_tests(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    built(root, "-p azulejo-wasm-rig --bin wasm-fuzz", arguments)
}

fn built(root: &Path, program: &str, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let line = format!("cargo run --quiet {program} --");
    command::run(root, &arguments.fold(line, |line, argument| line + " " + &argument), &[])
}
