//! Child processes of the test, made by `fork`: they have all of its memory, but only one thread.
//!
//! A child exits after its work and never returns to the test harness. Its exit status says whether it failed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The time limit of a child: one that waits for a lock that is never released would wait forever.
const LIMIT: Duration = Duration::from_secs(30);

/// A child process that has not been waited for.
#[must_use = "what went wrong in a child is told to who waits for it"]
pub(crate) struct Child {
    process: libc::pid_t,
}

/// Forks. Returns `None` in the child, which must call [`end`].
pub(crate) fn split() -> Option<Child> {
    // SAFETY: the child runs only code that is safe after a fork, which is the property under test.
    match unsafe { libc::fork() } {
        0 => None,
        process => {
            assert!(process > 0, "the system has no process to give");
            Some(Child { process })
        }
    }
}

/// Runs the rest of a child's work, and exits.
pub(crate) fn end(work: impl FnOnce()) -> ! {
    let result = catch_unwind(AssertUnwindSafe(work));
    if let Err(panic) = &result {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let text = format!("in a child: {text}\n");
        // SAFETY: the text is valid for reads. (The harness's output stream may be locked by a thread that does not exist
        // here.)
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }
    // SAFETY: the process ends here, and the parent's exit handlers must not run in it.
    unsafe { libc::_exit(result.is_err() as i32) }
}

/// Runs some work in a child process.
pub(crate) fn child(work: impl FnOnce()) -> Child {
    split().unwrap_or_else(|| end(work))
}

impl Child {
    /// Waits for the child, which must succeed within the time limit.
    pub(crate) fn join(self) {
        let start = Instant::now();
        let mut status = 0;
        // SAFETY: the process is a child that has not been waited for.
        while unsafe { libc::waitpid(self.process, &mut status, libc::WNOHANG) } == 0 {
            if start.elapsed() > LIMIT {
                // SAFETY: as above.
                unsafe {
                    libc::kill(self.process, libc::SIGKILL);
                    libc::waitpid(self.process, &mut status, 0);
                }
                panic!("a child hangs");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!libc::WIFSIGNALED(status), "signal {} ended a child", libc::WTERMSIG(status));
        assert_eq!(libc::WEXITSTATUS(status), 0, "a child failed");
    }
}
