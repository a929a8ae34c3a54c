//! All code of the process in which accesses may fault, by address.
//!
//! In: functions, as they are installed and dropped. Out: for a program counter, where to resume. The lookup runs in a signal
//! handler, which may interrupt any instruction of any thread; so the lock records its owner.
//!
//! - A thread that faulted in compiled code does not hold the lock, since nothing in this module is compiled code. Other
//!   threads hold it only for a change of the map, and release it whatever this thread does. So waiting ends.
//! - A thread that faulted elsewhere, perhaps in this module (in the memory allocator that the map uses, say), may hold the
//!   lock. Then its fault is not one of compiled code, and is not looked up. So no thread waits for itself.
//! - The handler only reads the map: nothing is allocated, freed, or moved.

use super::Guarded;
use crate::machine::Landing;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An entry of the registry. It must be dropped before the code is.
#[derive(Debug)]
pub struct Registered {
    start: usize,
}

struct Registry {
    /// The thread that holds the lock, or zero.
    owner: AtomicUsize,
    by_start: UnsafeCell<BTreeMap<usize, Guarded>>,
}

// SAFETY: only the owner accesses the map.
unsafe impl Sync for Registry {}

static REGISTRY: Registry =
    Registry { owner: AtomicUsize::new(0), by_start: UnsafeCell::new(BTreeMap::new()) };

/// How often a thread tries the lock before it yields.
const SPINS: usize = 64;

#[cfg(unix)]
fn this_thread() -> usize {
    // SAFETY: the running thread exists. This is a load from the thread's own memory, and so it is allowed in signal handlers.
    unsafe { libc::pthread_self() as usize }
}

#[cfg(not(unix))]
fn this_thread() -> usize {
    // Without a signal handler, the registry is not used.
    1
}

/// The held lock; dropping it releases the lock.
pub(crate) struct RegistryLock;

impl RegistryLock {
    /// Waits for the lock; `None` if this thread already holds it.
    fn take() -> Option<RegistryLock> {
        let (me, mut spins) = (this_thread(), 0);
        loop {
            match REGISTRY.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(RegistryLock),
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
        // SAFETY: this thread holds the lock.
        unsafe { &*REGISTRY.by_start.get() }
    }

    fn map_mut(&mut self) -> &mut BTreeMap<usize, Guarded> {
        // SAFETY: this thread holds the lock, and `self` is borrowed for as long as the map.
        unsafe { &mut *REGISTRY.by_start.get() }
    }
}

impl Drop for RegistryLock {
    fn drop(&mut self) {
        REGISTRY.owner.store(0, Ordering::Release);
    }
}

impl Registered {
    /// Turns faults in a function's code into traps from now on.
    pub fn new(function: Guarded) -> Registered {
        let start = function.start;
        let mut held = RegistryLock::take().expect("no signal handler installs code");
        let before = held.map_mut().insert(start, function);
        debug_assert!(before.is_none(), "two functions are at one address");
        Registered { start }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut held = RegistryLock::take().expect("no signal handler drops code");
        let function = held.map_mut().remove(&self.start);
        drop(held);
        drop(function);
    }
}

/// Takes the lock around a fork: in the child only the forking thread exists, so no other thread may hold it.
pub(crate) fn hold() -> Option<RegistryLock> {
    RegistryLock::take()
}

/// Where to resume a function that faulted at this address, if an access that may fault is there.
pub(super) fn find(pc: usize) -> Option<Landing> {
    let held = RegistryLock::take()?;
    let (_, function) = held.map().range(..=pc).next_back()?;
    (pc - function.start < function.len).then(|| function.land(pc)).flatten()
}
