//! Objects that are too large for blocks: each has memory of its own.
//!
//! In: sizes. Out: memory that grows where it is, if the system can do that, and that is kept for a while when its object is garbage or is
//! freed ([`kept`](super::kept)). The system takes time to take back much memory, so it gets what the collector frees in pieces.
//!
//! **Invariant:** the objects in front of `next` are swept. In front of each object is its place in the list.

use super::header::Header;
use super::kept::KeptMemory;
use std::alloc::{Layout, alloc, dealloc, realloc};

/// The alignment of objects, and of what is in front of them.
const ALIGN: usize = 16;
/// How many objects are swept at once.
const SWEPT_AT_ONCE: usize = 32;
/// So many bytes go back to the system at once.
const PIECE: usize = 4 << 20;
/// The work of that, as that of sweeping so many bytes, and the least for less memory.
const PIECE_WORK: usize = 32 << 10;
const LEAST_WORK: usize = 1 << 9;

/// What is in front of a large object.
#[repr(C, align(16))]
struct Prefix {
    /// Its place in the list.
    place: usize,
    /// Its bytes, without this.
    bytes: usize,
}

/// All large objects.
#[derive(Default)]
pub(super) struct LargeObjects {
    list: Vec<*mut Prefix>,
    /// The objects from here on are not swept in this cycle.
    next: usize,
    kept: KeptMemory,
    /// Memory that nobody wants, and how many bytes of it the system has not got yet.
    dying: Vec<(*mut u8, usize)>,
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(size_of::<Prefix>() + bytes, ALIGN).expect("no object is larger than memory")
}

/// What is in front of an object.
fn prefix_of(object: *mut Header) -> *mut Prefix {
    object.cast::<Prefix>().wrapping_sub(1)
}

fn object_of(prefix: *mut Prefix) -> *mut Header {
    prefix.wrapping_add(1).cast()
}

impl LargeObjects {
    /// Memory for an object of this size; nothing if the system has none.
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<*mut u8> {
        // SAFETY: the size is not zero.
        let new = || unsafe { alloc(layout(bytes)) };
        let memory: *mut Prefix = self.kept.take(bytes).unwrap_or_else(new).cast();
        if memory.is_null() {
            return None;
        }
        // SAFETY: there is room for it.
        unsafe { memory.write(Prefix { place: self.list.len(), bytes }) };
        self.list.push(memory);
        Some(object_of(memory).cast())
    }

    /// Makes an object larger; returns where it is, and how many bytes it had. Nothing if the system has no such memory; the object stays
    /// then.
    pub(super) fn grow(&mut self, object: *mut Header, bytes: usize) -> Option<(*mut Header, usize)> {
        let prefix = prefix_of(object);
        // SAFETY: the object is there, and was allocated with this layout.
        unsafe {
            let (place, before) = ((*prefix).place, (*prefix).bytes);
            let memory: *mut Prefix = realloc(prefix.cast(), layout(before), layout(bytes).size()).cast();
            if memory.is_null() {
                return None;
            }
            (*memory).bytes = bytes;
            self.list[place] = memory;
            Some((object_of(memory), before))
        }
    }

    /// Takes an object out of the list.
    fn remove(&mut self, mut place: usize) -> *mut Prefix {
        let prefix = self.list[place];
        if place < self.next {
            // One that is swept takes its place, and one that is not swept that one's.
            self.next -= 1;
            self.put(place, self.list[self.next]);
            place = self.next;
        }
        let last = self.list.pop().expect("the object is in the list");
        if place < self.list.len() {
            self.put(place, last);
        }
        prefix
    }

    fn put(&mut self, place: usize, prefix: *mut Prefix) {
        self.list[place] = prefix;
        // SAFETY: what is in the list is there.
        unsafe { (*prefix).place = place };
    }

    /// Gives back an object that nothing refers to.
    pub(super) fn free(&mut self, object: *mut Header) {
        // SAFETY: the object is there, and was allocated with this layout.
        unsafe {
            let prefix = self.remove((*prefix_of(object)).place);
            if !self.keep(prefix) {
                dealloc(prefix.cast(), layout((*prefix).bytes));
            }
        }
    }

    /// Keeps the memory of an object that is gone; returns whether it does.
    ///
    /// # Safety
    ///
    /// The object was there, and nothing refers to it.
    unsafe fn keep(&mut self, prefix: *mut Prefix) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe {
            let bytes = (*prefix).bytes;
            let is_kept = self.kept.keep(prefix.cast(), bytes);
            if cfg!(debug_assertions) && is_kept {
                // Whoever still uses it is to notice.
                object_of(prefix).cast::<u8>().write_bytes(0xdb, bytes);
            }
            is_kept
        }
    }

    /// All objects are to be swept.
    pub(super) fn begin_sweep(&mut self) {
        self.next = 0;
        let dying = &mut self.dying;
        self.kept.drop_unwanted(|memory| {
            // SAFETY: an object was there, and what says how large it was still is.
            dying.push((memory, layout(unsafe { (*memory.cast::<Prefix>()).bytes }).size()));
        });
    }

    /// Sweeps some objects, and counts the bytes of garbage as free; returns how much work that was, or `None` if all is swept.
    pub(super) fn sweep_some(
        &mut self,
        bytes: &mut usize,
        is_garbage: &mut impl FnMut(*mut Header) -> bool,
    ) -> Option<usize> {
        if let Some((memory, left)) = self.dying.pop() {
            self.release(memory, left);
            return Some(LEAST_WORK.max(left.min(PIECE) / (PIECE / PIECE_WORK)));
        }
        let end = (self.next + SWEPT_AT_ONCE).min(self.list.len());
        if self.next == end {
            return None;
        }
        for _ in self.next..end {
            let prefix = self.list[self.next];
            if !is_garbage(object_of(prefix)) {
                self.next += 1;
                continue;
            }
            self.remove(self.next);
            // SAFETY: the object is there, and is garbage.
            unsafe {
                let size = (*prefix).bytes;
                *bytes -= size;
                if !self.keep(prefix) {
                    self.dying.push((prefix.cast(), layout(size).size()));
                }
            }
        }
        Some(SWEPT_AT_ONCE << 8)
    }

    /// Gives a piece of memory to the system, the last of it first.
    fn release(&mut self, memory: *mut u8, left: usize) {
        let all = Layout::from_size_align(left, ALIGN).expect("it was allocated so");
        // SAFETY: the memory was allocated so, and what is left of it is not used.
        unsafe {
            if left <= PIECE {
                return dealloc(memory, all);
            }
            let rest = realloc(memory, all, left - PIECE);
            match rest.is_null() {
                true => dealloc(memory, all),
                false => self.dying.push((rest, left - PIECE)),
            }
        }
    }

    /// Visits all objects.
    pub(super) fn each(&self, visit: impl FnMut(*mut Header)) {
        self.list.iter().map(|prefix| object_of(*prefix)).for_each(visit);
    }
}

impl Drop for LargeObjects {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and nobody uses it any more.
        let free = |prefix: *mut Prefix| unsafe { dealloc(prefix.cast(), layout((*prefix).bytes)) };
        std::mem::take(&mut self.list).into_iter().for_each(free);
        self.kept.drop_all(|memory| free(memory.cast()));
        for (memory, left) in std::mem::take(&mut self.dying) {
            // SAFETY: as above.
            unsafe { dealloc(memory, Layout::from_size_align(left, ALIGN).expect("it was allocated so")) };
        }
    }
}
