//! Who is told of each function that is compiled: debuggers, profilers, or nobody.

#[cfg(all(unix, not(target_vendor = "apple")))]
pub use crate::debugger::Announced;
use crate::profiler;
use crate::unwind::Described;

/// Debuggers are told nothing here.
#[cfg(not(all(unix, not(target_vendor = "apple"))))]
#[derive(Debug)]
pub enum Announced {}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
impl Announced {
    fn new(_: &str, _: &Described<'_>, _: *const u8) -> Option<Announced> {
        None
    }
}

/// Who is told of compiled functions.
///
/// ```
/// use azulejo_x64::Watchers;
/// assert!(!Watchers::default().any());
/// assert!(Watchers { debugger: true, perf_map: false }.any());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watchers {
    /// GDB and LLDB, by their interface for compilers in the process.
    pub debugger: bool,
    /// `perf`, by the file of names that it reads.
    pub perf_map: bool,
}

impl Watchers {
    /// Whether anybody is told anything.
    pub fn any(&self) -> bool {
        self.debugger || self.perf_map
    }

    /// Tells of code that runs at `address`. The debugger forgets it when the result is dropped.
    pub(crate) fn tell(&self, name: &str, code: &Described<'_>, address: *const u8) -> Option<Announced> {
        if self.perf_map {
            profiler::note(name, address, code.end);
        }
        if self.debugger { Announced::new(name, code, address) } else { None }
    }
}
