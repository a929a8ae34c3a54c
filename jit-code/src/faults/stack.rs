//! A stack for signal handlers, for threads that have none.
//!
//! Compiled code leaves room on the thread's own stack, on which the handler could run; a handler that runs because that is used up
//! could not. The system keeps a thread's choice: what is there already stays, and what is made here goes when the
//! thread ends.

use memmap2::MmapMut;

const SIZE: usize = 64 << 10;

const NONE: libc::stack_t =
    libc::stack_t { ss_sp: core::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };

/// What a thread got from here.
struct Own(Option<MmapMut>);

impl Own {
    fn new() -> Own {
        let mut now = NONE;
        // SAFETY: the system only writes what it knows.
        let is_known = unsafe { libc::sigaltstack(core::ptr::null(), &mut now) } == 0;
        if !is_known || now.ss_flags & libc::SS_DISABLE == 0 {
            return Own(None);
        }
        // A thread without such a stack still has its own.
        let Ok(mut memory) = MmapMut::map_anon(SIZE) else { return Own(None) };
        let new = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIZE };
        // SAFETY: the memory is there until `drop` has told the system otherwise.
        unsafe { libc::sigaltstack(&new, core::ptr::null_mut()) };
        Own(Some(memory))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let Some(memory) = &self.0 else { return };
        let mut now = NONE;
        // SAFETY: nothing runs on it, since this does not. If somebody put another in its place, that one stays.
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
    // A thread that is ending needs none any more.
    _ = OWN.try_with(|_| ());
}
