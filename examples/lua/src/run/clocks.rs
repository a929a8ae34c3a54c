//! What takes a program's time beside its own code, if somebody wants to know.
//!
//! In: beginnings and ends. Out: sums. Nobody reads a clock if nobody wants to know.

use std::time::{Duration, Instant};

/// Sums of times and counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    is_on: bool,
    /// Reading source text.
    pub(crate) reading: Duration,
    /// Making bytecode of it.
    pub(crate) compiling: Duration,
    /// The collector, without finalizers.
    pub(crate) collecting: Duration,
    /// How often the collector worked, and how often it has come around the whole heap.
    pub(crate) steps: u64,
    pub(crate) cycles: u64,
    /// The longest time that the collector worked at once.
    pub(crate) longest: Duration,
    /// The most bytes that the heap had when the collector began to work.
    pub(crate) most_bytes: usize,
}

impl Clocks {
    /// Clocks that run, or none.
    pub(super) fn new(is_on: bool) -> Clocks {
        Clocks { is_on, ..Clocks::default() }
    }

    /// Something begins.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.is_on.then(Instant::now)
    }

    /// A text that has been read since then.
    pub(crate) fn read(&mut self, since: Option<Instant>) {
        self.reading += elapsed(since);
    }

    /// Bytecode that has been made since then.
    pub(crate) fn compiled(&mut self, since: Option<Instant>) {
        self.compiling += elapsed(since);
    }

    /// The collector has worked since then, in a heap of so many bytes; it may have ended a cycle.
    pub(super) fn collected(&mut self, since: Option<Instant>, bytes: usize, has_ended_cycle: bool) {
        if since.is_some() {
            let time = elapsed(since);
            self.collecting += time;
            self.longest = self.longest.max(time);
            self.steps += 1;
            self.cycles += has_ended_cycle as u64;
            self.most_bytes = self.most_bytes.max(bytes);
        }
    }
}

fn elapsed(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| since.elapsed())
}
