//! The tools that are told of each compiled function: debuggers and profilers.

#[cfg(all(unix, not(target_vendor = "apple")))]
pub mod debugger;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod elf;
#[cfg(target_os = "linux")]
pub mod jitdump;
pub mod perf_map;

use crate::unwind::Described;
#[cfg(all(unix, not(target_vendor = "apple")))]
pub use debugger::Announced;
#[cfg(target_os = "linux")]
pub use jitdump::Dump;

/// Does not exist on this system: debuggers are told nothing.
#[cfg(not(all(unix, not(target_vendor = "apple"))))]
#[derive(Debug)]
pub enum Announced {}

#[cfg(not(all(unix, not(target_vendor = "apple"))))]
impl Announced {
    fn new(_: &str, _: &Described<'_>, _: *const u8) -> Option<Announced> {
        None
    }
}

/// Does not exist on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum Dump {}

#[cfg(not(target_os = "linux"))]
impl Dump {
    /// There are no dumps on this system.
    pub fn of(_: &crate::Machine, _: &std::path::Path) -> Option<&'static Dump> {
        None
    }
}

/// The tools that are told of compiled functions.
///
/// ```
/// use azulejo_code::Watchers;
/// assert!(!Watchers::default().any());
/// assert!(Watchers { debugger: true, ..Watchers::default() }.any());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Watchers {
    /// GDB and LLDB, by their interface for JIT compilers.
    pub debugger: bool,
    /// `perf`, by its file of names.
    pub perf_map: bool,
    /// `perf inject`, by a dump of all code.
    pub dump: Option<&'static Dump>,
}

/// The description of a function for watchers.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The function's bytecode, one instruction a line.
    pub source: &'a str,
    /// The description of its code for debuggers and unwinders.
    pub described: Described<'a>,
    /// The address that the code runs at.
    pub address: *const u8,
    /// The offset of each piece of code and its bytecode.
    pub map: &'a [(u32, u32)],
    /// The code.
    pub code: &'a [u8],
}

impl Watchers {
    /// Whether there are any watchers.
    pub fn any(&self) -> bool {
        self.debugger || self.perf_map || self.dump.is_some()
    }

    /// Tells all watchers of code that runs at `address`. Debuggers forget it when the result is dropped.
    pub fn tell(&self, told: &Told<'_>) -> Option<Announced> {
        let Told { name, described, address, .. } = told;
        if self.perf_map {
            perf_map::note(name, *address, described.end);
        }
        #[cfg(target_os = "linux")]
        if let Some(dump) = self.dump {
            let Told { source, map, code, .. } = *told;
            dump.add(&jitdump::Function { name, source, map, code, address: address.addr() });
        }
        if self.debugger { Announced::new(name, described, *address) } else { None }
    }
}
