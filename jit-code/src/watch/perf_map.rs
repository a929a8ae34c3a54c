//! Profilers are told of compiled code by a file that `perf` reads, `/tmp/perf-PID.map`.
//!
//! In: the address, size and name of each function. Out: a line for each. Lines are not taken back when code is freed:
//! of several that are about one address `perf` takes one, so what ran in the same place at different times has one name.

use once_cell::race::OnceBox;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// Writes that a function's code is here. What cannot be written is not: a program does not fail for its profile.
pub fn note(name: &str, address: *const u8, size: usize) {
    // Opened twice it is the same file. A thread that waits for another one may be in a child that does not have that one.
    static MAP: OnceBox<Option<File>> = OnceBox::new();
    let open = || {
        let path = format!("/tmp/perf-{}.map", std::process::id());
        Box::new(OpenOptions::new().create(true).append(true).open(path).ok())
    };
    if let Some(mut file) = MAP.get_or_init(open).as_ref() {
        // One line is one write, which threads do not mix.
        let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = file.write_all(format!("{:x} {size:x} {name}\n", address.addr()).as_bytes());
    }
}
