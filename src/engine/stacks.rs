//! The stacks of fibers, and what switches between them.
//!
//! In: the size of a stack. Out: stacks with a guard page, each for one fiber at a time. A few that were given back are kept as
//! they are, and many if they used little; the memory of the others goes back to the system, which keeps their addresses reserved.
//!
//! A stack is one piece of memory: the guard page, the machine's stack, which grows down to it, and the VM registers of the
//! fiber's frames, which grow up. Both begin in the middle of a page, so that a fiber that does little touches one page; and not all stacks
//! at the same place of a page: otherwise fibers that take turns would drive each other out of the processor's cache.
//!
//! A page that is protected by itself splits a mapping, and Linux allows a process 65,530 of them. From Linux 6.13 on pages may be
//! guarded without that. Elsewhere a program may have about 32,000 fibers at once, or has to raise `vm.max_map_count`.

use super::stack::{FrameStack, with_room};
use crate::Error;
use corosensei::stack::{Stack, StackPointer};
use std::cell::{Cell, RefCell};
use std::ops::Range;

pub(crate) use corosensei::{CoroutineResult, Yielder};

/// A computation that can be suspended, with its stack.
pub(crate) type Coroutine<Input, Yield, Return> = corosensei::Coroutine<Input, Yield, Return, FiberStack>;

/// Makes a coroutine.
///
/// # Safety
///
/// What the function captures must live until the coroutine is done or dropped.
pub(crate) unsafe fn coroutine<Input, Yield, Return>(
    stack: FiberStack,
    run: impl FnOnce(&Yielder<Input, Yield>, Input) -> Return,
) -> Coroutine<Input, Yield, Return> {
    // SAFETY: as the caller promises.
    unsafe { Coroutine::with_stack_unchecked(stack, run) }
}

/// Whether fibers exist on this machine.
pub(crate) const CAN_SWITCH: bool = true;

/// How many stacks that were given back keep their memory, whatever that is.
const WARM: usize = 256;

/// How many keep it if it is little. Giving memory back and taking it again costs more than most fibers do that are dropped
/// before their end, and a collector drops many at once.
const SHALLOW: usize = 8192;

/// When so many stacks in a row had little memory, it is asked of each eighth only, since asking the system takes longer than most fibers do.
const TRUSTED: u32 = 32;
const EACH: u32 = 8;

/// The sizes of a stack's parts.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// In bytes.
    machine: usize,
    n_slots: usize,
}

/// The stacks of an engine's fibers.
#[derive(Debug)]
pub(crate) struct StackPool {
    parts: Parts,
    source: system::Source,
    /// Stacks that were given back with their memory, and without.
    warm: RefCell<Vec<FiberStack>>,
    cold: RefCell<Vec<FiberStack>>,
    /// How many stacks in a row had little memory, and how many were not asked since the last of them.
    shallow: Cell<[u32; 2]>,
    in_use: Cell<usize>,
}

impl StackPool {
    /// Stacks of which calls of bytecode can use this many bytes, with this many slots for VM registers.
    pub(crate) fn new((bytes, n_slots): (usize, usize)) -> StackPool {
        StackPool {
            parts: Parts { machine: with_room(bytes), n_slots },
            source: system::Source::default(),
            warm: RefCell::default(),
            cold: RefCell::default(),
            shallow: Cell::default(),
            in_use: Cell::new(0),
        }
    }

    /// Takes a stack. Its contents may be anything.
    pub(crate) fn take(&self) -> Result<FiberStack, Error> {
        let stack = match self.warm.borrow_mut().pop() {
            Some(stack) => stack,
            None => match self.cold.borrow_mut().pop() {
                Some(stack) => stack,
                None => self.source.make(self.parts).ok_or(Error::OutOfFiberStacks)?,
            },
        };
        self.in_use.set(self.in_use.get() + 1);
        Ok(stack)
    }

