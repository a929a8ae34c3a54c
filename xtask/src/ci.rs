//! Runs the checks of CI, and updates expected test output.
//!
//! CI has 45 minutes on two cores, also on a slow day. What takes minutes and is seldom broken by a change that the rest does not
//! notice runs with `--all`, before a release.

use crate::command::{command, run};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// A target without a back end, on which everything is interpreted, and one with another calling convention.
const OTHER_TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// What packages are made of is compiled, and not run.
const UNOPTIMIZED: [&str; 3] = [
    "profile.dev.build-override.opt-level=0",
    "profile.dev.package.azulejo-core.opt-level=0",
    "profile.dev.package.\"*\".opt-level=0",
];

/// The warning that cargo prints for every dry run.
const DRY_RUN: &str = "warning: aborting upload due to dry run";

/// Runs all checks other than the tests themselves; without `--all`, those that CI has time for.
pub(crate) fn ci(root: &Path, mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let is_all = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => false,
        (Some("--all"), None) => true,
        _ => return Err(String::from("`ci` takes `--all` and nothing else")),
    };
    // The fastest checks come first.
    run(root, "cargo fmt --all --check", &[])?;
    // The benchmarks and the fuzz targets are workspaces of their own.
    run(root, "cargo fmt --manifest-path benches/Cargo.toml --check", &[])?;
    run(root, "cargo fmt --manifest-path fuzz/Cargo.toml --check", &[])?;
    crate::tidy::tidy(root)?;
    run(root, "cargo clippy --workspace --all-targets -- -D warnings", &[])?;
    let others: &[(&str, &str)] = match is_all {
        true => &[("benches", " --features wasm"), ("fuzz", "")],
        false => &[("benches", "")],
    };
    for (workspace, features) in others {
        // What other workspaces share with this one is not compiled again for them.
        let line =
            format!("cargo clippy --manifest-path {workspace}/Cargo.toml --target-dir target{features}");
        run(root, &format!("{line} -- -D warnings"), &[])?;
    }
    run(
        root,
        "cargo doc --workspace --no-deps --document-private-items",
        &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")],
    )?;
    other_targets(root, if is_all { "--all-targets" } else { "--lib --bins --examples" })?;
    // This test compiles functions of a hundred thousand bytecodes in a release build.
    run(root, "cargo test --release --test scaling", &[])?;
    miri(root)?;
    publish(root)?;
    crate::lua_suite::suite(root, std::iter::empty())?;
    crate::wasm_programs::programs(root, [String::from("--check")].into_iter())?;
    // The seed is fixed, so that a failure in CI can be reproduced anywhere.
    let brief = ["--seed", "1", "--seconds", "30"];
    crate::fuzz::rig_of_tests(root, brief.into_iter().map(String::from))?;
    crate::fuzz::wasm_rig_of_tests(root, brief.into_iter().map(String::from))
}

/// Checks the workspace for other targets, all at once, so that no core waits. A target whose standard library cannot be installed is skipped
/// with a message; errors in the code are fatal.
fn other_targets(root: &Path, what: &str) -> Result<(), String> {
    let mut there = String::new();
    for target in OTHER_TARGETS {
        match run(root, &format!("rustup target add {target}"), &[]) {
            Ok(()) => there += &format!(" --target {target}"),
            Err(reason) => eprintln!("not checked for {target}: {reason}"),
        }
    }
    if there.is_empty() {
        return Ok(());
    }
    run(root, &format!("cargo check --workspace {what}{there}"), &[("RUSTFLAGS", "-D warnings")])
}

/// Runs the crates without machine code in Miri, to detect undefined behavior. Skipped with a message where Miri is missing.
fn miri(root: &Path) -> Result<(), String> {
    match run(root, "rustup component add miri rust-src --toolchain nightly", &[]) {
        // Examples in documents take long to compile one by one, and run with the tests.
        Ok(()) => run(root, "cargo +nightly miri test -p azulejo-core --lib --tests", &[]),
        Err(reason) => {
            eprintln!("nothing is run in Miri: {reason}");
            Ok(())
        }
    }
}

/// Checks that a registry would accept the packages, and that each compiles by itself. Skipped with a message if no registry can
/// be reached; tidy covers the checks that need none.
///
/// The target folder gets a new name each time: cargo caches unpacked packages by folder and version, and
/// would otherwise compile a package against an older state of another one.
fn publish(root: &Path) -> Result<(), String> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let folder = format!("target/publish-{}-{}", now.as_secs(), std::process::id());
    let unoptimized = UNOPTIMIZED.map(|setting| format!(" --config {setting}")).concat();
    let line =
        format!("cargo publish --workspace --dry-run --allow-dirty --target-dir {folder}{unoptimized}");
    let output = command(root, &line).output();
    let output = output.map_err(|error| format!("cannot run `{line}`: {error}"))?;
    // A leftover folder does no harm.
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

/// Accepts the current output of the golden and compile-error tests as expected.
pub(crate) fn bless(root: &Path) -> Result<(), String> {
    run(root, "cargo test --workspace", &[("UPDATE_EXPECT", "1"), ("TRYBUILD", "overwrite")])
}
