//! A caller of compiled code that tests unwinding through that code.
//!
//! It puts known values into all callee-saved registers and calls the code. A native function called by the code then
//! checks the values that the unwinder finds for these registers, and panics.

/// A call of compiled code.
#[derive(Clone, Copy)]
#[cfg_attr(not(all(unix, not(target_os = "macos"))), expect(dead_code, reason = "nobody looks there"))]
pub(crate) struct Run {
    /// The entry point of the code.
    pub(crate) entry: *const u8,
    /// The arguments.
    pub(crate) context: *mut (),
    pub(crate) frame: *mut u64,
    pub(crate) third: *const (),
}

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) use present::{check, look_and_panic};

#[cfg(all(unix, not(target_os = "macos")))]
mod present {
    use super::Run;
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    // Puts 0x1001 to 0x1006 into rbx, rbp and r12 to r15, and calls the function in rcx with the first three arguments. The
    // frame is 64 bytes: the return address, six registers, and 8 bytes of padding.
    std::arch::global_asm!(
        ".global azulejo_test_call, azulejo_test_called",
        "azulejo_test_call:",
        ".cfi_startproc",
        "push rbx; push rbp; push r12; push r13; push r14; push r15; sub rsp, 8",
        ".cfi_def_cfa_offset 64",
        ".cfi_offset rbx, -16; .cfi_offset rbp, -24; .cfi_offset r12, -32",
        ".cfi_offset r13, -40; .cfi_offset r14, -48; .cfi_offset r15, -56",
        "mov ebx, 0x1001; mov ebp, 0x1002; mov r12d, 0x1003; mov r13d, 0x1004; mov r14d, 0x1005; mov r15d, 0x1006",
        "call rcx",
        "azulejo_test_called:",
        "add rsp, 8; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx",
        "ret",
        ".cfi_endproc",
    );

    unsafe extern "sysv64-unwind" {
        fn azulejo_test_call(context: *mut (), frame: *mut u64, third: *const (), entry: *const u8);
        fn azulejo_test_called();
    }

    unsafe extern "C" {
        fn _Unwind_Backtrace(step: extern "C" fn(*mut c_void, *mut bool) -> c_int, found: *mut bool)
        -> c_int;
        fn _Unwind_GetIP(frame: *mut c_void) -> usize;
        fn _Unwind_GetGR(frame: *mut c_void, register: c_int) -> usize;
    }

    thread_local! {
        static ARMED: Cell<bool> = const { Cell::new(false) };
        /// The address range of code that keeps the frame pointer.
        static KEEPS_POINTER: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    extern "C" fn step(frame: *mut c_void, found: *mut bool) -> c_int {
        let called = azulejo_test_called as *const () as usize;
        // SAFETY: the unwinder passes a valid frame.
        let address = unsafe { _Unwind_GetIP(frame) };
        let (start, end) = KEEPS_POINTER.get();
        if (start..end).contains(&address) {
            // SAFETY: rbp points to the pair that a profiler reads: the caller's rbp, and the return address.
            let pair = unsafe { *(_Unwind_GetGR(frame, 6) as *const [usize; 2]) };
            assert_eq!(pair, [0x1002, called], "the chain of frames");
        }
        if address != called {
            return 0;
        }
        // The DWARF numbers of rbx, rbp and r12 to r15.
        // SAFETY: as above.
        let registers = [3, 6, 12, 13, 14, 15].map(|register| unsafe { _Unwind_GetGR(frame, register) });
        assert_eq!(registers, [0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x1006], "rbx, rbp, r12 to r15");
        // SAFETY: `look_and_panic` passed this pointer.
        unsafe { *found = true };
        1
    }

    struct Stopped;

    /// Checks the registers and panics, but only while `check` runs.
    pub(crate) fn look_and_panic() {
        if ARMED.get() {
            let mut found = false;
            // SAFETY: `step` has the signature that the unwinder expects, and `found` outlives the call.
            unsafe { _Unwind_Backtrace(step, &mut found) };
            assert!(found, "the unwinder does not get through the compiled frame");
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Calls code that calls [`look_and_panic`]. If the code keeps the frame pointer, `keeps_pointer` is its size in bytes.
    ///
    /// # Safety
    ///
    /// The code must be a compiled function, and the arguments must meet its contract.
    pub(crate) unsafe fn check(run: Run, keeps_pointer: Option<usize>, report: &dyn Fn() -> String) {
        let start = run.entry.addr();
        KEEPS_POINTER.set((start, start + keeps_pointer.unwrap_or(0)));
        ARMED.set(true);
        // SAFETY: the caller meets the contract of the code.
        let call = || unsafe { azulejo_test_call(run.context, run.frame, run.third, run.entry) };
        let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("it panics");
        ARMED.set(false);
        assert!(payload.is::<Stopped>(), "{}", report());
    }
}

/// The unwinder is not tested on this system.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn look_and_panic() {}

/// The unwinder is not tested on this system.
///
/// # Safety
///
/// It does nothing, so it has no requirements.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) unsafe fn check(_: Run, _: Option<usize>, _: &dyn Fn() -> String) {}
