//! The CPU time of this thread, which excludes time in which other threads ran.

/// Nanoseconds since an arbitrary moment.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system call writes to a valid `timespec`.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "every thread has a clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds since an arbitrary moment. This is wall-clock time, since the system has no per-thread clock.
#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// Nanoseconds per turn in the fastest round.
pub(crate) fn fastest(rounds: usize, mut turn: impl FnMut(u32)) -> f64 {
    const TURNS: u32 = 10_000;
    let mut least = u64::MAX;
    for _ in 0..rounds {
        let start = now();
        (0..TURNS).for_each(&mut turn);
        least = least.min(now() - start);
    }
    least as f64 / TURNS as f64
}
