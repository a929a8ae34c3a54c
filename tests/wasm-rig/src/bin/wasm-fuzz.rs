//! The fuzzer as a command; `cargo xtask wasm-fuzz` runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    match azulejo_wasm_rig::session::session(std::env::args().skip(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
