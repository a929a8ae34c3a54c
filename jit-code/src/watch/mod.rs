//! Who is told of each function that is compiled: debuggers, profilers, or nobody.

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

/// There are no dumps here.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum Dump {}

#[cfg(not(target_os = "linux"))]
impl Dump {
    /// There is none.
    pub fn of(_: &crate::Machine, _: &std::path::Path) -> Option<&'static Dump> {
        None
    }
}

/// Who is told of compiled functions.
///
/// ```
/// use azulejo_code::Watchers;
/// assert!(!Watchers::default().any());
/// assert!(Watchers { debugger: true, ..Watchers::default() }.any());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Watchers {
    /// GDB and LLDB, by their interface for compilers in the process.
    pub debugger: bool,
    /// `perf`, by the file of names that it reads.
    pub perf_map: bool,
    /// `perf inject`, by a dump of everything.
    pub dump: Option<&'static Dump>,
}

/// What is told of a function.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its bytecode, a line each.
    pub source: &'a str,
    /// What is to be known of its code.
    pub described: Described<'a>,
    /// Where it runs.
    pub address: *const u8,
    /// Where each piece starts and which bytecode it is from.
    pub map: &'a [(u32, u32)],
    /// The code.
    pub code: &'a [u8],
}

impl Watchers {
    /// Whether anybody is told anything.
    pub fn any(&self) -> bool {
        self.debugger || self.perf_map || self.dump.is_some()
    }

    /// Tells of code that runs at `address`. The debugger forgets it when the result is dropped.
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
