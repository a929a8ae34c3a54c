//! Handles forks of the process, so that parent and child each have code of their own.
//!
//! In: the regions of the process, as they are made and dropped. Out: a child that has all of their code at the same addresses,
//! in memory of its own, so that it can continue in that code and make more; the parent is not affected. The C library calls
//! three handlers, which are installed with the first region or lock:
//!
//! - Before the fork the forking thread takes all locks that a child could otherwise find held by threads that it does not
//!   have, and copies the shared memory: after the fork the parent may overwrite it at any time.
//! - After the fork the parent drops the copies, and the child puts them in the place of the shared memory.
//! - Both then release the locks.
//!
//! A child made without the C library's `fork` shares the memory, and must not use it.

use super::{AtFork, Region};
use crate::{faults, unwind};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many forks led to this process.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// A number that differs between a process and its child: threads that existed under the old number do not exist in the child.
///
/// ```
/// let before = azulejo_code::memory::fork::generation();
/// assert_eq!(azulejo_code::memory::fork::generation(), before);
/// ```
pub fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// A region, which stays valid until it has been removed from the list.
struct Listed(*const Region);

// SAFETY: regions may be used by any thread.
unsafe impl Send for Listed {}

static ALL: Mutex<Vec<Listed>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<Listed>> {
    // Nothing panics halfway through a change of the list.
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives children a copy of this region from now on; it must be [removed](remove) before it is dropped.
pub(crate) fn add(region: *const Region) {
    #[cfg(unix)]
    handlers::install();
    all().push(Listed(region));
}

pub(crate) fn remove(region: *const Region) {
    let mut all = all();
    let at = all.iter().position(|listed| listed.0 == region);
    all.swap_remove(at.expect("it was added"));
}

/// A lock that children must not find held.
trait Lock: Sync {
    /// Takes the lock, and returns a guard.
    fn take(&'static self) -> Box<dyn Any>;
}

impl<T: Send> Lock for Mutex<T> {
    fn take(&'static self) -> Box<dyn Any> {
        Box::new(self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

type Locks = Vec<&'static dyn Lock>;

static LOCKS: Mutex<Locks> = Mutex::new(Vec::new());

fn locks() -> MutexGuard<'static, Locks> {
    // Nothing panics halfway through a change of the list.
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a lock of another crate before each fork from now on, too. Every user of the lock calls this before taking it, as
/// often as it likes. (A `Once` around the call would be one more lock: a fork while another thread is in it would make the
/// child wait forever.) A thread that holds the lock must not install code.
pub fn protect<T: Send>(lock: &'static Mutex<T>) {
    // A child may be made before any code is.
    #[cfg(unix)]
    handlers::install();
    let mut locks = locks();
    if !locks.iter().any(|known| core::ptr::addr_eq(*known, lock)) {
        locks.push(lock);
    }
}

/// The locks that a thread holds during a fork. Fields are dropped in order: the list is held longer than the regions.
struct HeldLocks {
    regions: Vec<AtFork<'static>>,
    _others: Vec<Box<dyn Any>>,
    _locks: MutexGuard<'static, Locks>,
    _faults: Option<faults::RegistryLock>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    _debugger: MutexGuard<'static, ()>,
    #[cfg(target_os = "linux")]
    _dumps: crate::watch::jitdump::HeldDumps,
    _unwinder: MutexGuard<'static, ()>,
    _all: MutexGuard<'static, Vec<Listed>>,
}

impl HeldLocks {
    fn take() -> HeldLocks {
        let all = all();
        let locks = locks();
        // SAFETY: a listed region is valid until it is removed, which takes the lock of the list.
        let regions = all.iter().map(|listed| unsafe { &*listed.0 }.before_fork()).collect();
        HeldLocks {
            regions,
            _all: all,
            _unwinder: unwind::hold(),
            #[cfg(all(unix, not(target_vendor = "apple")))]
            _debugger: crate::watch::debugger::hold(),
            #[cfg(target_os = "linux")]
            _dumps: crate::watch::jitdump::hold(),
            _others: locks.iter().map(|lock| lock.take()).collect(),
            _locks: locks,
            _faults: faults::hold(),
        }
    }
}

#[cfg(unix)]
mod handlers {
    use super::super::AtFork;
    use super::{GENERATION, HeldLocks};
    use std::cell::{Cell, UnsafeCell};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The held locks, from before a fork until after it.
    struct Slot(UnsafeCell<Option<HeldLocks>>);

    // SAFETY: only the thread that holds the list of all regions accesses the slot.
    unsafe impl Sync for Slot {}

    static SLOT: Slot = Slot(UnsafeCell::new(None));

    /// Registers the handlers. Threads that call this at the same time register them more than once, which does no harm. A lock
    /// would: a child could be made meanwhile, and would wait for a thread that it does not have.
    pub(super) fn install() {
        static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
        if !IS_INSTALLED.load(Ordering::Acquire) {
            // SAFETY: the handlers only do what fork handlers may. If the system has no memory for three addresses, it has none
            // for a child.
            _ = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
            IS_INSTALLED.store(true, Ordering::Release);
        }
    }

    thread_local! {
        /// Whether this thread is forking.
        static IS_FORKING: Cell<bool> = const { Cell::new(false) };
    }

    unsafe extern "C" fn prepare() {
        if IS_FORKING.replace(true) {
            return;
        }
        let held = HeldLocks::take();
        // SAFETY: this thread holds the list.
        unsafe { *SLOT.0.get() = Some(held) };
    }

    unsafe extern "C" fn parent() {
        if !IS_FORKING.replace(false) {
            return;
        }
        // SAFETY: this thread has held the list since before the fork.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_parent);
    }

    unsafe extern "C" fn child() {
        if !IS_FORKING.replace(false) {
            return;
        }
        GENERATION.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as in `parent`; and this is the only thread.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_child);
    }
}
