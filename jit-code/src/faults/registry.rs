//! All code of the process in which accesses may fault, by address.
//!
//! In: functions, as they are installed and dropped. Out: for a program counter, how to go on. The one who asks is a signal
//! handler, which may run at any instruction of any thread; so this is a lock that knows its owner.
//!
//! - The thread faulted in compiled code: it does not have the lock, since nothing in here is compiled code. Others have
//!   it for the length of a change of the map, and give it back whatever this thread does. So waiting ends.
//! - The thread faulted elsewhere, perhaps in here (in the memory allocator that the map uses, say): if it has the lock, its
//!   fault is none of compiled code, and is not looked up. So nobody waits for itself.
//! - The handler only reads the map: nothing is allocated, freed, or moved.

use super::Guarded;
use crate::machine::Landing;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// That a function is known. It must be dropped before the code is.
#[derive(Debug)]
pub struct Registered {
    start: usize,
}

struct Registry {
    /// The thread that has it, or zero.
    owner: AtomicUsize,
    by_start: UnsafeCell<BTreeMap<usize, Guarded>>,
}

// SAFETY: the map is touched by the owner alone.
unsafe impl Sync for Registry {}

static REGISTRY: Registry =
    Registry { owner: AtomicUsize::new(0), by_start: UnsafeCell::new(BTreeMap::new()) };

/// How often a thread looks whether the lock is free before it lets others run.
const SPINS: usize = 64;

#[cfg(unix)]
fn this_thread() -> usize {
    // SAFETY: the running thread exists. It is a load from the thread's own memory, and so allowed in signal handlers.
    unsafe { libc::pthread_self() as usize }
}

#[cfg(not(unix))]
fn this_thread() -> usize {
    // Nobody asks where there is no signal handler.
    1
}

/// The lock; given back when dropped.
pub(crate) struct Held;

impl Held {
    /// Waits for the lock; `None` if this very thread has it.
    fn take() -> Option<Held> {
        let (me, mut spins) = (this_thread(), 0);
        loop {
            match REGISTRY.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Held),
                Err(owner) if owner == me => return None,
                Err(_) => {}
            }
            spins += 1;
            match spins % SPINS {
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    fn map(&self) -> &BTreeMap<usize, Guarded> {
        // SAFETY: this thread has the lock.
        unsafe { &*REGISTRY.by_start.get() }
    }

    fn map_mut(&mut self) -> &mut BTreeMap<usize, Guarded> {
        // SAFETY: this thread has the lock, and borrows it for as long.
        unsafe { &mut *REGISTRY.by_start.get() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        REGISTRY.owner.store(0, Ordering::Release);
    }
}

impl Registered {
    /// Has faults in a function's code become traps from now on.
    pub fn new(function: Guarded) -> Registered {
        let start = function.start;
        let mut held = Held::take().expect("no signal handler installs code");
        let before = held.map_mut().insert(start, function);
        debug_assert!(before.is_none(), "two functions are at one address");
        Registered { start }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut held = Held::take().expect("no signal handler drops code");
        let function = held.map_mut().remove(&self.start);
        drop(held);
        drop(function);
    }
}

/// Takes the lock, for a thread that makes a child: there the same thread has it, and no other is there to give it back.
pub(crate) fn hold() -> Option<Held> {
    Held::take()
}

/// How a function goes on that faulted at this address, if it is at an access that may.
pub(super) fn find(pc: usize) -> Option<Landing> {
    let held = Held::take()?;
    let (_, function) = held.map().range(..=pc).next_back()?;
    (pc - function.start < function.len).then(|| function.land(pc)).flatten()
}
