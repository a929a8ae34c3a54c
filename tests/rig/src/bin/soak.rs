//! `soak [N]`: N compilations (a million by default) in little code memory; `cargo xtask soak` runs it.

use std::process::ExitCode;

#[cfg(all(target_arch = "x86_64", unix))]
fn main() -> ExitCode {
    let count = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse());
    let Ok(count) = count else {
        eprintln!("how many compilations? a number");
        return ExitCode::FAILURE;
    };
    match azulejo_rig::soak::soak(count) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn main() -> ExitCode {
    eprintln!("nothing is compiled on this machine");
    ExitCode::FAILURE
}
