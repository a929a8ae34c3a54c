//! Memory for objects: blocks of cells of one size, and large objects by themselves.
//!
//! In: sizes. Out: cells, which come back when the collector sweeps or when their owner frees them. Some blocks are swept when a cell of
//! their size is wanted, the others a little at a time, so that no pause depends on the size of the heap. A block in which nothing is
//! left may have cells of another size next, and memory that was not wanted for long goes back to the system.
//!
//! **Invariant:** the list of free cells of a size has cells of swept blocks only, each once. A cell that is freed in another block is
//! found when that is swept. Of the blocks of a size those in front of `next_block` are swept.

use super::header::{Header, ObjectKind};
use super::kept;
use super::large::LargeObjects;
use super::spans::{BLOCK, SPAN, Spans};

/// Cells are multiples of this.
const GRAIN: usize = 16;
/// The largest cell. What is larger has memory of its own.
const MAX_CELL: usize = 1024;
/// How many bytes of a block become free cells at once. So a small heap does not touch all of its blocks.
const PORTION: usize = 1 << 11;
/// How many sizes of cells there are.
const N_SIZES: usize = MAX_CELL / GRAIN;
/// So many blocks are swept for one cell, before there is a block more.
const SWEPT_AT_ONCE: usize = 4;
/// So many blocks without objects are kept in any case.
const LEAST_SPARE: usize = 64;
/// The work of giving a span to the system, as that of sweeping so many bytes.
const RELEASE_WORK: usize = 1 << 14;

/// The start of a block.
#[repr(C, align(16))]
struct MemoryBlock {
    /// The size of its cells.
    cell: u32,
    /// How many of its cells have been free cells or objects. The memory of the others is as the system gave it.
    used: u32,
    /// The number of the sweep that it has been through.
    sweep: u32,
    /// The place of its span.
    span: u32,
}

/// A free cell: a header of kind `Free`, and the next one.
#[repr(C)]
struct FreeCell {
    header: Header,
    next: *mut FreeCell,
}

/// The cells of one size.
struct Size {
    free: *mut FreeCell,
    blocks: Vec<*mut MemoryBlock>,
    /// The blocks from here on are not swept in this cycle.
    next_block: usize,
    /// The block that was made last; null if it is gone.
    newest: *mut MemoryBlock,
}

/// All memory of a heap's objects.
pub(super) struct Blocks {
    sizes: Vec<Size>,
    large: LargeObjects,
    /// Where blocks come from.
    spans: Spans,
    /// How many blocks without objects may go.
    unused: usize,
    /// The number of the sweep that has begun last.
    sweep: u32,
    /// The bytes of all objects, garbage that is not swept included.
    pub(super) bytes: usize,
}

/// The bytes that an object of this size takes.
fn rounded(bytes: usize) -> usize {
    let bytes = bytes.max(GRAIN).next_multiple_of(GRAIN);
    if is_large(bytes) { kept::rounded(bytes) } else { bytes }
}