    /// Gives a stack back.
    pub(crate) fn give_back(&self, stack: FiberStack) {
        self.in_use.set(self.in_use.get() - 1);
        let mut warm = self.warm.borrow_mut();
        if warm.len() < WARM || warm.len() < SHALLOW && self.seems_shallow(&stack) {
            warm.push(stack);
        } else if let Some(stack) = system::forget(stack) {
            self.cold.borrow_mut().push(stack);
        }
    }

    /// Whether a stack has little memory, as far as those before it tell.
    fn seems_shallow(&self, stack: &FiberStack) -> bool {
        let [in_a_row, not_asked] = self.shallow.get();
        if in_a_row >= TRUSTED && not_asked + 1 < EACH {
            self.shallow.set([in_a_row, not_asked + 1]);
            return true;
        }
        let is_shallow = system::is_shallow(stack);
        self.shallow.set([if is_shallow { in_a_row.saturating_add(1) } else { 0 }, 0]);
        is_shallow
    }

    /// How many stacks are in use.
    pub(crate) fn in_use(&self) -> usize {
        self.in_use.get()
    }
}

/// A stack of a fiber. It belongs to its pool, which outlives it.
#[derive(Debug)]
pub(crate) struct FiberStack {
    parts: Parts,
    memory: system::Memory,
}

impl FiberStack {
    /// The addresses of the machine's stack.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let end = self.base().get();
        end - self.parts.machine..end
    }

    /// The fiber's frames.
    pub(crate) fn frames(&self) -> FrameStack {
        system::frames(self, self.parts.n_slots)
    }
}

#[cfg(unix)]
mod system {
    use super::*;
    use crate::memory::page_size;
    use libc::{MAP_ANON, MAP_FAILED, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE};

    /// Memory that nobody has touched does not count as committed.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const NOT_COUNTED: libc::c_int = libc::MAP_NORESERVE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const NOT_COUNTED: libc::c_int = 0;

    /// How many stacks the first piece of memory has; each has twice as many as the one before, up to `MOST`.
    const FIRST: usize = 4;
    const MOST: usize = 1024;

    /// The places in a page at which stacks begin.
    const N_PLACES: usize = 12;
    const FIRST_PLACE: usize = 1536;
    const BETWEEN_PLACES: usize = 192;
    const LAST_PLACE: usize = FIRST_PLACE + (N_PLACES - 1) * BETWEEN_PLACES;

    /// The addresses of a stack's parts.
    #[derive(Debug)]
    pub(super) struct Memory {
        /// The guard page, right below the machine's stack.
        guard: usize,
        /// Where the machine's stack starts to grow down, and the frames to grow up.
        base: StackPointer,
    }

    /// How many bytes of memory frames with this many slots take.
    fn bytes_of_slots(n_slots: usize) -> usize {
        FrameStack::words(n_slots).unwrap_or(usize::MAX).saturating_mul(size_of::<u64>())
    }

    impl Parts {
        fn machine_bytes(self) -> Option<usize> {
            self.machine.checked_next_multiple_of(page_size())
        }

        /// All parts together.
        fn bytes(self) -> Option<usize> {
            let slots = bytes_of_slots(self.n_slots).checked_add(LAST_PLACE)?;
            let slots = slots.checked_next_multiple_of(page_size())?;
            self.machine_bytes()?.checked_add(slots)?.checked_add(page_size())
        }
    }

    // SAFETY: the page at the lower end is a guard page, and `with_room` makes no stack smaller than it may be.
    unsafe impl Stack for FiberStack {
        #[inline(always)]
        fn base(&self) -> StackPointer {
            self.memory.base
        }

        #[inline(always)]
        fn limit(&self) -> StackPointer {
            StackPointer::new(self.memory.guard).expect("the system maps nothing at zero unless told")
        }
    }

