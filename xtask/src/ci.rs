//! Runs the checks that CI runs, and rewrites expected test output.

use crate::command::run;
use std::path::Path;

/// One without a back end, where everything is interpreted, and one with another convention.
const OTHER_TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// Everything that must hold besides the tests themselves.
pub(crate) fn ci(root: &Path) -> Result<(), String> {
    run(root, "cargo fmt --all --check", &[])?;
    run(root, "cargo clippy --workspace --all-targets -- -D warnings", &[])?;
    // A workspace of its own.
    run(root, "cargo fmt --manifest-path benches/Cargo.toml --check", &[])?;
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
    crate::wasm_programs::programs(root, [String::from("--check")].into_iter())?;
    // The same programs each time: what fails in CI fails everywhere.
    let minute = ["--seed", "1", "--seconds", "60"];
    crate::fuzz::rig(root, "fuzz", minute.into_iter().map(String::from))?;
    crate::fuzz::wasm_rig(root, minute.into_iter().chain(["--modules", "5000"]).map(String::from))?;
    crate::tidy::tidy(root)
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

/// Accepts what the golden and compile-error tests print now.
pub(crate) fn bless(root: &Path) -> Result<(), String> {
    run(root, "cargo test --workspace", &[("UPDATE_EXPECT", "1"), ("TRYBUILD", "overwrite")])
}