/// Whether an object of this size has memory of its own.
pub(super) fn is_large(bytes: usize) -> bool {
    bytes > MAX_CELL
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let null = std::ptr::null_mut();
        let size = || Size { free: std::ptr::null_mut(), blocks: Vec::new(), next_block: 0, newest: null };
        let sizes = (0..N_SIZES).map(|_| size()).collect();
        let large = LargeObjects::default();
        Blocks { sizes, large, spans: Spans::default(), unused: 0, sweep: 0, bytes: 0 }
    }

    /// Memory for an object; its bytes are what they were. Nothing if it is large, and the system has no such memory. `is_garbage` says
    /// whether an object is garbage, and is told of it before its memory is taken.
    #[inline]
    pub(super) fn allocate(
        &mut self,
        bytes: usize,
        is_garbage: impl FnMut(*mut Header) -> bool,
    ) -> Option<*mut u8> {
        let bytes = rounded(bytes);
        if is_large(bytes) {
            let memory = self.large.allocate(bytes)?;
            self.bytes += bytes;
            return Some(memory);
        }
        self.bytes += bytes;
        let index = bytes / GRAIN - 1;
        let mut cell = self.sizes[index].free;
        if cell.is_null() {
            cell = self.refill(index, is_garbage);
        }
        // SAFETY: free cells are linked.
        self.sizes[index].free = unsafe { (*cell).next };
        Some(cell.cast())
    }

    /// Finds free cells of a size, and gives the first: sweeps some blocks, takes more of the newest block, or makes a block.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, index: usize, mut is_garbage: impl FnMut(*mut Header) -> bool) -> *mut FreeCell {
        for _ in 0..SWEPT_AT_ONCE {
            if !self.sizes[index].free.is_null() || !self.sweep_block(index, &mut is_garbage) {
                break;
            }
        }
        let (size, cell) = (&mut self.sizes[index], (index + 1) * GRAIN);
        if !size.free.is_null() {
            return size.free;
        }
        // Cells of a block that is not swept would be in the list twice.
        // SAFETY: the block is there.
        let has_room = |block: *mut MemoryBlock| unsafe {
            (*block).sweep == self.sweep && ((*block).used as usize) < n_cells(cell)
        };
        if size.newest.is_null() || !has_room(size.newest) {
            let (memory, span) = self.spans.take();
            let memory: *mut MemoryBlock = memory.cast();
            // SAFETY: the block is this large.
            unsafe { memory.write(MemoryBlock { cell: cell as u32, used: 0, sweep: self.sweep, span }) };
            size.newest = memory;
            // Blocks that are not swept stay behind those that are.
            size.blocks.push(memory);
            let last = size.blocks.len() - 1;
            size.blocks.swap(size.next_block, last);
            size.next_block += 1;
        }
        // SAFETY: the block is there, is swept, and has room for these cells.
        unsafe {
            let used = (*size.newest).used as usize;
            let end = (used + (PORTION / cell).max(1)).min(n_cells(cell));
            for at in (used..end).rev() {
                let free = cell_at(size.newest, at).cast::<FreeCell>();
                free.write(FreeCell { header: Header::new(ObjectKind::Free, 0, 0), next: size.free });
                size.free = free;
            }
            (*size.newest).used = end as u32;
        }
        size.free
    }

    /// Sweeps the next block of a size; returns whether there was one.
    fn sweep_block(&mut self, index: usize, is_garbage: &mut impl FnMut(*mut Header) -> bool) -> bool {
        let size = &mut self.sizes[index];
        let Some(&block) = size.blocks.get(size.next_block) else { return false };
        let (mut free, mut freed, mut is_used) = (size.free, 0, false);
        // SAFETY: the block and its cells are there.
        unsafe {
            let bytes = (*block).cell as usize;
            (*block).sweep = self.sweep;
            let mut cell = cell_at(block, (*block).used as usize);
            for _ in 0..(*block).used {
                cell = cell.cast::<u8>().wrapping_sub(bytes).cast();
                if (*cell).kind() != ObjectKind::Free {
                    if !is_garbage(cell) {
                        is_used = true;
                        continue;
                    }
                    (*cell).set_free();
                    freed += bytes;
                    if cfg!(debug_assertions) {
                        // Whoever still uses it is to notice.
                        let behind = size_of::<FreeCell>();
                        cell.cast::<u8>().add(behind).write_bytes(0xdb, bytes - behind);
                    }
                }
                (*cell.cast::<FreeCell>()).next = free;
                free = cell.cast();
            }
        }
        self.bytes -= freed;
        if is_used {
            size.free = free;
            size.next_block += 1;
            return true;
        }
        // Its cells are in no list.
        size.blocks.swap_remove(size.next_block);
        if size.newest == block {
            size.newest = std::ptr::null_mut();
        }
        // SAFETY: the block is there, and nothing in it is used any more.
        self.spans.give_back(block.cast(), unsafe { (*block).span });
        true
    }

    /// All objects are to be swept: some of them have become garbage.
    pub(super) fn begin_sweep(&mut self) {
        for size in &mut self.sizes {
            size.next_block = 0;
            size.free = std::ptr::null_mut();
        }
        self.sweep = self.sweep.wrapping_add(1);
        self.unused = self.spans.begin_sweep().saturating_sub(LEAST_SPARE);
        self.large.begin_sweep();
    }

    /// Sweeps some more; returns how much work that was, or `None` if all is swept.
    pub(super) fn sweep_some(&mut self, is_garbage: &mut impl FnMut(*mut Header) -> bool) -> Option<usize> {
        let before = self.bytes;
        if let Some(work) = self.large.sweep_some(&mut self.bytes, is_garbage) {
            return Some(work);
        }
        if self.unused >= SPAN {
            let is_released = self.spans.release();
            self.unused = if is_released { self.unused - SPAN } else { 0 };
            return Some(RELEASE_WORK);
        }
        let waiting = |size: &Size| size.next_block < size.blocks.len();
        let index = self.sizes.iter().position(waiting)?;
        self.sweep_block(index, is_garbage);
        Some((1 << 13) + (before - self.bytes) / 4)
    }

    /// Makes a large object larger; returns where it is now, if there is memory. Its bytes stay.
    pub(super) fn grow(&mut self, object: *mut Header, bytes: usize) -> Option<*mut Header> {
        let (now, before) = self.large.grow(object, rounded(bytes))?;
        self.bytes += rounded(bytes) - before;
        Some(now)
    }

    /// Gives back an object that nothing refers to, of which the size is known.
    pub(super) fn free(&mut self, object: *mut Header, bytes: usize) {
        let bytes = rounded(bytes);
        self.bytes -= bytes;
        if is_large(bytes) {
            return self.large.free(object);
        }
        // SAFETY: the object is there, in a block of its alignment.
        unsafe {
            (*object).set_free();
            let block: *mut MemoryBlock = object.map_addr(|address| address & !(BLOCK - 1)).cast();
            if (*block).sweep == self.sweep {
                let size = &mut self.sizes[bytes / GRAIN - 1];
                (*object.cast::<FreeCell>()).next = size.free;
                size.free = object.cast();
            }
        }
    }

    /// Visits all objects.
    pub(super) fn each(&self, mut visit: impl FnMut(*mut Header)) {
        for block in self.sizes.iter().flat_map(|size| &size.blocks) {
            // SAFETY: the cells are there.
            cells(*block).filter(|cell| unsafe { (**cell).kind() } != ObjectKind::Free).for_each(&mut visit);
        }
        self.large.each(visit);
    }
}

/// How many cells of this size a block has.
fn n_cells(cell: usize) -> usize {
    (BLOCK - size_of::<MemoryBlock>()) / cell
}

/// The address of a cell.
///
/// # Safety
///
/// The block must be there.
unsafe fn cell_at(block: *mut MemoryBlock, at: usize) -> *mut Header {
    // SAFETY: the caller guarantees it.
    let cell = unsafe { (*block).cell as usize };
    block.cast::<u8>().wrapping_add(size_of::<MemoryBlock>() + at * cell).cast()
}

/// The cells of a block that are objects or free cells.
fn cells(block: *mut MemoryBlock) -> impl Iterator<Item = *mut Header> {
    // SAFETY: the block is there.
    let used = unsafe { (*block).used as usize };
    // SAFETY: as above.
    (0..used).map(move |at| unsafe { cell_at(block, at) })
}
