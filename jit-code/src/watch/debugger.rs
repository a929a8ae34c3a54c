//! Compiled code for debuggers, by the interface that GDB and LLDB look for in a process; for systems whose programs are ELF
//! files.
//!
//! In: an object file in memory for each function ([`super::elf`]). Out: an [`Announced`] for it, as long as which debuggers
//! know the function: they show its name and find its caller from any of its instructions. Debuggers find two symbols by name:
//! the descriptor of the list of all object files, and a function that is called after each change of the list, in which they
//! set a breakpoint. Both symbols are weak, so that programs may contain other compilers that define them.

use super::elf;
use crate::unwind::{self, Described};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An entry of the list.
#[repr(C)]
#[derive(Debug)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

/// The descriptor that debuggers read.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    changed: *mut Entry,
    first: *mut Entry,
}

const ADDED: u32 = 1;
const REMOVED: u32 = 2;

core::arch::global_asm!(
    ".pushsection .text.__jit_debug_register_code, \"ax\", @progbits",
    ".weak __jit_debug_register_code",
    ".type __jit_debug_register_code, @function",
    "__jit_debug_register_code:",
    "ret",
    ".size __jit_debug_register_code, 1",
    ".popsection",
    ".pushsection .data.__jit_debug_descriptor, \"aw\", @progbits",
    ".weak __jit_debug_descriptor",
    ".type __jit_debug_descriptor, @object",
    ".p2align 3",
    "__jit_debug_descriptor:",
    ".long 1, 0",
    ".quad 0, 0",
    ".size __jit_debug_descriptor, 24",
    ".popsection",
);

unsafe extern "C" {
    fn __jit_debug_register_code();
    static mut __jit_debug_descriptor: Descriptor;
}

/// Held while the list changes.
static CHANGING: Mutex<()> = Mutex::new(());

/// A function that has been announced to debuggers.
#[derive(Debug)]
pub struct Announced {
    /// Made by [`Box::into_raw`]: the list holds its address.
    entry: *mut Entry,
    _file: Box<[u8]>,
}

// SAFETY: the entry is accessed only under the lock.
unsafe impl Send for Announced {}
// SAFETY: as above.
unsafe impl Sync for Announced {}

impl Announced {
    /// Announces the code that runs at `address` to debuggers.
    pub(crate) fn new(name: &str, code: &Described<'_>, address: *const u8) -> Option<Announced> {
        let rules = unwind::of_function(code, address.addr());
        let file = elf::object(code.machine.elf, name, address.addr(), code.end, &rules);
        let entry =
            Entry { next: null_mut(), previous: null_mut(), file: file.as_ptr(), size: file.len() as u64 };
        let entry = Box::into_raw(Box::new(entry));
        change(ADDED, entry, |descriptor| {
            // SAFETY: the lock is held, so no other thread accesses this entry and the first one, and both are alive.
            unsafe {
                (*entry).next = descriptor.first;
                if let Some(first) = descriptor.first.as_mut() {
                    first.previous = entry;
                }
            }
            descriptor.first = entry;
        });
        Some(Announced { entry, _file: file })
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        change(REMOVED, self.entry, |descriptor| {
            // SAFETY: the lock is held, so no other thread accesses this entry and its neighbours, and all are alive.
            unsafe {
                let Entry { next, previous, .. } = *self.entry;
                if let Some(next) = next.as_mut() {
                    next.previous = previous;
                }
                match previous.as_mut() {
                    Some(previous) => previous.next = next,
                    None => descriptor.first = next,
                }
            }
        });
        // SAFETY: the entry was made by `Box::into_raw`, and is no longer in the list.
        drop(unsafe { Box::from_raw(self.entry) });
    }
}

/// Keeps other threads from changing the list.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    // Nothing in here panics halfway through a change.
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change(action: u32, entry: *mut Entry, change: impl FnOnce(&mut Descriptor)) {
    let _lock = hold();
    // SAFETY: the lock is held, and the debugger reads the list only while the program is stopped in the function that is
    // called.
    unsafe {
        let descriptor = &raw mut __jit_debug_descriptor;
        let descriptor = &mut *descriptor;
        change(descriptor);
        descriptor.action = action;
        descriptor.changed = entry;
        __jit_debug_register_code();
        descriptor.action = 0;
        descriptor.changed = null_mut();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::toy;

    fn listed() -> Vec<*mut Entry> {
        let _lock = hold();
        let descriptor = &raw const __jit_debug_descriptor;
        // SAFETY: the lock is held.
        let mut next = unsafe { (*descriptor).first };
        let mut all = Vec::new();
        while !next.is_null() {
            all.push(next);
            // SAFETY: all entries of the list are alive.
            next = unsafe { (*next).next };
        }
        all
    }

    #[test]
    fn functions_are_in_the_list_as_long_as_they_are_announced() {
        let code = toy::finished(&[0; 32]);
        let mut announced: Vec<Announced> = (0..4)
            .filter_map(|at| Announced::new("f", &code.described, std::ptr::without_provenance(at << 12)))
            .collect();
        assert_eq!(announced.len(), 4);
        for remove in [1, 2, 0, 0] {
            let all = listed();
            assert!(announced.iter().all(|announced| all.contains(&announced.entry)));
            let removed = announced.remove(remove).entry;
            assert!(!listed().contains(&removed));
        }
    }
}
