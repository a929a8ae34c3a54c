//! Code that stays in code memory although it will not run any more, so that code memory is nearly full all the time.
//!
//! In: code that was run. Out: room, when code memory is full, by dropping some of the kept code; and whether all kept
//! bytes were still unchanged.

use crate::run::Made;
use crate::subject::Subject;
use azulejo_core::random::Random;

/// What is kept of one code memory.
pub(crate) struct Kept<M: Subject> {
    all: Vec<(Made<M>, Box<[u8]>)>,
    random: Random,
}

impl<M: Subject> Kept<M> {
    pub(crate) fn new() -> Kept<M> {
        Kept { all: Vec::new(), random: Random::new(1) }
    }

    pub(crate) fn keep(&mut self, made: Made<M>) {
        let bytes = made.bytes().into();
        self.all.push((made, bytes));
    }

    /// Drops about half of the kept code at random, so that free memory is fragmented. Returns `None` if nothing is kept,
    /// and otherwise whether all kept code was still as compiled.
    pub(crate) fn make_room(&mut self) -> Option<bool> {
        let are_whole = self.all.iter().all(|(made, bytes)| made.bytes() == &**bytes);
        self.all.pop()?;
        let random = &mut self.random;
        self.all.retain(|_| random.one_in(2));
        Some(are_whole)
    }
}
