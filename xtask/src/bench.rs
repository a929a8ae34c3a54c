//! Runs the benchmarks, which are a workspace of their own because they depend on other compilers.

use std::path::Path;
use std::process::Command;

/// Builds the benchmarks in release mode and runs them with the given arguments. The engines for the WebAssembly suite are
/// built only for that suite, since their build takes longer than everything else.
pub(crate) fn bench(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments: Vec<String> = arguments.collect();
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--manifest-path"]).arg(root.join("benches/Cargo.toml"));
    if arguments.windows(2).any(|words| words == ["--suite", "wasm"]) {
        command.args(["--features", "wasm"]);
    }
    command.arg("--").args(arguments);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the benchmarks failed".to_string()) }
}
