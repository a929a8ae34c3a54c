//! Interrupts of the terminal, or of whoever sends SIGINT.
//!
//! In: signals. Out: the script that runs is stopped; the process ends if no script runs, or if the one that runs was asked before and
//! has not stopped, as it may wait for the system. So it is in C's Lua.

use crate::api::Interrupter;
use std::sync::{Arc, Mutex, PoisonError};

/// What the handler finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    /// Nothing runs.
    Idle,
    /// A script runs.
    Running,
    /// It was asked to stop.
    Asked,
}

/// What decides where interrupts go.
#[derive(Debug)]
pub(super) struct Interrupts {
    interrupter: Interrupter,
    activity: Arc<Mutex<Activity>>,
}

impl Interrupts {
    /// Handles interrupts from now on. `None` if the system has no such handlers.
    pub(super) fn handled(interrupter: Interrupter) -> Option<Interrupts> {
        let activity = Arc::new(Mutex::new(Activity::Idle));
        let (shared, stops) = (activity.clone(), interrupter.clone());
        let handler = move || {
            let mut activity = shared.lock().unwrap_or_else(PoisonError::into_inner);
            match *activity {
                Activity::Running => {
                    *activity = Activity::Asked;
                    stops.interrupt();
                }
                Activity::Idle | Activity::Asked => end_process(),
            }
        };
        ctrlc::set_handler(handler).ok()?;
        Some(Interrupts { interrupter, activity })
    }

    /// Interrupts stop what runs in the meantime.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set(Activity::Running);
        let result = work();
        self.set(Activity::Idle);
        result
    }

    fn set(&self, to: Activity) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        if *activity == Activity::Asked {
            // It may have ended before it could be stopped.
            self.interrupter.withdraw();
        }
        *activity = to;
    }
}

/// Ends the process as an interrupt does that nobody handles.
fn end_process() {
    #[cfg(unix)]
    // SAFETY: from here on the signal does what it does in a process that has said nothing of it.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::raise(libc::SIGINT);
    }
    #[cfg(not(unix))]
    std::process::exit(130);
}
