//! Compiled code for profilers, by a file that `perf` reads, `/tmp/perf-PID.map`.
//!
//! In: the address, size and name of each function. Out: a line for each. A line stays when code is freed: if several lines are
//! about one address, `perf` uses one of them, so all code that ran there gets the same name.

use once_cell::race::OnceBox;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// Writes a function's line. Write errors are ignored: a program must not fail because of its profile.
pub fn note(name: &str, address: *const u8, size: usize) {
    // Opening the file twice is harmless. A lock is not: in a forked child, its holder may not exist.
    static MAP: OnceBox<Option<File>> = OnceBox::new();
    let open = || {
        let path = format!("/tmp/perf-{}.map", std::process::id());
        Box::new(OpenOptions::new().create(true).append(true).open(path).ok())
    };
    if let Some(mut file) = MAP.get_or_init(open).as_ref() {
        // One line is one write, so lines of several threads do not mix.
        let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = file.write_all(format!("{:x} {size:x} {name}\n", address.addr()).as_bytes());
    }
}
