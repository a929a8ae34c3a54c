//! The edge of memory: 128 accessible bytes in front of a page that faults.
//!
//! Where a `within` keeps an opcode's access in bounds, code without comparisons faults there. Each thread has its own
//! bytes. A run writes their initial contents when it starts, and reads them back when it has ended.

use azulejo::memory::{Reserved, page_size};

/// How many bytes are accessible.
pub const BYTES: usize = 128;

/// The address of the bytes. Opcodes read it as a plain address.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Edge(*mut [u64; BYTES / 8]);

impl Default for Edge {
    fn default() -> Self {
        Edge::of(0)
    }
}

impl PartialEq for Edge {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Edge {
    /// A second edge, far from the usual one.
    pub fn far() -> Edge {
        Edge::of(1)
    }

    fn of(number: usize) -> Edge {
        thread_local! {
            static PAGES: [Reserved; 2] =
                [(); 2].map(|()| Reserved::new(page_size(), 2 * page_size()).expect("there is room"));
        }
        Edge(PAGES.with(|pages| pages[number].start().wrapping_add(page_size() - BYTES).cast()))
    }

    /// The address in the middle of the bytes.
    pub(crate) fn middle(self) -> u64 {
        self.0.addr() as u64 + BYTES as u64 / 2
    }

    /// The current contents of the bytes.
    pub(crate) fn read(self) -> [u64; BYTES / 8] {
        // SAFETY: the bytes belong to this thread and stay mapped as long as it runs.
        unsafe { self.0.read() }
    }

    pub(crate) fn write(self, bytes: [u64; BYTES / 8]) {
        // SAFETY: as above.
        unsafe { self.0.write(bytes) };
    }
}
