//! Children of the test's process: made by `fork`, so that they have all its memory and only one thread.
//!
//! A child ends with its work, never in the test harness. What went wrong in it is told by how it ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long a child may take: whoever waits for a lock that nobody gives back waits for ever.
const LIMIT: Duration = Duration::from_secs(30);

/// A child that has not been waited for.
#[must_use = "what went wrong in a child is told to who waits for it"]
pub(crate) struct Child {
    process: libc::pid_t,
}

/// Makes a child; nothing in the child itself, which must come to [`end`].
pub(crate) fn split() -> Option<Child> {
    // SAFETY: the child runs what may be run in one, as what is tested here promises.
    match unsafe { libc::fork() } {
        0 => None,
        process => {
            assert!(process > 0, "the system has no process to give");
            Some(Child { process })
        }
    }
}

/// Does the last work of a child, and ends it.
pub(crate) fn end(work: impl FnOnce()) -> ! {
    let result = catch_unwind(AssertUnwindSafe(work));
    if let Err(panic) = &result {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let text = format!("in a child: {text}\n");
        // SAFETY: the text is there. (What the harness has for output may be locked by a thread that is not here.)
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    }
    // SAFETY: nothing is left to be done, and nobody else's is done.
    unsafe { libc::_exit(result.is_err() as i32) }
}

/// Has a child do some work.
pub(crate) fn child(work: impl FnOnce()) -> Child {
    split().unwrap_or_else(|| end(work))
}

impl Child {
    /// Waits until it ends, which it must do well, and soon.
    pub(crate) fn join(self) {
        let start = Instant::now();
        let mut status = 0;
        // SAFETY: it is a child that nobody has waited for.
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
