//! Runs the checks that CI runs, and rewrites expected test output.

use std::path::Path;
use std::process::Command;

/// Everything that must hold besides the tests themselves.
pub(crate) fn ci(root: &Path) -> Result<(), String> {
    run(root, "cargo fmt --all --check", &[])?;
    run(root, "cargo clippy --workspace --all-targets -- -D warnings", &[])?;
    run(
        root,
        "cargo doc --workspace --no-deps --document-private-items",
        &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")],
    )?;
    crate::tidy::tidy(root)
}

/// Accepts what the golden and compile-error tests print now.
pub(crate) fn bless(root: &Path) -> Result<(), String> {
    run(root, "cargo test --workspace", &[("UPDATE_EXPECT", "1"), ("TRYBUILD", "overwrite")])
}

fn run(root: &Path, line: &str, env: &[(&str, &str)]) -> Result<(), String> {
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
