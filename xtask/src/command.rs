//! Runs a command at the root of the repository, and says which it was if it fails.

use std::path::Path;
use std::process::Command;

/// Runs a line of words with blanks between them, with these environment variables besides.
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
