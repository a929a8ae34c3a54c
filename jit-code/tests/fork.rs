//! A process that forks before it has any code. (This file has one test, so that no other one makes code.)

#![cfg(unix)]

use azulejo_code::memory::fork;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

static LOCK: Mutex<()> = Mutex::new(());

#[test]
fn a_child_that_is_made_before_any_code_finds_no_lock_held() {
    fork::protect(&LOCK);
    let (sender, receiver) = channel();
    let holder = std::thread::spawn(move || {
        let _held = LOCK.lock();
        sender.send(()).expect("the test waits");
        std::thread::sleep(Duration::from_millis(100));
    });
    receiver.recv().expect("the thread takes the lock");
    // SAFETY: the child looks at the lock, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_free = LOCK.try_lock().is_ok();
        // SAFETY: the child's work is done.
        unsafe { libc::_exit(!is_free as i32) };
    }
    let mut status = 0;
    // SAFETY: the child has not been waited for.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child found the lock held, or was ended by a signal");
    holder.join().expect("the thread does not panic");
}
