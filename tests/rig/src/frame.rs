//! A frame between guard pages: an access beyond it faults, where it would otherwise only make a result wrong.

use memmap2::MmapRaw;

/// Memory for the slots of VM registers, between two inaccessible pages. The slots touch one of them.
#[derive(Debug)]
pub struct Frame {
    map: MmapRaw,
}

const PAGE: usize = 4096;
/// The most slots a frame can have.
pub const MAX_SLOTS: usize = 4 * PAGE / 8;

impl Default for Frame {
    fn default() -> Self {
        let bytes = MAX_SLOTS * 8 + 2 * PAGE;
        let map = memmap2::MmapOptions::new().len(bytes).map_anon().expect("there is memory");
        let map = MmapRaw::from(map);
        for guard in [0, bytes - PAGE] {
            // SAFETY: the pages belong to this map, and are not in use yet.
            let done = unsafe { libc::mprotect(map.as_mut_ptr().add(guard).cast(), PAGE, libc::PROT_NONE) };
            assert_eq!(done, 0, "pages can be protected");
        }
        Frame { map }
    }
}

impl Frame {
    /// Returns the first of `count` slots with these values, followed by zeros. The slots are at the end of the frame's
    /// memory, or at its start.
    pub fn slots(&mut self, count: usize, first: &[u64], at_end: bool) -> *mut u64 {
        assert!(count <= MAX_SLOTS && first.len() <= count, "the frame has room");
        let room = self.map.as_mut_ptr().wrapping_add(PAGE).cast::<u64>();
        let slots = room.wrapping_add(if at_end { MAX_SLOTS - count } else { 0 });
        for at in 0..count {
            // SAFETY: the slots lie between the guard pages.
            unsafe { slots.add(at).write(first.get(at).copied().unwrap_or(0)) };
        }
        slots
    }
}