    pub(super) fn frames(stack: &FiberStack, n_slots: usize) -> FrameStack {
        let slots = std::ptr::with_exposed_provenance_mut(stack.base().get());
        FrameStack::over(slots, n_slots, usize::MAX)
    }

    /// Whether a stack has little memory; false if that is not known. No frame is larger than what is looked at behind that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn is_shallow(stack: &FiberStack) -> bool {
        let (page, base) = (page_size(), stack.base().get());
        let (first, end) =
            (stack.memory.guard + page, stack.memory.guard + stack.parts.bytes().expect("it was made"));
        let around = |pages: usize| {
            let below = base.saturating_sub(pages * page).next_multiple_of(page).max(first);
            below..(base + pages * page).next_multiple_of(page).min(end)
        };
        let (little, all) = (around(SHALLOW_PAGES / 2), around(SHALLOW_PAGES / 2 + LOOKED_AT));
        let mut resident = [0; SHALLOW_PAGES + 2 * LOOKED_AT + 1];
        // SAFETY: the pages belong to the stack, and there is a byte for each.
        let is_known = unsafe {
            let start = std::ptr::with_exposed_provenance_mut(all.start);
            libc::mincore(start, all.len(), resident.as_mut_ptr()) == 0
        };
        let [from, to] = [little.start, little.end].map(|address| (address - all.start) / page);
        is_known && resident[..from].iter().chain(&resident[to..]).all(|flags| flags & 1 == 0)
    }

    /// How many pages are little, half of them on either side of where a stack begins.
    #[cfg(any(target_os = "linux", target_os = "android", test))]
    const SHALLOW_PAGES: usize = 4;

    /// How many pages are looked at on either side.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const LOOKED_AT: usize = 16;

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) fn is_shallow(_: &FiberStack) -> bool {
        false
    }

    /// Gives the memory of a stack back to the system, and keeps its addresses.
    pub(super) fn forget(stack: FiberStack) -> Option<FiberStack> {
        let bytes = stack.parts.bytes().expect("it was made") - page_size();
        let start = std::ptr::with_exposed_provenance_mut(stack.memory.guard + page_size());
        // SAFETY: the memory belongs to the stack, which is not in use. If this fails, the memory stays.
        unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
        Some(stack)
    }

    /// A piece of memory with several stacks.
    #[derive(Debug)]
    struct Piece {
        start: usize,
        bytes: usize,
    }

    impl Piece {
        fn new(bytes: usize) -> Option<Piece> {
            let flags = MAP_PRIVATE | MAP_ANON | NOT_COUNTED;
            // SAFETY: this is a new mapping, at an address that the system chooses.
            let start =
                unsafe { libc::mmap(std::ptr::null_mut(), bytes, PROT_READ | PROT_WRITE, flags, -1, 0) };
            if start == MAP_FAILED {
                return None;
            }
            // Most stacks use one or two pages. A huge page would be memory for seven whole ones.
            #[cfg(any(target_os = "linux", target_os = "android"))]
            // SAFETY: the memory belongs to this piece. A system without huge pages refuses.
            unsafe {
                libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE)
            };
            Some(Piece { start: start.expose_provenance(), bytes })
        }
    }

    impl Drop for Piece {
        fn drop(&mut self) {
            // SAFETY: the memory was mapped with this size, and no fiber has a stack in it any more.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(self.start), self.bytes) };
        }
    }

    /// Makes stacks.
    #[derive(Debug, Default)]
    pub(super) struct Source {
        pieces: RefCell<Vec<Piece>>,
        /// How many stacks of the last piece were never taken.
        left: Cell<usize>,
    }

    impl Source {
        pub(super) fn make(&self, parts: Parts) -> Option<FiberStack> {
            let mut pieces = self.pieces.borrow_mut();
            let bytes = parts.bytes()?;
            if self.left.get() == 0 {
                let wanted = FIRST.checked_shl(pieces.len() as u32).map_or(MOST, |n| n.clamp(FIRST, MOST));
                // Where addresses are few there may be some for fewer stacks.
                let fewer = std::iter::successors(Some(wanted), |n| (*n > 1).then_some(n / 2));
                let piece = |n: usize| Some((n, Piece::new(n.checked_mul(bytes)?)?));
                let (n_stacks, piece) = fewer.filter_map(piece).next()?;
                pieces.push(piece);
                self.left.set(n_stacks);
            }
            let piece = pieces.last().expect("there is one");
            let page = piece.start + (self.left.get() - 1) * bytes;
            if !guard(page) {
                return None;
            }
            self.left.set(self.left.get() - 1);
            let place = FIRST_PLACE + self.left.get() % N_PLACES * BETWEEN_PLACES;
            let base = StackPointer::new(page + page_size() + parts.machine_bytes()? + place)?;
            Some(FiberStack { parts, memory: Memory { guard: page, base } })
        }
    }

    /// Makes every access to this page fault. Returns whether that was possible.
    fn guard(page: usize) -> bool {
        mark(page) || protect(page)
    }

    /// Guards a page without splitting its mapping, where the system can.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn mark(page: usize) -> bool {
        /// `MADV_GUARD_INSTALL`, which not every C library's headers have.
        const INSTALL_GUARD: libc::c_int = 102;
        // SAFETY: the page belongs to a stack that nobody has yet. A system that does not know the number refuses.
        unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(page), page_size(), INSTALL_GUARD) == 0 }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn mark(_: usize) -> bool {
        false
    }

    /// Guards a page with a mapping of its own.
    fn protect(page: usize) -> bool {
        // SAFETY: the page belongs to a stack that nobody has yet.
        unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(page), page_size(), PROT_NONE) == 0 }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Whether the system can read the byte at an address: it tells, where we would fault.
        fn is_readable(address: usize) -> bool {
            let mut ends = [0; 2];
            // SAFETY: the array has room for both ends of the pipe, which are closed below.
            unsafe {
                assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
                let written = libc::write(ends[1], std::ptr::with_exposed_provenance(address), 1);
                ends.iter().for_each(|end| assert_eq!(libc::close(*end), 0));
                written == 1
            }
        }

        #[test]
        fn stacks_are_apart_and_end_in_a_guard() {
            let pool = StackPool::new((10_000, 1000));
            let stacks: Vec<_> = (0..2 * WARM).map(|_| pool.take().expect("there is memory")).collect();
            assert_eq!(pool.in_use(), 2 * WARM);
            let mut addresses: Vec<_> = stacks.iter().map(FiberStack::addresses).collect();
            // What is read has memory. The first ones keep that anyway.
            for (stack, addresses) in stacks.iter().zip(&addresses).take(WARM) {
                let guard = stack.limit().get();
                assert!(addresses.len() >= 10_000 && stack.base().get() == addresses.end);
                assert!(is_readable(addresses.start) && is_readable(addresses.end - 1));
                assert!(is_readable(addresses.end + bytes_of_slots(1000) - 1));
                assert!(!is_readable(guard) && !is_readable(guard + page_size() - 1));
                assert!(is_readable(guard + page_size()));
            }
            addresses.sort_by_key(|addresses| addresses.start);
            assert!(addresses.is_sorted_by(|one, next| one.end + bytes_of_slots(1000) <= next.start));
            // The first ones keep their memory, of the others those that have little; and all keep their guards.
            for (number, (stack, addresses)) in stacks.iter().zip(&addresses).enumerate() {
                let n_pages = if number % 2 == 0 { 1 } else { 2 * SHALLOW_PAGES };
                for page in 0..n_pages {
                    let last = addresses.end - 1 - page * page_size();
                    let last = std::ptr::with_exposed_provenance_mut::<u8>(last);
                    // SAFETY: nobody else has the stack.
                    unsafe { last.write(stack.limit().get() as u8 | 1) };
                }
            }
            let guards: Vec<usize> = stacks.iter().map(|stack| stack.limit().get()).collect();
            stacks.into_iter().for_each(|stack| pool.give_back(stack));
            let last = |addresses: &Range<usize>| {
                // SAFETY: the pool has the memory.
                unsafe { std::ptr::with_exposed_provenance::<u8>(addresses.end - 1).read() }
            };
            let is_kept = addresses.iter().filter(|addresses| last(addresses) != 0).count();
            assert!(is_kept == WARM + WARM / 2 || !cfg!(target_os = "linux"), "{is_kept}");
            assert!(guards.into_iter().all(|guard| !is_readable(guard)));
            assert_eq!(pool.in_use(), 0);
            assert!(pool.cold.borrow().len() == WARM / 2 || !cfg!(target_os = "linux"));
        }

        #[test]
        #[cfg(target_os = "linux")]
        fn few_deep_stacks_are_taken_for_shallow_ones() {
            let pool = StackPool::new((100_000, 1000));
            let stacks: Vec<_> = (0..5 * WARM).map(|_| pool.take().expect("there is memory")).collect();
            for (number, stack) in stacks.iter().enumerate() {
                // The first ones are kept whatever they have; then come those with little memory, and then others.
                let n_pages = if number < 3 * WARM { 1 } else { 4 * SHALLOW_PAGES };
                for page in 0..n_pages {
                    let last = stack.base().get() - 1 - page * page_size();
                    // SAFETY: nobody else has the stack.
                    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(last).write(1) };
                }
            }
            stacks.into_iter().for_each(|stack| pool.give_back(stack));
            let warm = pool.warm.borrow().len();
            assert!((3 * WARM..3 * WARM + EACH as usize).contains(&warm), "{warm}");
            assert_eq!(pool.cold.borrow().len(), 5 * WARM - warm);
        }

        #[test]
        fn a_page_is_guarded_by_a_mapping_of_its_own_too() {
            let piece = Piece::new(3 * page_size()).expect("there is memory");
            let middle = piece.start + page_size();
            assert!(is_readable(middle) && protect(middle) && !is_readable(middle));
            assert!(is_readable(middle - 1) && is_readable(middle + page_size()));
        }
    }
}

