//! Runs the fuzzer of the rig, built with optimization: its programs count more than its checks cost.

use std::path::Path;
use std::process::Command;

/// Fuzzes; the arguments are the fuzzer's.
pub(crate) fn fuzz(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "-p", "azulejo-rig", "--bin", "fuzz", "--"]);
    command.args(arguments).current_dir(root);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the fuzzer found something".into()) }
}
