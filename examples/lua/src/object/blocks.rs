//! Memory for objects: blocks of cells of one size, and large objects by themselves.
//!
//! In: sizes. Out: cells, which come back when the collector sweeps or when their owner frees them. A block is swept when a cell of
//! its size is wanted next, so that no pause depends on the size of the heap.
//!
//! **Invariant:** the list of free cells of a size has cells of swept blocks only. A cell that is freed in another block is found when
//! that is swept.

use super::header::{Header, ObjectKind};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};

/// The bytes of a block, and its alignment.
const BLOCK: usize = 1 << 16;
/// Cells are multiples of this.
const GRAIN: usize = 16;
/// The largest cell. What is larger has memory of its own.
const MAX_CELL: usize = 1024;
/// How many bytes of a block become free cells at once. So a small heap does not touch all of its blocks.
const PORTION: usize = 1 << 11;
/// How many sizes of cells there are.
const N_SIZES: usize = MAX_CELL / GRAIN;

/// The start of a block.
#[repr(C, align(16))]
struct MemoryBlock {
    /// The size of its cells.
    cell: u32,
    /// How many of its cells have been free cells or objects. The memory of the others is as the system gave it.
    used: u32,
    is_swept: bool,
}

/// A free cell: a header of kind `Free`, and the next one.
#[repr(C)]
struct FreeCell {
    header: Header,
    next: *mut FreeCell,
}

/// The cells of one size.
#[derive(Default)]
struct Size {
    blocks: Vec<*mut MemoryBlock>,
    /// The blocks from here on are not swept in this cycle.
    next_block: usize,
    free: *mut FreeCell,
    /// The block that was made last.
    newest: *mut MemoryBlock,
}

/// All memory of a heap's objects.
pub(super) struct Blocks {
    sizes: Vec<Size>,
    /// Objects with memory of their own, each with its size.
    large: Vec<(*mut Header, usize)>,
    /// The large objects from here on are not swept in this cycle.
    next_large: usize,
    /// The bytes of all objects, garbage that is not swept included.
    pub(super) bytes: usize,
}

/// Says whether an object is garbage, and is told of it before its memory is taken.
pub(super) type IsGarbage<'a> = &'a mut dyn FnMut(*mut Header) -> bool;

