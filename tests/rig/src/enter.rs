//! Enters compiled code as a caller that checks everything that the code must preserve.
//!
//! In: compiled code and its arguments. Out: how it was left, or what it failed to preserve: the callee-saved registers,
//! which hold known values during the call, the stack pointer, the direction flag, or the rounding mode.

use azulejo::x64::RawStatus;
use std::arch::naked_asm;
use std::mem::offset_of;

/// The callee-saved registers, in the order in which `call` sets them.
const KEPT: [&str; 6] = ["rbx", "rbp", "r12", "r13", "r14", "r15"];

/// The caller's state before and after the call.
#[derive(Default)]
#[repr(C)]
struct Around {
    given: [u64; 6],
    found: [u64; 6],
    stack_before: u64,
    stack_after: u64,
    flags_after: u64,
    rounding_before: u32,
    rounding_after: u32,
}

/// The bit of the direction flag.
const BACKWARD: u64 = 1 << 10;
/// The bits for exceptions that occurred; code may change these.
const EXCEPTIONS: u32 = 0x3f;

/// Calls compiled code.
///
/// # Safety
///
/// `entry` must be the entry point of compiled code, and the caller must meet the contract of `Compiled::enter` or
/// `BaselineCode::enter`. The code must not unwind.
pub(crate) unsafe fn enter(
    entry: *const u8,
    context: *mut (),
    frame: *mut u64,
    third: *const (),
) -> Result<RawStatus, &'static str> {
    // These are not valid addresses: code that uses one faults.
    let given = std::array::from_fn(|at| 0xdead_0000_0000_0000 + at as u64);
    let mut around = Around { given, ..Around::default() };
    // SAFETY: the caller meets the contract of the code.
    let status = unsafe { call(context, frame, third, entry, &mut around) };
    let changed = (0..KEPT.len()).find(|at| around.found[*at] != around.given[*at]);
    match changed {
        Some(at) => Err(KEPT[at]),
        None if around.stack_before != around.stack_after => Err("rsp"),
        None if around.flags_after & BACKWARD != 0 => Err("the direction flag"),
        None if (around.rounding_before ^ around.rounding_after) & !EXCEPTIONS != 0 => Err("mxcsr"),
        None => Ok(status),
    }
}

/// Sets the registers of [`KEPT`], calls the code, and records their values afterwards.
#[unsafe(naked)]
unsafe extern "sysv64" fn call(
    context: *mut (),
    frame: *mut u64,
    third: *const (),
    entry: *const u8,
    around: &mut Around,
) -> RawStatus {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        // Seven words with the return address: one more aligns the stack for a call.
        "push r8",
        "mov [r8 + {stack_before}], rsp",
        "stmxcsr [r8 + {rounding_before}]",
        "mov rbx, [r8 + {given}]",
        "mov rbp, [r8 + {given} + 8]",
        "mov r12, [r8 + {given} + 16]",
        "mov r13, [r8 + {given} + 24]",
        "mov r14, [r8 + {given} + 32]",
        "mov r15, [r8 + {given} + 40]",
        "call rcx",
        "mov r8, [rsp]",
        "mov [r8 + {stack_after}], rsp",
        "stmxcsr [r8 + {rounding_after}]",
        "pushfq",
        "pop [r8 + {flags_after}]",
        "mov [r8 + {found}], rbx",
        "mov [r8 + {found} + 8], rbp",
        "mov [r8 + {found} + 16], r12",
        "mov [r8 + {found} + 24], r13",
        "mov [r8 + {found} + 32], r14",
        "mov [r8 + {found} + 40], r15",
        "cld",
        "ldmxcsr [r8 + {rounding_before}]",
        "pop r8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        given = const offset_of!(Around, given),
        found = const offset_of!(Around, found),
        stack_before = const offset_of!(Around, stack_before),
        stack_after = const offset_of!(Around, stack_after),
        flags_after = const offset_of!(Around, flags_after),
        rounding_before = const offset_of!(Around, rounding_before),
        rounding_after = const offset_of!(Around, rounding_after),
    )
}
