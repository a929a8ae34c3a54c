//! Faults that do not belong to compiled code are passed on to the previous handler, and end the process if that is the
//! system's. Each case is a process of its own.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use azulejo::memory::Reserved;
use azulejo::prelude::*;
use libc::{SIGBUS, SIGSEGV};
use std::ffi::{c_int, c_void};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Bytecode, Clone, Copy, Debug)]
#[bytecode(context = Vm)]
enum Op {
    Load {
        dst: Out<i64>,
        at: In<u32>,
    },
    /// A load without a bounds check, as from a wrong template.
    Wild {
        dst: Out<i64>,
        at: In<u64>,
    },
    Call {
        dst: Out<i64>,
        at: In<u64>,
    },
    Return {
        a: In<i64>,
    },
}

struct Vm {
    start: *mut u8,
    size: u64,
}

/// A wild access, on purpose.
fn read(at: u64) -> i64 {
    let at: *const i64 = std::ptr::with_exposed_provenance(at as usize);
    // SAFETY: none; the fault is the purpose of the test.
    unsafe { at.read_volatile() }
}

template! {
    Op::Load => unsafe (within (ule (add (ucast $at u64) 8) (load (addr (tc) (&offset_of Vm, size)) u64)) 3
        (load (idx (load pure (addr (tc) (&offset_of Vm, start)) ptr) (ucast $at u64) 1) i64))
    Op::Wild   => unsafe (load $at i64)
    Op::Call   => (call read (arglist (carg $at u64)) i64)
    Op::Return => (return $a)
}

fn r<T: From<u32>>(register: u32) -> T {
    register.into()
}

/// An engine for each compiled tier, and memory for the functions to access.
fn engines() -> (Vec<Engine<Op>>, Reserved) {
    let engines = [Tier::Baseline, Tier::Optimizer].map(|tier| {
        // SAFETY: the memory's reserved addresses cover all 32-bit offsets.
        unsafe { Engine::<Op>::builder().guards(true) }.only(tier).build()
    });
    (engines.into(), Reserved::new(1 << 16, (1 << 32) + (1 << 16)).expect("there is room"))
}

/// Runs some loads, the last of which trap.
fn traps() {
    let (engines, memory) = engines();
    for engine in engines {
        let code = vec![Op::Load { dst: r(1), at: r(0) }, Op::Return { a: r(1) }];
        let function = engine.define("load", code, 2).expect("it is right");
        let mut vm = Vm { start: memory.start(), size: memory.accessible() as u64 };
        for (at, expected) in [
            (0u32, Ok(0)),
            (0xfff8, Ok(0)),
            (0xfff9, Err(Error::Trap { trap: Trap::User(3), at: 0 })),
            (0xffff_ffff, Err(Error::Trap { trap: Trap::User(3), at: 0 })),
        ] {
            assert_eq!(engine.call::<_, i64>(function, &mut vm, (at,)), expected);
        }
    }
}

/// Runs an opcode that reads from an unmapped address.
fn wild(op: fn(Out<i64>, In<u64>) -> Op, tier: usize) {
    let (mut engines, memory) = engines();
    let engine = engines.swap_remove(tier);
    let code = vec![Op::Load { dst: r(1), at: r(1) }, op(r(1), r(0)), Op::Return { a: r(1) }];
    let function = engine.define("wild", code, 2).expect("it is right");
    let mut vm = Vm { start: memory.start(), size: memory.accessible() as u64 };
    _ = engine.call::<_, i64>(function, &mut vm, (WHERE, 0i64));
}

const WHERE: u64 = 0x10;

fn handle(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: all fields are numbers or nullable pointers, for which zero is valid.
    let nothing: libc::sigaction = unsafe { std::mem::zeroed() };
    let action = libc::sigaction { sa_sigaction: handler, sa_flags: flags, ..nothing };
    // SAFETY: the handler has the signature that the flags ask for, and only exits or counts.
    assert_eq!(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) }, 0);
}

extern "C" fn leave_by_one(signal: c_int) {
    // SAFETY: `_exit` is async-signal-safe.
    unsafe { libc::_exit(40 + signal) }
}

extern "C" fn leave_by_three(signal: c_int, info: *const c_int, context: *const c_void) {
    // SAFETY: the system passes a `siginfo_t`, whose third 64-bit word is the faulting address.
    let address = unsafe { info.cast::<u64>().add(2).read() };
    let is_right = address == WHERE && !context.is_null();
    // SAFETY: `_exit` is async-signal-safe.
    unsafe { libc::_exit(if is_right { 60 + signal } else { 1 }) }
}

static COUNTED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: c_int) {
    COUNTED.fetch_add(1, Ordering::Relaxed);
}

