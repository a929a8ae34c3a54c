//! The signal handler: a fault of compiled code becomes a trap, all others are the older handler's.
//!
//! It is installed once for the process, and stays. It runs on the thread that faulted, between two instructions. What it
//! calls may be called there: it reads ([`registry::find`]), changes the registers with which the thread goes on, and
//! at most asks the system to change a signal's handler.
//!
//! What is handed on is handed on as the system would have done it: with the older handler's mask, to a function of one
//! argument or of three, or to the system's own action. That is restored for good: the process ends by it, since the instruction
//! that faulted is executed again.

use super::registry;
use crate::machine::Signals;
use core::ffi::{c_int, c_void};
use libc::siginfo_t;
use libc::{SA_NODEFER, SA_ONSTACK, SA_RESETHAND, SA_RESTART, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, SIGSEGV};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// How registers are found: of the one machine that this process runs on.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// Who handled a signal before.
struct Older {
    handler: AtomicUsize,
    flags: AtomicI32,
}

static OLDER: [Older; 2] =
    [const { Older { handler: AtomicUsize::new(SIG_DFL), flags: AtomicI32::new(0) } }; 2];

fn older(signal: c_int) -> &'static Older {
    &OLDER[(signal == SIGBUS) as usize]
}

/// Installs the handler, if that has not been done, and says whether it is there.
pub(super) fn is_installed(signals: &'static Signals) -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    // Who makes a child has this lock: in the child no thread is left that is halfway through this.
    let _held = registry::hold();
    // The handler may run at once.
    SIGNALS.get_or_init(|| *signals);
    *IS_INSTALLED.get_or_init(|| [SIGSEGV, SIGBUS].into_iter().all(install))
}

/// The system's own action.
fn default() -> libc::sigaction {
    // SAFETY: all of it are numbers, and an address that may be missing.
    let nothing: libc::sigaction = unsafe { core::mem::zeroed() };
    libc::sigaction { sa_sigaction: SIG_DFL, ..nothing }
}

fn install(signal: c_int) -> bool {
    let mut action = default();
    // SAFETY: the system writes what it knows, which is of this form.
    if unsafe { libc::sigaction(signal, core::ptr::null(), &mut action) } != 0 {
        return false;
    }
    // The handler may run at once.
    older(signal).handler.store(action.sa_sigaction, Ordering::Relaxed);
    older(signal).flags.store(action.sa_flags, Ordering::Release);
    action.sa_sigaction = handle as *const () as usize;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | action.sa_flags & (SA_RESTART | SA_NODEFER);
    // SAFETY: the handler is a function of three arguments, as the flags say, and does only what a handler may.
    unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) == 0 }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let signals = SIGNALS.get().expect("they were set before this was installed");
    // SAFETY: the system calls this with what it says in `sa_flags`.
    let (is_fault, at) = unsafe { ((*info).si_code > 0, (signals.program_counter)(context)) };
    // What another process sent is no fault, wherever it finds us.
    match registry::find(at).filter(|_| is_fault) {
        // SAFETY: as above; the function can be left there wherever it is.
        Some(landing) => unsafe { (signals.land)(context, &landing) },
        // SAFETY: the arguments are the system's.
        None => unsafe { hand_on(signal, info, context, is_fault) },
    }
}

/// Has an older handler do it.
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
        // Nobody can ignore a fault.
        SIG_DFL | SIG_IGN => {
            // SAFETY: it is the system's own action.
            unsafe { libc::sigaction(signal, &default(), core::ptr::null_mut()) };
            if !is_fault {
                // SAFETY: it comes once this handler has ended.
                unsafe { libc::raise(signal) };
            }
        }
        address if flags & SA_SIGINFO != 0 => {
            // SAFETY: it was installed as a handler of three arguments.
            let function: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { core::mem::transmute(address) };
            // SAFETY: these are the arguments of one.
            unsafe { function(signal, info, context) };
        }
        address => {
            // SAFETY: it was installed as a handler of one argument.
            let function: unsafe extern "C" fn(c_int) = unsafe { core::mem::transmute(address) };
            // SAFETY: this is the argument of one.
            unsafe { function(signal) };
        }
    }
}
