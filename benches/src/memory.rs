//! Counts what is allocated on the heap.

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

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout);
        // SAFETY: the caller promises what the system's allocator asks.
        unsafe { System.alloc(layout) }
    }

    /// Not the same as writing zeros: what comes fresh from the system has them.
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

/// What happened on the heap meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// How often memory was asked for.
    pub allocations: u64,
    /// The most bytes there were at once, beyond those at the start.
    pub peak: u64,
    /// How many bytes more there were at the end than at the start.
    pub kept: i64,
}

/// How many bytes there are now, and how often memory was asked for.
pub(crate) fn now() -> (u64, u64) {
    (LIVE.load(Ordering::Relaxed), ALLOCATIONS.load(Ordering::Relaxed))
}

/// Runs something and counts.
pub(crate) fn counted<R>(run: impl FnOnce() -> R) -> (R, Use) {
    let (allocations, live) = (ALLOCATIONS.load(Ordering::Relaxed), LIVE.load(Ordering::Relaxed));
    PEAK.store(live, Ordering::Relaxed);
    let result = run();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let kept = LIVE.load(Ordering::Relaxed) as i64 - live as i64;
    (result, Use { allocations, peak: PEAK.load(Ordering::Relaxed) - live, kept })
}
