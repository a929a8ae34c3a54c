//! The fuzzer as a command; `cargo xtask fuzz` runs it.

use std::process::ExitCode;

#[cfg(all(target_arch = "x86_64", unix))]
fn main() -> ExitCode {
    match azulejo_rig::session::session(std::env::args().skip(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn main() -> ExitCode {
    eprintln!("nothing is compiled on this machine, so there is nothing to compare");
    ExitCode::FAILURE
}
