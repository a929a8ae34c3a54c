//! Memory for blocks, of which the system gives several at once: a span.
//!
//! In: blocks that are wanted, and blocks in which nothing is left. Out: memory for blocks. A span goes back to the system as a whole, when
//! nobody uses any of its blocks. To ask for each block alone would take a system call for each, and twice as many addresses, since
//! the system knows nothing of their alignment. But for the first ones, a span is a large page where the system has these: a program that
//! goes here and there in many megabytes would wait for the addresses of small pages, and touching them takes 512 faults in place of
//! one. The blocks in front are used first, so that spans at the end become free.
//!
//! **Invariant:** a span's bits say which of its blocks nobody uses, and `count` is how many these are in all spans. No span in front of `first`
//! has any.

use super::spare::Least;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// The bytes of a block, and its alignment.
pub(super) const BLOCK: usize = 1 << 16;
/// How many blocks a span has.
pub(super) const SPAN: usize = u32::BITS as usize;

/// So many spans are of small pages: of these a small program takes only what it touches.
const SMALL: usize = 2;

/// Some blocks, one behind another.
struct Span {
    start: *mut u8,
    layout: Layout,
    /// A bit for each block, which says that nobody uses it.
    free: u32,
}

/// All spans.
#[derive(Default)]
pub(super) struct Spans {
    /// A span keeps its place, since its blocks know that.
    places: Vec<Option<Span>>,
    first: usize,
    count: usize,
    /// How many unused blocks there were at least since the last sweep has begun.
    least: Least,
}

/// Tells the system that a span is better as one large page.
fn prefer_large_page(span: *mut u8) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the memory is there, and this changes nothing in it. A system without large pages refuses.
    unsafe {
        libc::madvise(span.cast(), SPAN * BLOCK, libc::MADV_HUGEPAGE);
    }
    let _ = span;
}

impl Span {
    fn new(is_large: bool) -> Span {
        let align = if is_large { SPAN * BLOCK } else { BLOCK };
        let layout = Layout::from_size_align(SPAN * BLOCK, align).expect("a span has a size");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        if is_large {
            prefer_large_page(start);
        }
        Span { start, layout, free: u32::MAX }
    }

    fn is_unused(&self) -> bool {
        self.free == u32::MAX
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and whoever drops it uses none of its blocks.
        unsafe { dealloc(self.start, self.layout) };
    }
}

impl Spans {
    /// Memory for a block, and the place of its span.
    pub(super) fn take(&mut self) -> (*mut u8, u32) {
        let mut behind = self.places[self.first..].iter();
        let found = behind.position(|span| span.as_ref().is_some_and(|span| span.free != 0));
        self.first = match found {
            Some(distance) => self.first + distance,
            None => self.add(),
        };
        let span = self.places[self.first].as_mut().expect("the span is there");
        let number = span.free.trailing_zeros();
        span.free &= !(1 << number);
        self.count -= 1;
        self.least.note(self.count);
        (span.start.wrapping_add(number as usize * BLOCK), self.first as u32)
    }

    /// Adds a span; returns its place.
    fn add(&mut self) -> usize {
        let place = self.places.iter().position(Option::is_none).unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(Span::new(place >= SMALL));
        self.count += SPAN;
        place
    }

    /// Takes back a block of the span at this place.
    pub(super) fn give_back(&mut self, block: *mut u8, place: u32) {
        let place = place as usize;
        let span = self.places[place].as_mut().expect("a block's span is there");
        span.free |= 1 << ((block.addr() - span.start.addr()) / BLOCK);
        self.count += 1;
        self.first = self.first.min(place);
    }

    /// Called when a sweep begins: how many blocks nobody has wanted since the last one has.
    pub(super) fn begin_sweep(&mut self) -> usize {
        self.least.begin(self.count)
    }

    /// Gives a span to the system, if there is one whose blocks nobody uses; returns whether there was.
    pub(super) fn release(&mut self) -> bool {
        let is_unused = |span: &Option<Span>| span.as_ref().is_some_and(Span::is_unused);
        let Some(place) = self.places.iter().rposition(is_unused) else { return false };
        self.places[place] = None;
        self.count -= SPAN;
        self.least.note(self.count);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn blocks_are_aligned_and_nobody_shares_one() {
        let mut spans = Spans::default();
        let blocks: Vec<(*mut u8, u32)> = (0..3 * SPAN + 1).map(|_| spans.take()).collect();
        let addresses: HashSet<usize> = blocks.iter().map(|(block, _)| block.addr()).collect();
        assert_eq!(addresses.len(), blocks.len());
        for (number, (block, _)) in blocks.iter().enumerate() {
            assert!(block.addr().is_multiple_of(BLOCK));
            // SAFETY: the block is this large, and nobody else has it.
            unsafe { block.write_bytes(number as u8, BLOCK) };
        }
        for (number, (block, _)) in blocks.iter().enumerate() {
            // SAFETY: it was written.
            let [first, last] = [0, BLOCK - 1].map(|at| unsafe { *block.add(at) });
            assert_eq!([first, last], [number as u8; 2]);
        }
        assert_eq!(spans.count, SPAN - 1);
    }

    #[test]
    fn what_is_wanted_next_is_what_was_given_back_in_front() {
        let mut spans = Spans::default();
        let blocks: Vec<(*mut u8, u32)> = (0..2 * SPAN).map(|_| spans.take()).collect();
        for at in [SPAN + 3, 5, 7] {
            spans.give_back(blocks[at].0, blocks[at].1);
        }
        let again = [5, 7, SPAN + 3].map(|at| blocks[at]);
        assert_eq!([(); 3].map(|()| spans.take()), again);
        assert_eq!(spans.count, 0);
    }

    #[test]
    fn a_span_goes_back_when_nobody_uses_it() {
        let mut spans = Spans::default();
        let blocks: Vec<(*mut u8, u32)> = (0..3 * SPAN).map(|_| spans.take()).collect();
        assert!(!spans.release());
        // All blocks of the second span, and all but one of the others.
        for (at, (block, place)) in blocks.iter().enumerate() {
            if at != 0 && at != 3 * SPAN - 1 {
                spans.give_back(*block, *place);
            }
        }
        assert_eq!(
            (spans.begin_sweep(), spans.begin_sweep()),
            (0, 3 * SPAN - 2),
            "they were not there before"
        );
        assert!(spans.release() && !spans.release());
        assert_eq!(spans.count, 2 * SPAN - 2);
        // Its place is there for another span.
        let places: Vec<u32> = (0..2 * SPAN - 1).map(|_| spans.take().1).collect();
        assert_eq!(places.last(), Some(&1));
        assert_eq!((spans.places.len(), spans.count), (3, SPAN - 1));
        assert_eq!(spans.begin_sweep(), 0);
    }
}
