//! The command line: runs scripts, as the program `lua` does.

use azulejo_lua::command::{self, Options};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("azulejo-lua: {message}\n{}", command::USAGE);
            return ExitCode::FAILURE;
        }
    };
    // Deep recursion of the program needs a deep stack.
    let thread = std::thread::Builder::new().stack_size(command::STACK);
    let thread = thread.spawn(move || command::run(&options));
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}
