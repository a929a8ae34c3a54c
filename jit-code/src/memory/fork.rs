//! What becomes of code when the process is copied.
//!
//! In: the regions of the process, as they come and go. Out: a child that has all of their code at the same addresses, in
//! memory of its own, so that it may go on in it and make more; and a parent for which nothing changes. The C library calls
//! three handlers, which are installed with the first region:
//!
//! - Before the fork the thread takes all locks that a child could find taken, by threads that it does not have,
//!   and copies what shared memory holds: behind the fork the parent may overwrite it at any time.
//! - Behind it the parent drops the copies, and the child has them take the place of what is shared.
//! - Both then give the locks back.
//!
//! A child that is made without the C library's `fork` shares the memory and must not use it.

use super::{AtFork, Region};
use crate::{faults, unwind};
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often this process and those before it were copied.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// A number that is another one in a child: what threads were there when it was the old one are there no more.
///
/// ```
/// let before = azulejo_code::memory::fork::generation();
/// assert_eq!(azulejo_code::memory::fork::generation(), before);
/// ```
pub fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

/// A region that is there until it has been removed.
struct Listed(*const Region);

// SAFETY: regions may be used by any thread.
unsafe impl Send for Listed {}

static ALL: Mutex<Vec<Listed>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<Listed>> {
    // Nothing panics halfway through a change of the list.
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has children get a copy of this region from now on; it must be [removed](remove) before it goes.
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

/// Takes a lock that children must not find taken; it is given back when what this gives is dropped.
pub type TakeLock = fn() -> Box<dyn Any>;

static LOCKS: Mutex<Vec<TakeLock>> = Mutex::new(Vec::new());

/// Has a lock of another crate taken before each fork from now on, too. Who has it must not install code.
pub fn protect(take: TakeLock) {
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner).push(take);
}

/// What a thread holds while it makes a child. What is given back first comes first: regions stay as long as the list is held.
struct Held {
    regions: Vec<AtFork<'static>>,
    _others: Vec<Box<dyn Any>>,
    _locks: MutexGuard<'static, Vec<TakeLock>>,
    _faults: Option<faults::Held>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    _debugger: MutexGuard<'static, ()>,
    _unwinder: MutexGuard<'static, ()>,
    _all: MutexGuard<'static, Vec<Listed>>,
}

impl Held {
    fn take() -> Held {
        let all = all();
        let locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: what is in the list is there until it is removed, which nobody can do before the list is given back.
        let regions = all.iter().map(|listed| unsafe { &*listed.0 }.before_fork()).collect();
        Held {
            regions,
            _all: all,
            _unwinder: unwind::hold(),
            #[cfg(all(unix, not(target_vendor = "apple")))]
            _debugger: crate::watch::debugger::hold(),
            _others: locks.iter().map(|take| take()).collect(),
            _locks: locks,
            _faults: faults::hold(),
        }
    }
}

#[cfg(unix)]
mod handlers {
    use super::super::AtFork;
    use super::{GENERATION, Held};
    use std::cell::UnsafeCell;
    use std::sync::Once;
    use std::sync::atomic::Ordering;

    /// From before a fork until behind it.
    struct Slot(UnsafeCell<Option<Held>>);

    // SAFETY: who holds the list of all regions has it alone.
    unsafe impl Sync for Slot {}

    static SLOT: Slot = Slot(UnsafeCell::new(None));

    pub(super) fn install() {
        static INSTALLED: Once = Once::new();
        // SAFETY: the handlers do what handlers of a fork may. If the system has no memory for three addresses, it has none
        // for a child.
        INSTALLED.call_once(|| _ = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) });
    }

    unsafe extern "C" fn prepare() {
        let held = Held::take();
        // SAFETY: this thread holds the list.
        unsafe { *SLOT.0.get() = Some(held) };
    }

    unsafe extern "C" fn parent() {
        // SAFETY: this thread held the list before the fork, and has it still.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_parent);
    }

    unsafe extern "C" fn child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above; it is the only thread.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_child);
    }
}
