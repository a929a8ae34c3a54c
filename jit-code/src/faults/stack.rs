//! A stack for signal handlers, for threads that have none.
//!
//! Compiled code leaves room on the thread's own stack, on which the handler could run; but a handler that runs because that
//! stack overflowed needs another one. The system keeps an alternate stack per thread: one that exists already stays, and one
//! that is made here is removed when the thread ends.

use memmap2::MmapMut;

const SIZE: usize = 64 << 10;

const NONE: libc::stack_t =
    libc::stack_t { ss_sp: core::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };

/// The alternate stack that a thread got from here.
struct Own(Option<MmapMut>);

impl Own {
    fn new() -> Own {
        let mut now = NONE;
        // SAFETY: the system only writes the current state.
        let is_known = unsafe { libc::sigaltstack(core::ptr::null(), &mut now) } == 0;
        if !is_known || now.ss_flags & libc::SS_DISABLE == 0 {
            return Own(None);
        }
        // A thread without an alternate stack still has its own.
        let Ok(mut memory) = MmapMut::map_anon(SIZE) else { return Own(None) };
        let new = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIZE };
        // SAFETY: the memory is mapped until `drop` has removed it.
        unsafe { libc::sigaltstack(&new, core::ptr::null_mut()) };
        Own(Some(memory))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let Some(memory) = &self.0 else { return };
        let mut now = NONE;
        // SAFETY: no handler runs on it, since this code runs. If other code has installed another stack, that one stays.
        unsafe {
            libc::sigaltstack(core::ptr::null(), &mut now);
            if core::ptr::eq(now.ss_sp, memory.as_ptr().cast()) {
                libc::sigaltstack(&NONE, core::ptr::null_mut());
            }
        }
    }
}

pub(super) fn prepare() {
    thread_local! {
        static OWN: Own = Own::new();
    }
    // A thread that is ending needs no alternate stack.
    _ = OWN.try_with(|_| ());
}
