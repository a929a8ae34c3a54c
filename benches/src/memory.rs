//! Counts heap allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, with counters.
pub(crate) struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

fn count(layout: Layout) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    let live = LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed) + layout.size() as u64;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout);
        // SAFETY: the caller upholds the requirements of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    /// The default implementation would write zeros even to fresh pages from the system, which are zero already.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(address, layout) }
    }
}

/// The heap use of a measured action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The number of allocations.
    pub allocations: u64,
    /// The peak of allocated bytes, relative to the start.
    pub peak: u64,
    /// The number of bytes still allocated at the end, relative to the start.
    pub kept: i64,
}

/// The number of allocated bytes, and the number of allocations so far.
pub(crate) fn now() -> (u64, u64) {
    (LIVE.load(Ordering::Relaxed), ALLOCATIONS.load(Ordering::Relaxed))
}

/// Runs an action and measures its heap use.
pub(crate) fn counted<R>(run: impl FnOnce() -> R) -> (R, Use) {
    let (allocations, live) = (ALLOCATIONS.load(Ordering::Relaxed), LIVE.load(Ordering::Relaxed));
    PEAK.store(live, Ordering::Relaxed);
    let result = run();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let kept = LIVE.load(Ordering::Relaxed) as i64 - live as i64;
    (result, Use { allocations, peak: PEAK.load(Ordering::Relaxed) - live, kept })
}
