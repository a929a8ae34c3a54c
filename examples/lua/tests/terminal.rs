//! The command at a terminal.
//!
//! In: what somebody types or pastes. Out: what is on the screen, and the exit code.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// A terminal: what is on its other side, and the process's side of it.
fn terminal() -> (File, OwnedFd) {
    let (mut far, mut near) = (-1, -1);
    // SAFETY: there is a place for each of the two, and the rest is left to the system.
    let opened = unsafe { libc::openpty(&mut far, &mut near, null_mut(), null(), null()) };
    assert_eq!(opened, 0, "the system has terminals");
    // SAFETY: both were opened just now, and nobody else has them.
    unsafe { (File::from(OwnedFd::from_raw_fd(far)), OwnedFd::from_raw_fd(near)) }
}

#[test]
fn lines_that_are_pasted_run_one_after_another() {
    let (mut far, near) = terminal();
    let side = || near.try_clone().expect("it can be shared");
    let mut command = Command::new(env!("CARGO_BIN_EXE_azulejo-lua"));
    command.env("TERM", "xterm").env("AZULEJO_LUA_CACHE", "").env("HOME", env!("CARGO_TARGET_TMPDIR"));
    command.stdin(side()).stdout(side()).stderr(side());
    let mut child = command.spawn().expect("it starts");
    let mut screen = far.try_clone().expect("it can be shared");
    let reader = std::thread::spawn(move || {
        let (mut all, mut piece, mut is_pasted) = (Vec::new(), [0; 1024], false);
        while let Ok(count @ 1..) = screen.read(&mut piece) {
            all.extend_from_slice(&piece[..count]);
            if !is_pasted && String::from_utf8_lossy(&all).contains("> ") {
                is_pasted = true;
                far.write_all(b"x = 20\nx = x + 1\nprint('it is ' .. x * 2)\nos.exit(7)\n")
                    .expect("it is there");
            }
        }
        all
    });
    let start = Instant::now();
    let code = loop {
        match child.try_wait().expect("it can be asked") {
            Some(status) => break status.code(),
            None if start.elapsed() > Duration::from_secs(20) => child.kill().expect("it runs"),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    drop((near, command));
    let screen = String::from_utf8_lossy(&reader.join().expect("it does not panic")).into_owned();
    assert!(code == Some(7) && screen.contains("it is 42"), "{code:?}: {screen}");
}
