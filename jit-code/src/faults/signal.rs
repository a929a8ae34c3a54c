//! The signal handler: a fault in compiled code becomes a trap, all others go to the older handler.
//!
//! It is installed once in the process, and stays. It runs on the thread that faulted, between two instructions. All that it
//! calls is allowed in signal handlers: it reads the registry ([`registry::find`]), changes the registers with which the thread
//! resumes, and at most asks the system to change a signal's handler.
//!
//! A signal is passed on as the system would have delivered it: with the older handler's mask, to a function of one argument or
//! of three, or to the system's default action. That action is restored for good: it ends the process, since the faulting
//! instruction is executed again.

use super::registry;
use crate::machine::Signals;
use core::ffi::{c_int, c_void};
use libc::siginfo_t;
use libc::{SA_NODEFER, SA_ONSTACK, SA_RESETHAND, SA_RESTART, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, SIGSEGV};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// How to access the registers, for the one machine that this process runs on.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// The older handler of a signal.
struct Older {
    handler: AtomicUsize,
    flags: AtomicI32,
}

static OLDER: [Older; 2] =
    [const { Older { handler: AtomicUsize::new(SIG_DFL), flags: AtomicI32::new(0) } }; 2];

fn older(signal: c_int) -> &'static Older {
    &OLDER[(signal == SIGBUS) as usize]
}

/// Installs the handler, unless that has been done; returns whether it is installed.
pub(super) fn is_installed(signals: &'static Signals) -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    // A forking thread takes this lock, so no thread is halfway through this function when a child is made.
    let _held = registry::hold();
    // The handler may run at once.
    SIGNALS.get_or_init(|| *signals);
    *IS_INSTALLED.get_or_init(|| [SIGSEGV, SIGBUS].into_iter().all(install))
}

/// The system's default action.
fn default() -> libc::sigaction {
    // SAFETY: all fields are integers or an optional address, for which zero is valid.
    let nothing: libc::sigaction = unsafe { core::mem::zeroed() };
    libc::sigaction { sa_sigaction: SIG_DFL, ..nothing }
}

fn install(signal: c_int) -> bool {
    let mut action = default();
    // SAFETY: the system only writes the current action, which is of this type.
    if unsafe { libc::sigaction(signal, core::ptr::null(), &mut action) } != 0 {
        return false;
    }
    // The handler may run at once.
    older(signal).handler.store(action.sa_sigaction, Ordering::Relaxed);
    older(signal).flags.store(action.sa_flags, Ordering::Release);
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | action.sa_flags & (SA_RESTART | SA_NODEFER);
    // SAFETY: the handler is a function of three arguments, as the flags say, and only does what a handler may.
    unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) == 0 }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let signals = SIGNALS.get().expect("they were set before this was installed");
    // SAFETY: the system calls this with the arguments that `SA_SIGINFO` promises.
    let (is_fault, at) = unsafe { ((*info).si_code > 0, (signals.program_counter)(context)) };
    // A signal that another process sent is no fault, wherever it interrupts the thread.
    match registry::find(at).filter(|_| is_fault) {
        // SAFETY: as above; and any place in the function's body can be left by this epilogue.
        Some(landing) => unsafe { (signals.land)(context, &landing) },
        // SAFETY: the arguments are the ones that the system passed.
        None => unsafe { hand_on(signal, info, context, is_fault) },
    }
}

/// Passes a signal to the older handler.
///
/// # Safety
///
/// The arguments must be those of a signal handler.
unsafe fn hand_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void, is_fault: bool) {
    let flags = older(signal).flags.load(Ordering::Acquire);
    let handler = match flags & SA_RESETHAND {
        0 => older(signal).handler.load(Ordering::Relaxed),
        _ => older(signal).handler.swap(SIG_DFL, Ordering::Relaxed),
    };
    match handler {
        SIG_IGN if !is_fault => {}
        // A fault cannot be ignored.
        SIG_DFL | SIG_IGN => {
            // SAFETY: this is the system's default action.
            unsafe { libc::sigaction(signal, &default(), core::ptr::null_mut()) };
            if !is_fault {
                // SAFETY: the signal is delivered once this handler has returned.
                unsafe { libc::raise(signal) };
            }
        }
        address if flags & SA_SIGINFO != 0 => {
            // SAFETY: it was installed as a handler of three arguments.
            let function: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { core::mem::transmute(address) };
            // SAFETY: these are the arguments of such a handler.
            unsafe { function(signal, info, context) };
        }
        address => {
            // SAFETY: it was installed as a handler of one argument.
            let function: unsafe extern "C" fn(c_int) = unsafe { core::mem::transmute(address) };
            // SAFETY: this is the argument of such a handler.
            unsafe { function(signal) };
        }
    }
}
