//! Linear memories. Their address space is reserved once, so that a memory does not move when it grows.
//!
//! A guarded memory reserves every address that a 32-bit address plus a constant offset can reach. Accesses beyond its end fault,
//! and the engine turns the fault into a trap, so compiled code need not compare. Otherwise bytecode checks the length.

use azulejo::memory::Reserved;
use memmap2::{MmapMut, MmapOptions};
use wasmparser::MemoryType;

/// The page size of WebAssembly.
const PAGE: u64 = 1 << 16;

/// The maximum number of pages with 32-bit addresses.
const MAX_PAGES: u64 = 1 << 16;

/// The size of a guarded reservation: a 32-bit address, a 32-bit offset, and the size of the access.
const GUARDED: u64 = (1 << 33) + PAGE;

/// The way in which accesses beyond the end of a memory are detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryMode {
    /// Each access compares its address with the length.
    Checked,
    /// Such accesses fault. Where the system does not support that, accesses are checked.
    Guarded,
}

impl MemoryMode {
    /// Whether out-of-bounds accesses fault in this mode on this machine.
    pub(crate) fn is_guarded(self) -> bool {
        let has_room = || Reserved::new(0, GUARDED as usize).is_ok();
        self == MemoryMode::Guarded && azulejo::can_guard() && has_room()
    }
}

/// A linear memory.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: Bytes,
    pages: u64,
    pub(crate) ty: MemoryType,
}

#[derive(Debug)]
enum Bytes {
    Guarded(Reserved),
    /// Memory that is accessible as a whole.
    Plain(MmapMut),
}

impl Memory {
    /// Reserves space for the memory's growth. `None` if there is not even room for its initial size.
    pub(crate) fn new(ty: MemoryType, is_guarded: bool) -> Option<Memory> {
        let bytes = match is_guarded {
            true => Bytes::Guarded(Reserved::new((ty.initial * PAGE) as usize, GUARDED as usize).ok()?),
            false => Bytes::Plain(plain(ty)?),
        };
        Some(Memory { bytes, pages: ty.initial, ty })
    }

    pub(crate) fn start(&mut self) -> *mut u8 {
        match &mut self.bytes {
            Bytes::Guarded(reserved) => reserved.start(),
            Bytes::Plain(bytes) => bytes.as_mut_ptr(),
        }
    }

    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// The size in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.pages * PAGE
    }

    /// Adds zeroed pages. Returns the old number of pages, or `None` if there is no room.
    pub(crate) fn grow(&mut self, pages: u32) -> Option<u32> {
        let (old, new) = (self.pages, self.pages + u64::from(pages));
        if new > self.ty.maximum.unwrap_or(MAX_PAGES).min(MAX_PAGES) {
            return None;
        }
        match &mut self.bytes {
            Bytes::Guarded(reserved) => reserved.grow((new * PAGE) as usize).ok()?,
            Bytes::Plain(bytes) if new * PAGE > bytes.len() as u64 => return None,
            Bytes::Plain(_) => {}
        }
        self.pages = new;
        Some(old as u32)
    }
}

/// Space for the maximum size of a memory, or for less if the system refuses that.
fn plain(ty: MemoryType) -> Option<MmapMut> {
    let mut pages = ty.maximum.unwrap_or(MAX_PAGES).clamp(1, MAX_PAGES);
    loop {
        let bytes = usize::try_from(pages.max(ty.initial) * PAGE).ok()?;
        match MmapOptions::new().len(bytes).no_reserve_swap().map_anon() {
            Ok(bytes) => return Some(bytes),
            Err(_) if pages > ty.initial => pages /= 2,
            Err(_) => return None,
        }
    }
}
