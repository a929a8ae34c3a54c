//! Runs commands at the root of the repository. An error names the command that failed.

use std::path::Path;
use std::process::Command;

/// Runs a space-separated command line with additional environment variables.
pub(crate) fn run(root: &Path, line: &str, env: &[(&str, &str)]) -> Result<(), String> {
    eprintln!("+ {line}");
    let mut words = line.split(' ');
    let program = words.next().expect("a command has a first word");
    let status = Command::new(program)
        .args(words)
        .envs(env.iter().copied())
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}
