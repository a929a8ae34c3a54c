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
    share_arena();
    end_with_reader();
    // Deep recursion of the program needs a deep stack.
    let thread = std::thread::Builder::new().stack_size(command::STACK);
    let thread = thread.spawn(move || command::run(&options));
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

/// Lets all threads allocate from the memory of the first one. That of others grows by a page at a time in GNU's library, with a call of the system for
/// each, and this process works in one thread, and for some time in one more.
fn share_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function sets a number, and there is no other thread yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Ends the process when nobody reads any more what it writes to a pipe, as programs of C do. Rust's would go on.
fn end_with_reader() {
    #[cfg(unix)]
    // SAFETY: from here on the signal does what the system does for it, and there is no other thread yet.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
