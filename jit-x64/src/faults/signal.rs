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
use core::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// What a C library for Linux on x86-64 calls `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// The start of `siginfo_t`.
#[repr(C)]
struct Info {
    signal: c_int,
    error: c_int,
    code: c_int,
}

/// The start of `ucontext_t`.
#[repr(C)]
struct Context {
    flags: u64,
    link: *mut Context,
    stack: [u64; 3],
    /// By the numbers below.
    registers: [u64; 23],
}

const RDX: usize = 12;
const RAX: usize = 13;
const RIP: usize = 16;

unsafe extern "C" {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn raise(signal: c_int) -> c_int;
}

const SIGBUS: c_int = 7;
const SIGSEGV: c_int = 11;

const SYSTEM: usize = 0;
const IGNORED: usize = 1;

const WITH_INFO: c_int = 4;
const ON_STACK: c_int = 0x0800_0000;
const RESTARTS: c_int = 0x1000_0000;
const MAY_NEST: c_int = 0x4000_0000;
const ONCE: c_int = 0x8000_0000_u32 as c_int;

/// Who handled a signal before.
struct Older {
    handler: AtomicUsize,
    flags: AtomicI32,
}

static OLDER: [Older; 2] =
    [const { Older { handler: AtomicUsize::new(SYSTEM), flags: AtomicI32::new(0) } }; 2];

fn older(signal: c_int) -> &'static Older {
    &OLDER[(signal == SIGBUS) as usize]
}

/// Installs the handler, if that has not been done, and says whether it is there.
pub(super) fn is_installed() -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    *IS_INSTALLED.get_or_init(|| [SIGSEGV, SIGBUS].into_iter().all(install))
}

fn install(signal: c_int) -> bool {
    let mut action = Action { handler: SYSTEM, mask: [0; 16], flags: 0, restorer: 0 };
    // SAFETY: the system writes what it knows, which is of this form.
    if unsafe { sigaction(signal, core::ptr::null(), &mut action) } != 0 {
        return false;
    }
    // The handler may run at once.
    older(signal).handler.store(action.handler, Ordering::Relaxed);
    older(signal).flags.store(action.flags, Ordering::Release);
    action.handler = handle as *const () as usize;
    action.flags = WITH_INFO | ON_STACK | action.flags & (RESTARTS | MAY_NEST);
    // SAFETY: the handler is a function of three arguments, as the flags say, and does only what a handler may.
    unsafe { sigaction(signal, &action, core::ptr::null_mut()) == 0 }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut Info, context: *mut Context) {
    // SAFETY: the system calls this with what it says in `Action::flags`.
    let (is_fault, registers) = unsafe { ((*info).code > 0, &mut (*context).registers) };
    // What another process sent is no fault, wherever it finds us.
    match registry::find(registers[RIP] as usize).filter(|_| is_fault) {
        Some(landing) => {
            registers[RIP] = landing.rip as u64;
            registers[RAX] = landing.rax;
            registers[RDX] = landing.rdx;
        }
        // SAFETY: the arguments are the system's.
        None => unsafe { hand_on(signal, info, context, is_fault) },
    }
}

/// Has an older handler do it.
///
/// # Safety
///
/// The arguments must be those of a signal handler.
unsafe fn hand_on(signal: c_int, info: *mut Info, context: *mut Context, is_fault: bool) {
    let flags = older(signal).flags.load(Ordering::Acquire);
    let handler = match flags & ONCE {
        0 => older(signal).handler.load(Ordering::Relaxed),
        _ => older(signal).handler.swap(SYSTEM, Ordering::Relaxed),
    };
    match handler {
        IGNORED if !is_fault => {}
        // Nobody can ignore a fault.
        SYSTEM | IGNORED => {
            let action = Action { handler: SYSTEM, mask: [0; 16], flags: 0, restorer: 0 };
            // SAFETY: it is the system's own action.
            unsafe { sigaction(signal, &action, core::ptr::null_mut()) };
            if !is_fault {
                // SAFETY: it comes once this handler has ended.
                unsafe { raise(signal) };
            }
        }
        address if flags & WITH_INFO != 0 => {
            // SAFETY: it was installed as a handler of three arguments.
            let function: unsafe extern "C" fn(c_int, *mut Info, *mut c_void) =
                unsafe { core::mem::transmute(address) };
            // SAFETY: these are the arguments of one.
            unsafe { function(signal, info, context.cast()) };
        }
        address => {
            // SAFETY: it was installed as a handler of one argument.
            let function: unsafe extern "C" fn(c_int) = unsafe { core::mem::transmute(address) };
            // SAFETY: this is the argument of one.
            unsafe { function(signal) };
        }
    }
}
