//! Runs the commands of the rig, built with optimization: their programs count more than their checks cost.

use std::path::Path;
use std::process::Command;

/// Fuzzes; the arguments are the fuzzer's.
pub(crate) fn fuzz(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    run(root, "fuzz", arguments)
}

/// Compiles and throws away; the argument is how often.
pub(crate) fn soak(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    run(root, "soak", arguments)
}

fn run(root: &Path, name: &str, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "-p", "azulejo-rig", "--bin", name, "--"]);
    command.args(arguments).current_dir(root);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{name}` found something")) }
}
