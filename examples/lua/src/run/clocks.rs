//! What source text takes of a program's time, if somebody wants to know.
//!
//! In: beginnings and ends. Out: sums. Nobody reads a clock if nobody wants to know. The collector and the compilers have figures of their
//! own.

use std::time::{Duration, Instant};

/// Sums of times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    is_on: bool,
    /// Reading source text.
    pub(crate) reading: Duration,
    /// Making bytecode of it.
    pub(crate) compiling: Duration,
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
}

fn elapsed(since: Option<Instant>) -> Duration {
    since.map_or(Duration::ZERO, |since| since.elapsed())
}
