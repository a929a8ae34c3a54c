//! Linear memories: address space that is reserved once, so that a memory never moves when it grows.
//!
//! A guarded one reserves whatever an address of 32 bits and a constant offset can name. What lies behind its end faults, and
//! the engine makes a trap of that: compiled code need not compare. Of the others bytecode asks how long they are.

use azulejo::memory::Reserved;
use memmap2::{MmapMut, MmapOptions};
use wasmparser::MemoryType;

/// A page of WebAssembly.
const PAGE: u64 = 1 << 16;

/// The most pages that addresses of 32 bits can name.
const MAX_PAGES: u64 = 1 << 16;

/// An address, an offset, and what is accessed there.
const GUARDED: u64 = (1 << 33) + PAGE;

/// How accesses beyond the end of a memory are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryMode {
    /// Each access compares.
    Checked,
    /// They fault. Where the system does not allow that, accesses are checked.
    Guarded,
}

impl MemoryMode {
    /// Whether accesses fault in this mode on this machine.
    pub(crate) fn is_guarded(self) -> bool {
        let has_room = || Reserved::new(0, GUARDED as usize).is_ok();
        self == MemoryMode::Guarded && azulejo::can_guard() && has_room()
    }
}

/// A memory.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: Bytes,
    pages: u64,
    pub(crate) ty: MemoryType,
}

#[derive(Debug)]
enum Bytes {
    Guarded(Reserved),
    /// All of it can be touched.
    Plain(MmapMut),
}

impl Memory {
    /// Reserves what the memory may grow to; `None` if there is not even room for what it has at first.
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

    /// In bytes.
    pub(crate) fn length(&self) -> u64 {
        self.pages * PAGE
    }

    /// Adds pages, which are zero; how many there were, if there is room.
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

/// Room for what a memory may grow to or, where the system refuses that, for less.
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
