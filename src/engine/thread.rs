//! The bounds of the running thread's stack.

use std::ops::Range;

/// The addresses of the thread's stack; `None` if the system does not tell. A program may run on another stack than its
/// thread's, so callers must check that the stack pointer is within these addresses.
pub(super) fn stack() -> Option<Range<usize>> {
    thread_local! {
        // Cached, because for a process's first thread the C library reads a file.
        static STACK: Option<Range<usize>> = system::stack();
    }
    STACK.with(Clone::clone)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod system {
    #[cfg(target_os = "freebsd")]
    use libc::pthread_attr_get_np as pthread_getattr_np;
    #[cfg(not(target_os = "freebsd"))]
    use libc::pthread_getattr_np;
    use libc::{pthread_attr_destroy, pthread_attr_getstack, pthread_attr_init, pthread_self};
    use std::mem::MaybeUninit;
    use std::ops::Range;

    pub(super) fn stack() -> Option<Range<usize>> {
        let (mut start, mut size) = (std::ptr::null_mut(), 0);
        let mut attributes = MaybeUninit::uninit();
        let attributes = attributes.as_mut_ptr();
        // SAFETY: the system may write to all of the attributes, which are destroyed if they were initialized.
        let is_known = unsafe {
            pthread_attr_init(attributes) == 0 && {
                let is_known = pthread_getattr_np(pthread_self(), attributes) == 0
                    && pthread_attr_getstack(attributes, &mut start, &mut size) == 0;
                pthread_attr_destroy(attributes);
                is_known
            }
        };
        is_known.then(|| start.addr()..start.addr() + size)
    }
}

#[cfg(target_vendor = "apple")]
mod system {
    use libc::{pthread_get_stackaddr_np, pthread_get_stacksize_np, pthread_self};
    use std::ops::Range;

    pub(super) fn stack() -> Option<Range<usize>> {
        // SAFETY: the running thread exists.
        let (end, size) = unsafe {
            let thread = pthread_self();
            (pthread_get_stackaddr_np(thread).addr(), pthread_get_stacksize_np(thread))
        };
        Some(end - size..end)
    }
}

#[cfg(windows)]
mod system {
    use std::ops::Range;
    use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

    pub(super) fn stack() -> Option<Range<usize>> {
        let (mut low, mut high) = (0, 0);
        // SAFETY: both locals can be written.
        unsafe { GetCurrentThreadStackLimits(&mut low, &mut high) };
        Some(low..high)
    }
}

#[cfg(not(any(
    windows,
    target_vendor = "apple",
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd"
)))]
mod system {
    use std::ops::Range;

    pub(super) fn stack() -> Option<Range<usize>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_knows_its_stack() {
        let check = |at_least: usize| {
            let Some(stack) = stack() else { return };
            let here = 0u8;
            assert!(stack.contains(&(&raw const here).addr()));
            assert!(stack.len() >= at_least, "{stack:x?}");
        };
        for size in [128 << 10, 1 << 20, 16 << 20] {
            let thread = std::thread::Builder::new().stack_size(size).spawn(move || check(size - (64 << 10)));
            thread.expect("it starts").join().expect("it ends well");
        }
        check(1);
    }
}
