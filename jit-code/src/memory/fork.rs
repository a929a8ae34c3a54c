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

/// A lock that children must not find taken.
trait Lock: Sync {
    /// It is given back when what this gives is dropped.
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
    // As above.
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a lock of another crate taken before each fork from now on, too. Whoever takes the lock calls this before, as often
/// as they like. (A `Once` around the call would be one more lock: a child could be made while another thread is in it, and
/// would wait there forever.) A thread that holds the lock must not install code.
pub fn protect<T: Send>(lock: &'static Mutex<T>) {
    let mut locks = locks();
    if !locks.iter().any(|known| core::ptr::addr_eq(*known, lock)) {
        locks.push(lock);
    }
}

/// What a thread holds while it makes a child. What is given back first comes first: regions stay as long as the list is held.
struct Held {
    regions: Vec<AtFork<'static>>,
    _others: Vec<Box<dyn Any>>,
    _locks: MutexGuard<'static, Locks>,
    _faults: Option<faults::Held>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    _debugger: MutexGuard<'static, ()>,
    _unwinder: MutexGuard<'static, ()>,
    _all: MutexGuard<'static, Vec<Listed>>,
}

impl Held {
    fn take() -> Held {
        let all = all();
        let locks = locks();
        // SAFETY: what is in the list is there until it is removed, which nobody can do before the list is given back.
        let regions = all.iter().map(|listed| unsafe { &*listed.0 }.before_fork()).collect();
        Held {
            regions,
            _all: all,
            _unwinder: unwind::hold(),
            #[cfg(all(unix, not(target_vendor = "apple")))]
            _debugger: crate::watch::debugger::hold(),
            _others: locks.iter().map(|lock| lock.take()).collect(),
            _locks: locks,
            _faults: faults::hold(),
        }
    }
}

#[cfg(unix)]
mod handlers {
    use super::super::AtFork;
    use super::{GENERATION, Held};
    use std::cell::{Cell, UnsafeCell};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// From before a fork until behind it.
    struct Slot(UnsafeCell<Option<Held>>);

    // SAFETY: who holds the list of all regions has it alone.
    unsafe impl Sync for Slot {}

    static SLOT: Slot = Slot(UnsafeCell::new(None));

    /// Has the handlers called. Threads that come here at once install them more than once, which does no harm; were they to
    /// wait for each other, a child could be made meanwhile, and would wait for a thread that it does not have.
    pub(super) fn install() {
        static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
        if !IS_INSTALLED.load(Ordering::Acquire) {
            // SAFETY: the handlers do what handlers of a fork may. If the system has no memory for three addresses, it has
            // none for a child.
            _ = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
            IS_INSTALLED.store(true, Ordering::Release);
        }
    }

    thread_local! {
        /// Whether this thread makes a child now.
        static IS_FORKING: Cell<bool> = const { Cell::new(false) };
    }

    unsafe extern "C" fn prepare() {
        if IS_FORKING.replace(true) {
            return;
        }
        let held = Held::take();
        // SAFETY: this thread holds the list.
        unsafe { *SLOT.0.get() = Some(held) };
    }

    unsafe extern "C" fn parent() {
        if !IS_FORKING.replace(false) {
            return;
        }
        // SAFETY: this thread held the list before the fork, and has it still.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_parent);
    }

    unsafe extern "C" fn child() {
        if !IS_FORKING.replace(false) {
            return;
        }
        GENERATION.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above; it is the only thread.
        let Some(mut held) = (unsafe { (*SLOT.0.get()).take() }) else { return };
        std::mem::take(&mut held.regions).into_iter().for_each(AtFork::in_child);
    }
}
