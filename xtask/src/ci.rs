//! Runs the checks that CI runs, and rewrites expected test output.

use crate::command::run;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// One without a back end, where everything is interpreted, and one with another convention.
const OTHER_TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// What cargo warns of whenever nothing is to be published in earnest.
const DRY_RUN: &str = "warning: aborting upload due to dry run";

/// Everything that must hold besides the tests themselves.
pub(crate) fn ci(root: &Path) -> Result<(), String> {
    // What takes seconds comes first.
    run(root, "cargo fmt --all --check", &[])?;
    // A workspace of its own.
    run(root, "cargo fmt --manifest-path benches/Cargo.toml --check", &[])?;
    crate::tidy::tidy(root)?;
    run(root, "cargo clippy --workspace --all-targets -- -D warnings", &[])?;
    run(root, "cargo clippy --manifest-path benches/Cargo.toml --features wasm -- -D warnings", &[])?;
    run(
        root,
        "cargo doc --workspace --no-deps --document-private-items",
        &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")],
    )?;
    for target in OTHER_TARGETS {
        // Where no other standard library can be had, this says so; a fault in the code is one anywhere.
        match run(root, &format!("rustup target add {target}"), &[]) {
            Ok(()) => run(
                root,
                &format!("cargo check --workspace --all-targets --target {target}"),
                &[("RUSTFLAGS", "-D warnings")],
            )?,
            Err(reason) => eprintln!("not checked for {target}: {reason}"),
        }
    }
    run(root, "cargo check --manifest-path fuzz/Cargo.toml", &[("RUSTFLAGS", "-D warnings")])?;
    // With optimization it compiles functions of a hundred thousand bytecodes.
    run(root, "cargo test --release --test scaling", &[])?;
    miri(root)?;
    publish(root)?;
    crate::wasm_programs::programs(root, [String::from("--check")].into_iter())?;
    // The same programs each time: what fails in CI fails everywhere.
    let minute = ["--seed", "1", "--seconds", "60"];
    crate::fuzz::rig(root, "fuzz", minute.into_iter().map(String::from))?;
    crate::fuzz::wasm_rig(root, minute.into_iter().chain(["--modules", "5000"]).map(String::from))
}

/// What has no machine code in an interpreter that sees undefined behavior. Where it cannot be had, this says so.
fn miri(root: &Path) -> Result<(), String> {
    match run(root, "rustup component add miri rust-src --toolchain nightly", &[]) {
        Ok(()) => run(root, "cargo +nightly miri test -p azulejo-core", &[]),
        Err(reason) => {
            eprintln!("nothing is run in Miri: {reason}");
            Ok(())
        }
    }
}

/// Whether a registry would take the packages, and whether they compile by themselves. Where no registry is in reach, this says so;
/// what can be known without one is checked by tidy.
///
/// It happens in a folder with a new name: cargo keeps the packages that it has unpacked, by the path of the folder and the version,
/// and would compile one package with what another one was when this ran before.
fn publish(root: &Path) -> Result<(), String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let folder = format!("target/publish-{}-{}", now.as_secs(), std::process::id());
    let line = format!("cargo publish --workspace --dry-run --allow-dirty --target-dir {folder}");
    eprintln!("+ {line}");
    let output = Command::new("cargo").args(line.split(' ').skip(1)).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run `{line}`: {error}"))?;
    // What is left of it is in nobody's way.
    let _ = fs::remove_dir_all(root.join(&folder));
    let said = String::from_utf8_lossy(&output.stderr);
    let is_warning = |line: &&str| line.starts_with("warning:") && *line != DRY_RUN;
    let has_registry = !said.contains("failed to download");
    match said.lines().find(is_warning) {
        None if output.status.success() => Ok(()),
        None if !has_registry => {
            eprintln!("no registry was asked: {said}");
            Ok(())
        }
        _ => Err(format!("`{line}` said:\n{said}")),
    }
}

/// Accepts what the golden and compile-error tests print now.
pub(crate) fn bless(root: &Path) -> Result<(), String> {
    run(root, "cargo test --workspace", &[("UPDATE_EXPECT", "1"), ("TRYBUILD", "overwrite")])
}