/// The name of a case, its code, and its expected end: an exit status, or a signal as the error.
type Case = (&'static str, fn(), Result<c_int, c_int>);

const CASES: [Case; 15] = [
    ("traps", traps, Ok(0)),
    (
        "a load that says nothing of bounds, in baseline code",
        || wild(|dst, at| Op::Wild { dst, at }, 0),
        Err(SIGSEGV),
    ),
    (
        "a load that says nothing of bounds, in optimized code",
        || wild(|dst, at| Op::Wild { dst, at }, 1),
        Err(SIGSEGV),
    ),
    ("a function that is called", || wild(|dst, at| Op::Call { dst, at }, 1), Err(SIGSEGV)),
    (
        "elsewhere, after traps",
        || {
            traps();
            _ = read(WHERE);
        },
        Err(SIGSEGV),
    ),
    (
        "the system's handler",
        || {
            handle(SIGSEGV, 0, 0);
            wild(|dst, at| Op::Wild { dst, at }, 1);
        },
        Err(SIGSEGV),
    ),
    (
        "nobody",
        || {
            handle(SIGSEGV, 1, 0);
            traps();
            wild(|dst, at| Op::Wild { dst, at }, 1);
        },
        Err(SIGSEGV),
    ),
    (
        "a handler of one argument",
        || {
            handle(SIGSEGV, leave_by_one as *const () as usize, 0);
            traps();
            wild(|dst, at| Op::Wild { dst, at }, 1);
        },
        Ok(40 + SIGSEGV),
    ),
    (
        "a handler of three arguments",
        || {
            handle(SIGSEGV, leave_by_three as *const () as usize, libc::SA_SIGINFO);
            traps();
            wild(|dst, at| Op::Call { dst, at }, 0);
        },
        Ok(60 + SIGSEGV),
    ),
    (
        "a handler that comes later",
        || {
            traps();
            handle(SIGSEGV, leave_by_three as *const () as usize, libc::SA_SIGINFO);
            wild(|dst, at| Op::Wild { dst, at }, 0);
        },
        Ok(60 + SIGSEGV),
    ),
    (
        "a signal that was sent and that nobody wants",
        || {
            handle(SIGSEGV, 1, 0);
            traps();
            // SAFETY: the signal is ignored.
            unsafe { libc::raise(SIGSEGV) };
            traps();
        },
        Ok(0),
    ),
    (
        "a signal that was sent to the system's handler",
        || {
            handle(SIGBUS, 0, 0);
            traps();
            // SAFETY: the signal ends the process, as intended.
            unsafe { libc::raise(SIGBUS) };
        },
        Err(SIGBUS),
    ),
    (
        "a signal that was sent to a handler",
        || {
            handle(SIGBUS, count as *const () as usize, 0);
            traps();
            // SAFETY: the handler counts the signal.
            (0..3).for_each(|_| _ = unsafe { libc::raise(SIGBUS) });
            assert_eq!(COUNTED.load(Ordering::Relaxed), 3);
            traps();
        },
        Ok(0),
    ),
    (
        "a handler for once",
        || {
            handle(SIGSEGV, count as *const () as usize, libc::SA_RESETHAND);
            traps();
            // SAFETY: the handler counts the first signal, and the second is handled by the system.
            (0..2).for_each(|_| _ = unsafe { libc::raise(SIGSEGV) });
        },
        Err(SIGSEGV),
    ),
    (
        "the stack of a thread",
        || {
            fn deep(n: u64) -> u64 {
                let room = std::hint::black_box([n; 64]);
                if n == 0 { 0 } else { deep(n - 1) + room[n as usize % 64] }
            }
            traps();
            std::hint::black_box(deep(1 << 40));
        },
        Err(6),
    ),
];

const VARIABLE: &str = "AZULEJO_FAULT";

#[test]
fn a_fault_comes_to_whom_it_belongs() {
    if let Ok(number) = std::env::var(VARIABLE) {
        let (_, run, _) = CASES[number.parse::<usize>().expect("it is a number")];
        run();
        std::process::exit(0);
    }
    let program = std::env::current_exe().expect("it has a path");
    for (number, (name, _, expected)) in CASES.iter().enumerate() {
        let mut command = Command::new(&program);
        command.args(["--exact", "a_fault_comes_to_whom_it_belongs", "--nocapture"]);
        let output = command.env(VARIABLE, number.to_string()).output().expect("it starts");
        let found = ended(output.status);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(found, *expected, "{name}: {said}");
        let is_overflow = said.contains("has overflowed its stack");
        assert_eq!(is_overflow, *name == "the stack of a thread", "{name}: {said}");
    }
}

fn ended(status: ExitStatus) -> Result<c_int, c_int> {
    status.code().ok_or_else(|| status.signal().expect("it ended by one of the two"))
}

/// Several threads fault, each in its own functions, which are discarded again. No thread takes another one's traps.
#[test]
fn threads_fault_at_the_same_time() {
    if std::env::var(VARIABLE).is_ok() {
        return;
    }
    let threads: Vec<_> = (0..6u64)
        .map(|thread| {
            std::thread::spawn(move || {
                let (engines, memory) = engines();
                let mut vm = Vm { start: memory.start(), size: memory.accessible() as u64 };
                for turn in 0..150 {
                    for engine in &engines {
                        let at = (thread + turn) as usize % 5;
                        let mut code = vec![Op::Load { dst: r(1), at: r(1) }; at];
                        code.extend([Op::Load { dst: r(2), at: r(0) }, Op::Return { a: r(2) }]);
                        let function = engine.define("load", code, 3).expect("it is right");
                        for past in [0xfff9u32, 0x7fff_ffff] {
                            let found = engine.call::<_, i64>(function, &mut vm, (past, 0i64));
                            assert_eq!(found, Err(Error::Trap { trap: Trap::User(3), at: at as u32 }));
                        }
                        assert_eq!(engine.call::<_, i64>(function, &mut vm, (8u32, 0i64)), Ok(0));
                        engine.discard(function).expect("it was defined");
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
}

#[test]
fn a_thread_without_a_stack_for_handlers_gets_one() {
    if std::env::var(VARIABLE).is_ok() {
        return;
    }
    let thread = std::thread::spawn(|| {
        let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        let mut now = none;
        // SAFETY: nothing runs on the thread's signal stack.
        unsafe { libc::sigaltstack(&none, std::ptr::null_mut()) };
        traps();
        // SAFETY: this only reads the current signal stack.
        unsafe { libc::sigaltstack(std::ptr::null(), &mut now) };
        assert!(now.ss_flags & libc::SS_DISABLE == 0 && now.ss_size >= 16 << 10);
    });
    thread.join().expect("it ends well");
}
