//! The edge of memory: 128 bytes that can be touched, and behind them what faults.
//!
//! Where an opcode works on what a `within` keeps in bounds, code without comparisons faults there. The bytes are the
//! thread's; a run puts its own there when it starts, and takes them when it has ended.

use azulejo::memory::{Reserved, page_size};

/// How many bytes can be touched.
pub const BYTES: usize = 128;

/// Where the bytes start. Opcodes read it as the address that it is.
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
    /// Another edge, far from the usual one.
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

    /// What is there now.
    pub(crate) fn read(self) -> [u64; BYTES / 8] {
        // SAFETY: the bytes are the thread's, and there as long as that is.
        unsafe { self.0.read() }
    }

    pub(crate) fn write(self, bytes: [u64; BYTES / 8]) {
        // SAFETY: as above.
        unsafe { self.0.write(bytes) };
    }
}
