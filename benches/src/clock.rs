//! How long this thread has been running: time in which the system ran others does not count.

/// Nanoseconds since some moment.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> u64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    /// `CLOCK_THREAD_CPUTIME_ID`
    const OF_THREAD: i32 = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the system writes the struct, which is laid out as it says on 64-bit Linux.
    let status = unsafe { clock_gettime(OF_THREAD, &raw mut time) };
    assert_eq!(status, 0, "every thread has a clock");
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Nanoseconds since some moment; where the system has no such clock, time in which it ran others counts as well.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}
