//! Who is told of each function that is compiled: debuggers, profilers, or nobody.

#[cfg(all(unix, not(target_vendor = "apple")))]
pub use crate::debugger::Announced;
#[cfg(target_os = "linux")]
use crate::jitdump;
#[cfg(target_os = "linux")]
pub use crate::jitdump::Dump;
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

/// There are no dumps here.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub enum Dump {}

#[cfg(not(target_os = "linux"))]
impl Dump {
    /// There is none.
    pub fn of(_: &std::path::Path) -> Option<&'static Dump> {
        None
    }
}

/// Who is told of compiled functions.
///
/// ```
/// use azulejo_x64::Watchers;
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
pub(crate) struct Told<'a> {
    pub(crate) name: &'a str,
    /// Its bytecode, a line each.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only dumps have it"))]
    pub(crate) source: &'a str,
    pub(crate) described: Described<'a>,
    /// Where it runs.
    pub(crate) address: *const u8,
    /// Where each piece starts and which bytecode it is from.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only dumps have it"))]
    pub(crate) map: &'a [(u32, u32)],
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only dumps have it"))]
    pub(crate) code: &'a [u8],
}

impl Watchers {
    /// Whether anybody is told anything.
    pub fn any(&self) -> bool {
        self.debugger || self.perf_map || self.dump.is_some()
    }

    /// Tells of code that runs at `address`. The debugger forgets it when the result is dropped.
    pub(crate) fn tell(&self, told: &Told<'_>) -> Option<Announced> {
        let Told { name, described, address, .. } = told;
        if self.perf_map {
            profiler::note(name, *address, described.end);
        }
        #[cfg(target_os = "linux")]
        if let Some(dump) = self.dump {
            let Told { source, map, code, .. } = *told;
            dump.add(&jitdump::Function { name, source, map, code, address: address.addr() });
        }
        if self.debugger { Announced::new(name, described, *address) } else { None }
    }
}
