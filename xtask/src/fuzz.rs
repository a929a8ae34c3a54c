//! Runs the commands of the rig, built with optimization: their programs count more than their checks cost.

use crate::command;
use std::path::Path;

/// Runs the rig's command of this name with these arguments.
pub(crate) fn rig(root: &Path, name: &str, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let line = format!("cargo run --quiet --release -p azulejo-rig --bin {name} --");
    command::run(root, &arguments.fold(line, |line, argument| line + " " + &argument), &[])
}
