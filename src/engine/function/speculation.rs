//! A function's slow paths: which have run, and whether compilers leave out the others.
//!
//! In: runs in the interpreter and in baseline code, and each miss, which is an exit in front of a slow path that the optimizer left out,
//! and each gap, which is one from baseline code. Out: the slow paths that compilers compile. Any thread may ask; only the engine's
//! thread tells.
//!
//! | [`Trust`]   | Event                                         | Next      |
//! |-------------|-----------------------------------------------|-----------|
//! | `Unfounded` | the function runs outside the optimizer's code | `Founded` |
//! | `Founded`   | the optimizer's code missed too often          | `Refuted` |
//! | `Refuted`   | what sites have learned is forgotten           | `Founded` |
//!
//! Only `Founded` leaves anything out: that a slow path has never run means something if the function has. A slow path that has
//! been missed is known to run from then on. So each new compilation of the function misses less, and there are few of them. Baseline code
//! is made again at each gap, since that takes little time, and lacks nothing any more after [`GAPS`] of them.
//!
//! What sites have learned may be forgotten at any time, and as often as the program likes, and each time code is made again that knew
//! it. So after [`FORGETS`] of those baseline code reads the sites when it runs, and each time the optimizer waits for twice as long.

use azulejo_core::ir::bytecode::Bytecode;
use azulejo_core::ir::slow_paths::SlowPaths;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// After how many misses the function's optimized code is discarded, the first few times.
pub(crate) const MISSES: u32 = 8;

/// How often it is discarded after so many misses. From then on each time takes as many misses as all times before, so that a function
/// which learns late is compiled soon, and one that never stops missing is compiled seldom.
const QUICKLY: u32 = 4;

/// How often the function's optimized code is discarded for misses. After that nothing is left out any more.
pub(crate) const DISCARDS: u32 = 10;

/// The number of misses with which the code is discarded the last time.
const LAST: u32 = (MISSES * QUICKLY) << (DISCARDS - QUICKLY);

/// How often the function's baseline code is made again because it lacked something. After that it lacks nothing any more.
pub(crate) const GAPS: u32 = 8;

/// How often what the function's sites have learned is forgotten before baseline code knows nothing of it any more.
pub(crate) const FORGETS: u32 = 8;

/// How often at most the optimizer's wait is doubled.
const MOST_DOUBLINGS: u32 = 16;

const _: () = assert!((MISSES * QUICKLY).is_power_of_two(), "the numbers of misses go on from there");

/// Whether the optimizer may leave out slow paths. The module's head has the transitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Trust {
    Unfounded,
    Founded,
    Refuted,
}

/// The slow paths of a function. See the module's head.
#[derive(Debug)]
pub(crate) struct Speculation {
    slow_paths: SlowPaths,
    trust: AtomicU8,
    misses: AtomicU32,
    gaps: AtomicU32,
    forgets: AtomicU32,
}

impl Speculation {
    pub(crate) fn of<B: Bytecode>(code: &[B]) -> Speculation {
        let trust = AtomicU8::new(Trust::Unfounded as u8);
        let (misses, gaps, forgets) = Default::default();
        Speculation { slow_paths: SlowPaths::of(code), trust, misses, gaps, forgets }
    }

    pub(crate) fn slow_paths(&self) -> &SlowPaths {
        &self.slow_paths
    }

    /// The slow paths that have run, if the others are to be left out.
    pub(crate) fn left_out(&self) -> Option<&SlowPaths> {
        (self.trust.load(Relaxed) == Trust::Founded as u8).then_some(&self.slow_paths)
    }

    /// Whether baseline code leaves out the slow paths that have not run.
    pub(crate) fn has_gaps(&self) -> bool {
        self.left_out().is_some() && self.gaps.load(Relaxed) < GAPS
    }

    /// Records that baseline code was left at a bytecode for something that it lacked.
    pub(crate) fn note_gap(&self, at: u32) {
        self.slow_paths.note_gap(at);
        self.gaps.fetch_add(1, Relaxed);
    }

    /// Records that the function runs in the interpreter or in baseline code.
    #[inline(always)]
    pub(crate) fn note_run(&self) {
        if self.trust.load(Relaxed) == Trust::Unfounded as u8 {
            self.trust.store(Trust::Founded as u8, Relaxed);
        }
    }

    /// Records a miss at a bytecode. Returns whether the optimized code is to be discarded.
    pub(crate) fn note_miss(&self, at: u32) -> bool {
        self.slow_paths.note_miss(at);
        self.count_miss()
    }

    /// Records a miss, which may be one of a function that is inlined. Returns whether the optimized code is to be discarded.
    pub(crate) fn count_miss(&self) -> bool {
        let misses = self.misses.fetch_add(1, Relaxed) + 1;
        if misses >= LAST {
            self.trust.store(Trust::Refuted as u8, Relaxed);
        }
        match misses <= MISSES * QUICKLY {
            true => misses.is_multiple_of(MISSES),
            false => misses.is_power_of_two(),
        }
    }

    /// Whether baseline code may know what sites have learned.
    pub(crate) fn may_know_cases(&self) -> bool {
        self.forgets.load(Relaxed) < FORGETS
    }

    /// How many times as long as at first the function runs in baseline code, until the optimizer compiles it again after it was discarded.
    pub(crate) fn patience(&self) -> i32 {
        1 << self.forgets.load(Relaxed).min(MOST_DOUBLINGS)
    }

    /// Forgets the misses, because what sites have learned is forgotten, and they will learn again.
    pub(crate) fn forget_misses(&self) {
        self.forgets.fetch_add(1, Relaxed);
        self.misses.store(0, Relaxed);
        if self.trust.load(Relaxed) == Trust::Refuted as u8 {
            self.trust.store(Trust::Founded as u8, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[derive(Bytecode, Clone, Copy, Debug)]
    enum Op {
        Slow { a: InOut<i64> },
        Return { a: In<i64> },
    }

    fn less(a: i64) -> Result<i64, Trap> {
        Ok(a - 1)
    }

    template! {
        Op::Slow => (if (gt $a 0) $a (slow less (arglist (carg $a i64)) i64))
        Op::Return => (return $a)
    }

    fn speculation() -> Speculation {
        Speculation::of(&[Op::Slow { a: 0.into() }, Op::Return { a: 0.into() }])
    }

    #[test]
    fn nothing_is_left_out_of_a_function_that_never_ran() {
        let speculation = speculation();
        assert!(speculation.left_out().is_none());
        speculation.note_run();
        let slow_paths = speculation.left_out().expect("it has run");
        assert!(!slow_paths.have_run(0));
        slow_paths.note(0);
        slow_paths.note(7);
        assert!(slow_paths.have_run(0) && !slow_paths.have_run(1) && !slow_paths.have_run(7));
    }

    #[test]
    fn code_is_discarded_a_few_times_and_then_leaves_nothing_out() {
        let speculation = speculation();
        speculation.note_run();
        let discards = (0..MISSES << (DISCARDS + 1))
            .filter(|_| speculation.left_out().is_some() && speculation.note_miss(0));
        assert_eq!(discards.count() as u32, DISCARDS);
        speculation.note_run();
        assert!(speculation.left_out().is_none());
        speculation.forget_misses();
        assert!(speculation.left_out().is_some());
        assert!((1..MISSES).all(|_| !speculation.note_miss(0)) && speculation.note_miss(0));
    }

    #[test]
    fn code_without_slow_paths_has_no_entries() {
        let speculation = Speculation::of(&[Op::Return { a: 0.into() }]);
        speculation.slow_paths().note(0);
        assert!(!speculation.slow_paths().have_run(0));
    }
}
