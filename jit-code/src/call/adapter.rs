//! Adapters: code that takes calls for a function whose code wants its arguments in a frame.

use crate::memory::Installed;

/// Where functions of bytecode come in that others call.
#[derive(Debug)]
pub struct Adapter {
    installed: Installed,
    entry: u32,
    /// Where calls come in that leave their arguments in memory, if they may.
    from_memory: Option<u32>,
}

impl Adapter {
    /// One whose code is installed, and entered there: with arguments where calls have them, and with arguments in memory. One
    /// without the second entry takes any number of arguments.
    pub fn new(installed: Installed, entry: u32, from_memory: Option<u32>) -> Adapter {
        Adapter { installed, entry, from_memory }
    }

    /// Where calls go.
    pub fn entry(&self) -> *const u8 {
        self.at(self.entry)
    }

    /// Where those go that leave their arguments in memory, if it takes them.
    pub fn memory_entry(&self) -> Option<*const u8> {
        self.from_memory.map(|at| self.at(at))
    }

    fn at(&self, place: u32) -> *const u8 {
        self.installed.address().wrapping_add(place as usize)
    }

    /// Whether it takes calls whatever the number of their arguments is.
    pub fn takes_any_number(&self) -> bool {
        self.from_memory.is_none()
    }

    /// The addresses of its code.
    pub fn addresses(&self) -> core::ops::Range<usize> {
        let start = self.installed.address().addr();
        start..start + self.installed.size()
    }
}
