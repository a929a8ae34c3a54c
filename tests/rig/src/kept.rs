//! Code that stays although nobody runs it any more, so that code memory is nearly full all the time.
//!
//! In: code that was run. Out: room, when code memory is full, by dropping some of what is kept here; and whether it was still what
//! it was.

use crate::run::Made;
use azulejo_core::random::Random;

/// What is kept of one code memory.
pub(crate) struct Kept {
    all: Vec<(Made, Box<[u8]>)>,
    random: Random,
}

impl Kept {
    pub(crate) fn new() -> Kept {
        Kept { all: Vec::new(), random: Random::new(1) }
    }

    pub(crate) fn keep(&mut self, made: Made) {
        let bytes = made.bytes().into();
        self.all.push((made, bytes));
    }

    /// Drops about half of it, here and there, so that what is free is in pieces. Nothing if there is nothing to drop; else
    /// whether all of it was as it was when it was compiled.
    pub(crate) fn make_room(&mut self) -> Option<bool> {
        let are_whole = self.all.iter().all(|(made, bytes)| made.bytes() == &**bytes);
        self.all.pop()?;
        let random = &mut self.random;
        self.all.retain(|_| random.one_in(2));
        Some(are_whole)
    }
}
