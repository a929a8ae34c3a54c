//! Words that machine code can name by their distance.
//!
//! In: nothing. Out: [`Word`]s in this program's own data, which is as near to the region for code as the program is; each is
//! zero at first, and belongs to one owner until it is dropped. Holds: no two are in one cache line, so a word that one thread
//! writes all the time does not slow down other threads. When all are taken, a word comes from the heap, which may be far away.

use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// How many words there are, a few for each engine.
const WORDS: usize = 1024;
const BITS: usize = u64::BITS as usize;

#[repr(align(64))]
struct Line(AtomicU64);

// Pages of unused lines cost nothing.
static LINES: [Line; WORDS] = [const { Line(AtomicU64::new(0)) }; WORDS];
/// One bit for each line: whether it is taken.
static TAKEN: [AtomicU64; WORDS / BITS] = [const { AtomicU64::new(0) }; WORDS / BITS];

/// A word at a fixed address.
///
/// ```
/// use azulejo_code::memory::near::Word;
/// use std::sync::atomic::Ordering::Relaxed;
/// let (a, b) = (Word::new(), Word::new());
/// a.store(7, Relaxed);
/// assert_eq!((a.load(Relaxed), b.load(Relaxed)), (7, 0));
/// ```
#[derive(Debug)]
pub struct Word {
    word: NonNull<AtomicU64>,
    /// The number of its line; `None` if it is on the heap.
    line: Option<usize>,
}

// SAFETY: it is an atomic word that it owns.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    /// A word that has no owner yet.
    #[allow(clippy::new_without_default, reason = "each one is another word")]
    pub fn new() -> Word {
        let line = TAKEN.iter().enumerate().find_map(|(group, taken)| {
            let claim = |taken: u64| (taken != u64::MAX).then(|| taken | (taken + 1));
            let before = taken.fetch_update(Acquire, Relaxed, claim).ok()?;
            Some(group * BITS + before.trailing_ones() as usize)
        });
        let word = match line {
            Some(at) => NonNull::from(&LINES[at].0),
            None => NonNull::from(Box::leak(Box::default())),
        };
        Word { word, line }
    }

    /// The address of the word.
    pub fn address(&self) -> u64 {
        core::ptr::from_ref::<AtomicU64>(self).addr() as u64
    }
}

impl Deref for Word {
    type Target = AtomicU64;

    #[inline(always)]
    fn deref(&self) -> &AtomicU64 {
        // SAFETY: the line is a static, and what is on the heap is there until this is dropped.
        unsafe { self.word.as_ref() }
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        match self.line {
            Some(at) => {
                self.store(0, Relaxed);
                TAKEN[at / BITS].fetch_and(!(1 << (at % BITS)), Release);
            }
            // SAFETY: it came from a box, and nobody else has it.
            None => drop(unsafe { Box::from_raw(self.word.as_ptr()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_word_is_another_one_and_zero_even_where_there_are_no_more_near_ones() {
        for _ in 0..3 {
            let words: Vec<Word> = (0..WORDS + 10).map(|_| Word::new()).collect();
            let addresses: HashSet<u64> = words.iter().map(Word::address).collect();
            assert_eq!(addresses.len(), words.len());
            assert!(words.iter().all(|word| word.swap(3, Relaxed) == 0));
            assert!(words.iter().any(|word| word.line.is_none()));
        }
    }

    #[test]
    fn threads_do_not_get_the_same_word() {
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                std::thread::spawn(move || {
                    for _ in 0..2000 {
                        let word = Word::new();
                        assert_eq!(word.swap(thread + 1, Relaxed), 0);
                        std::thread::yield_now();
                        assert_eq!(word.load(Relaxed), thread + 1);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    }
}