/// The bytes that an object of this size takes.
fn rounded(bytes: usize) -> usize {
    bytes.max(GRAIN).next_multiple_of(GRAIN)
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let sizes = (0..N_SIZES).map(|_| Size::default()).collect();
        Blocks { sizes, large: Vec::new(), next_large: 0, bytes: 0 }
    }

    /// Memory for an object; its bytes are what they were.
    pub(super) fn allocate(&mut self, bytes: usize, is_garbage: IsGarbage<'_>) -> *mut u8 {
        let bytes = rounded(bytes);
        self.bytes += bytes;
        if bytes > MAX_CELL {
            let layout = large_layout(bytes);
            // SAFETY: the size is not zero.
            let memory = unsafe { alloc(layout) };
            if memory.is_null() {
                handle_alloc_error(layout);
            }
            self.large.push((memory.cast(), bytes));
            return memory;
        }
        let index = bytes / GRAIN - 1;
        if self.sizes[index].free.is_null() {
            self.refill(index, is_garbage);
        }
        let size = &mut self.sizes[index];
        let cell = size.free;
        // SAFETY: free cells are linked.
        size.free = unsafe { (*cell).next };
        cell.cast()
    }

    /// Finds free cells of a size: sweeps blocks until there are some, or takes more of the newest block, or makes a block.
    fn refill(&mut self, index: usize, is_garbage: IsGarbage<'_>) {
        while self.sizes[index].free.is_null() && self.sweep_block(index, is_garbage) {}
        let (size, cell) = (&mut self.sizes[index], (index + 1) * GRAIN);
        if !size.free.is_null() {
            return;
        }
        // SAFETY: the block is there.
        if size.newest.is_null() || unsafe { (*size.newest).used as usize } == n_cells(cell) {
            size.newest = new_block(cell);
            // Blocks that are not swept stay behind those that are.
            size.blocks.insert(size.next_block, size.newest);
            size.next_block += 1;
        }
        // SAFETY: the block is there, swept as all of this size are, and has room for these cells.
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
    }

    /// Sweeps the next block of a size; returns whether there was one.
    fn sweep_block(&mut self, index: usize, is_garbage: IsGarbage<'_>) -> bool {
        let size = &mut self.sizes[index];
        let Some(&block) = size.blocks.get(size.next_block) else { return false };
        size.next_block += 1;
        // SAFETY: the block and its cells are there.
        unsafe {
            let bytes = (*block).cell as usize;
            (*block).is_swept = true;
            for cell in cells(block).rev() {
                if (*cell).kind() != ObjectKind::Free {
                    if !is_garbage(cell) {
                        continue;
                    }
                    (*cell).set_free();
                    self.bytes -= bytes;
                    if cfg!(debug_assertions) {
                        // Whoever still uses it is to notice.
                        let behind = size_of::<FreeCell>();
                        cell.cast::<u8>().add(behind).write_bytes(0xdb, bytes - behind);
                    }
                }
                (*cell.cast::<FreeCell>()).next = size.free;
                size.free = cell.cast();
            }
        }
        true
    }

    /// All objects are to be swept: some of them have become garbage.
    pub(super) fn begin_sweep(&mut self) {
        for size in &mut self.sizes {
            size.next_block = 0;
            size.free = std::ptr::null_mut();
            for &block in &size.blocks {
                // SAFETY: the block is there.
                unsafe { (*block).is_swept = false };
            }
        }
        self.next_large = 0;
    }

    /// Sweeps some more; returns whether all is swept.
    pub(super) fn sweep_some(&mut self, is_garbage: IsGarbage<'_>) -> bool {
        const LARGE_AT_ONCE: usize = 64;
        for _ in 0..LARGE_AT_ONCE {
            let Some(&(object, bytes)) = self.large.get(self.next_large) else { break };
            if is_garbage(object) {
                self.large.swap_remove(self.next_large);
                self.release_large(object, bytes);
            } else {
                self.next_large += 1;
            }
        }
        if self.next_large < self.large.len() {
            return false;
        }
        let waiting = |size: &Size| size.next_block < size.blocks.len();
        match self.sizes.iter().position(waiting) {
            Some(index) => {
                self.sweep_block(index, is_garbage);
                false
            }
            None => true,
        }
    }

    fn release_large(&mut self, object: *mut Header, bytes: usize) {
        self.bytes -= bytes;
        // SAFETY: it was allocated so.
        unsafe { dealloc(object.cast(), large_layout(bytes)) };
    }

    /// Gives back an object that nothing refers to, of which the size is known. Large ones are left to the collector.
    pub(super) fn free(&mut self, object: *mut Header, bytes: usize) {
        let bytes = rounded(bytes);
        if bytes > MAX_CELL {
            return;
        }
        // SAFETY: the object is there, in a block of its alignment.
        unsafe {
            (*object).set_free();
            let block: *mut MemoryBlock = object.map_addr(|address| address & !(BLOCK - 1)).cast();
            if (*block).is_swept {
                let size = &mut self.sizes[bytes / GRAIN - 1];
                (*object.cast::<FreeCell>()).next = size.free;
                size.free = object.cast();
            }
        }
        self.bytes -= bytes;
    }

    /// Visits all objects.
    pub(super) fn each(&self, mut visit: impl FnMut(*mut Header)) {
        for block in self.sizes.iter().flat_map(|size| &size.blocks) {
            // SAFETY: the cells are there.
            cells(*block).filter(|cell| unsafe { (**cell).kind() } != ObjectKind::Free).for_each(&mut visit);
        }
        self.large.iter().for_each(|(object, _)| visit(*object));
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (object, bytes) in std::mem::take(&mut self.large) {
            self.release_large(object, bytes);
        }
        let layout = Layout::from_size_align(BLOCK, BLOCK).expect("a block has a size");
        for block in self.sizes.iter().flat_map(|size| &size.blocks) {
            // SAFETY: it was allocated so.
            unsafe { dealloc(block.cast(), layout) };
        }
    }
}

fn large_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, GRAIN).expect("no object is larger than memory")
}

/// Makes a block of cells of this size.
fn new_block(cell: usize) -> *mut MemoryBlock {
    let layout = Layout::from_size_align(BLOCK, BLOCK).expect("a block has a size");
    // SAFETY: the size is not zero.
    let block: *mut MemoryBlock = unsafe { alloc(layout) }.cast();
    if block.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the block is this large.
    unsafe { block.write(MemoryBlock { cell: cell as u32, used: 0, is_swept: true }) };
    block
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
fn cells(block: *mut MemoryBlock) -> impl DoubleEndedIterator<Item = *mut Header> {
    // SAFETY: the block is there.
    let used = unsafe { (*block).used as usize };
    // SAFETY: as above.
    (0..used).map(move |at| unsafe { cell_at(block, at) })
}
