//! Runs the benchmarks, which are a workspace of their own: they build other compilers to compare with.

use std::path::Path;
use std::process::Command;

/// Builds with optimization and runs; the arguments are the benchmarks'.
pub(crate) fn bench(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--manifest-path"]);
    command.arg(root.join("benches/Cargo.toml")).arg("--").args(arguments);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the benchmarks failed".to_string()) }
}