#[cfg(windows)]
mod system {
    use super::*;
    use corosensei::stack::{DefaultStack, StackTebFields};

    /// What the system calls a stack.
    pub(super) struct Memory(DefaultStack);

    impl std::fmt::Debug for Memory {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_tuple("Memory").field(&self.0.base()).finish()
        }
    }

    // SAFETY: the system's stacks have guard pages, and `with_room` makes none smaller than it may be.
    unsafe impl Stack for FiberStack {
        fn base(&self) -> StackPointer {
            self.memory.0.base()
        }

        fn limit(&self) -> StackPointer {
            self.memory.0.limit()
        }

        fn teb_fields(&self) -> StackTebFields {
            self.memory.0.teb_fields()
        }

        fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
            self.memory.0.update_teb_fields(stack_limit, guaranteed_stack_bytes);
        }
    }

    pub(super) fn frames(_: &FiberStack, n_slots: usize) -> FrameStack {
        FrameStack::new(n_slots, usize::MAX)
    }

    pub(super) fn is_shallow(_: &FiberStack) -> bool {
        false
    }

    /// The system takes stacks back as a whole.
    pub(super) fn forget(_: FiberStack) -> Option<FiberStack> {
        None
    }

    /// Makes stacks.
    #[derive(Debug, Default)]
    pub(super) struct Source;

    impl Source {
        pub(super) fn make(&self, parts: Parts) -> Option<FiberStack> {
            // More than this is not even to be computed with.
            let bytes = parts.machine;
            let stack = (bytes <= isize::MAX as usize).then(|| DefaultStack::new(bytes).ok())??;
            Some(FiberStack { parts, memory: Memory(stack) })
        }
    }
}
