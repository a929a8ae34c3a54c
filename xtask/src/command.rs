//! Runs commands at the root of the repository. An error names the command that failed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints a space-separated command line, and makes a command of it.
pub(crate) fn command(root: &Path, line: &str) -> Command {
    eprintln!("+ {line}");
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a command has a first word"));
    command.args(words).current_dir(root);
    command
}

/// Runs a space-separated command line with additional environment variables.
pub(crate) fn run(root: &Path, line: &str, env: &[(&str, &str)]) -> Result<(), String> {
    let status = command(root, line)
        .envs(env.iter().copied())
        .status()
        .map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Makes a release build of `azulejo-lua`, and returns where it is.
pub(crate) fn lua(root: &Path) -> Result<PathBuf, String> {
    run(root, "cargo build --quiet --release -p azulejo-lua", &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let target = std::path::absolute(&target)
        .map_err(|error| format!("cannot tell where {} is: {error}", target.display()))?;
    Ok(target.join("release").join(format!("azulejo-lua{}", std::env::consts::EXE_SUFFIX)))
}
