//! A stack for signal handlers, for threads that have none.
//!
//! Compiled code leaves room on the thread's own stack, on which the handler could run; a handler that runs because that is used up
//! could not. The system keeps a thread's choice: what is there already stays, and what is made here goes when the
//! thread ends.

use core::ffi::{c_int, c_void};
use memmap2::MmapMut;

/// `stack_t`.
#[repr(C)]
struct Stack {
    start: *mut c_void,
    flags: c_int,
    size: usize,
}

unsafe extern "C" {
    fn sigaltstack(new: *const Stack, old: *mut Stack) -> c_int;
}

const IS_NONE: c_int = 2;
const SIZE: usize = 64 << 10;

/// What a thread got from here.
struct Own(Option<MmapMut>);

impl Own {
    fn new() -> Own {
        let mut now = Stack { start: core::ptr::null_mut(), flags: IS_NONE, size: 0 };
        // SAFETY: the system only writes what it knows.
        let is_known = unsafe { sigaltstack(core::ptr::null(), &mut now) } == 0;
        if !is_known || now.flags & IS_NONE == 0 {
            return Own(None);
        }
        // A thread without such a stack still has its own.
        let Ok(mut memory) = MmapMut::map_anon(SIZE) else { return Own(None) };
        let new = Stack { start: memory.as_mut_ptr().cast(), flags: 0, size: SIZE };
        // SAFETY: the memory is there until `drop` has told the system otherwise.
        unsafe { sigaltstack(&new, core::ptr::null_mut()) };
        Own(Some(memory))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let Some(memory) = &self.0 else { return };
        let mut now = Stack { start: core::ptr::null_mut(), flags: IS_NONE, size: 0 };
        let none = Stack { start: core::ptr::null_mut(), flags: IS_NONE, size: 0 };
        // SAFETY: nothing runs on it, since this does not. If somebody put another in its place, that one stays.
        unsafe {
            sigaltstack(core::ptr::null(), &mut now);
            if core::ptr::eq(now.start, memory.as_ptr().cast()) {
                sigaltstack(&none, core::ptr::null_mut());
            }
        }
    }
}

pub(super) fn prepare() {
    thread_local! {
        static OWN: Own = Own::new();
    }
    // A thread that is ending needs none any more.
    _ = OWN.try_with(|_| ());
}
