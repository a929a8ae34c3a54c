//! The frame stacks of an engine: its own, and those of its fibers.
//!
//! In: the stack of the code that runs now. Out: frames from it, and the words on all machine stacks, by which the engine finds
//! out whether discarded code is still in use. At any time one stack is the current one; each fiber has one of its own.

use super::stack::{FrameStack, Lent, TakenFrame};
use crate::Error;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::ptr::NonNull;

/// The stacks. See the module's head.
#[derive(Debug)]
pub(super) struct FrameStacks {
    own: FrameStack,
    /// The current stack; `None` for the engine's own.
    current: Cell<Option<NonNull<FrameStack>>>,
    /// All others on which calls may be active or suspended.
    others: RefCell<Vec<NonNull<FrameStack>>>,
}

impl FrameStacks {
    pub(super) fn new(own: FrameStack) -> FrameStacks {
        FrameStacks { own, current: Cell::new(None), others: RefCell::default() }
    }

    #[inline(always)]
    fn current(&self) -> &FrameStack {
        match self.current.get() {
            None => &self.own,
            // SAFETY: whoever made it the current one keeps it until another one is.
            Some(stack) => unsafe { stack.as_ref() },
        }
    }

    /// Makes another stack the current one (`None` is the engine's own), and returns the one that was.
    ///
    /// # Safety
    ///
    /// The stack must be kept, where it is, until another one becomes the current one.
    #[inline(always)]
    pub(super) unsafe fn switch_to(&self, stack: Option<NonNull<FrameStack>>) -> Option<NonNull<FrameStack>> {
        self.current.replace(stack)
    }

    /// Adds a stack on which calls may be suspended.
    ///
    /// # Safety
    ///
    /// It must be kept, where it is, until it is removed.
    pub(super) unsafe fn add(&self, stack: &FrameStack) {
        let mut others = self.others.borrow_mut();
        stack.place().set(others.len());
        others.push(NonNull::from(stack));
    }

    /// Removes a stack that was added.
    pub(super) fn remove(&self, stack: &FrameStack) {
        let mut others = self.others.borrow_mut();
        let place = stack.place().get();
        others.swap_remove(place);
        if let Some(moved) = others.get(place) {
            // SAFETY: stacks are kept until they are removed.
            unsafe { moved.as_ref() }.place().set(place);
        }
    }

    /// How many stacks there are beside the engine's own.
    pub(super) fn others(&self) -> usize {
        self.others.borrow().len()
    }

    /// Takes a frame from the current stack: see [`FrameStack::enter`].
    #[inline(always)]
    pub(super) fn enter(&self, n_slots: usize, caller: usize) -> Result<TakenFrame<'_>, Error> {
        self.current().enter(n_slots, caller)
    }

    /// See [`FrameStack::demand`].
    #[inline(always)]
    pub(super) fn demand(&self, native_bytes: usize) -> Result<(), Error> {
        self.current().demand(native_bytes)
    }

    /// See [`FrameStack::lend`].
    pub(super) fn lend(&self) -> Option<Lent<'_>> {
        self.current().lend()
    }

    /// The lowest address that the machine's stack may reach.
    #[inline(always)]
    pub(super) fn lowest(&self) -> usize {
        self.current().lowest()
    }

    /// Whether any call is active on the current stack.
    #[inline(always)]
    pub(super) fn is_in_use(&self) -> bool {
        self.current().is_in_use()
    }

    /// Whether calls are active on the current stack that were made on another machine stack than the running one.
    #[inline(always)]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.current().is_elsewhere()
    }

    /// An empty stack like the engine's own.
    pub(super) fn another(&self) -> FrameStack {
        self.own.another()
    }

    /// Whether no call is active anywhere, except on stacks that are suspended.
    pub(super) fn is_idle(&self) -> bool {
        self.current.get().is_none() && !self.own.is_in_use()
    }

    /// The words on the machine's stacks between the outermost calls and the places that these have reached, as far as they are
    /// in this range, sorted. The return addresses of all calls that are active or suspended are among them. `None` if the bounds
    /// of a stack are not known.
    pub(super) fn words_in(&self, range: Range<usize>) -> Option<Vec<usize>> {
        let others = self.others.borrow();
        // SAFETY: stacks are kept until they are removed.
        let others = others.iter().map(|stack| unsafe { stack.as_ref() });
        let mut words = Vec::new();
        for stack in std::iter::once(&self.own).chain(others) {
            let extent = stack.extent()?;
            let start = std::ptr::with_exposed_provenance::<usize>(extent.start);
            // SAFETY: all of this is within a machine stack, which is mapped.
            let word = |at| unsafe { start.wrapping_add(at).read_volatile() };
            let all = (0..extent.len() / size_of::<usize>()).map(word);
            words.extend(all.filter(|word| range.contains(word)));
        }
        words.sort_unstable();
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_frames_below_the_outermost_call_is_among_the_words() {
        #[inline(never)]
        fn below(stacks: &FrameStacks) -> bool {
            let word = std::hint::black_box(0x0123_4567_89ab_cdefusize);
            std::hint::black_box(&word);
            stacks.words_in(0..usize::MAX).is_none_or(|words| words.contains(&word))
        }
        let stacks = FrameStacks::new(FrameStack::new(1, 64 << 10));
        let caller = 0u8;
        let _frame = stacks.enter(1, (&raw const caller).addr());
        assert!(below(&stacks));
    }

    #[test]
    fn stacks_come_and_go_in_any_order() {
        let stacks = FrameStacks::new(FrameStack::new(1, 64 << 10));
        let all: Vec<FrameStack> = (0..5).map(|_| FrameStack::new(1, 64 << 10)).collect();
        // SAFETY: they are kept as long as `stacks`.
        all.iter().for_each(|stack| unsafe { stacks.add(stack) });
        for at in [1, 4, 0, 3, 2] {
            stacks.remove(&all[at]);
            let others = stacks.others.borrow();
            assert!(!others.contains(&NonNull::from(&all[at])));
            // SAFETY: as above.
            let places = others.iter().map(|stack| unsafe { stack.as_ref() }.place().get());
            assert!(places.eq(0..others.len()));
        }
        assert_eq!(stacks.others(), 0);
    }
}
