//! Accesses that may fault: where they are in machine code, and how a fault becomes a trap.
//!
//! In: installed code and its [`Site`]s. Out: a fault at one of them ends the function as a trap of its template would. The
//! signal handler looks the program counter up in the registry, and makes the function resume at one of its epilogues, with the
//! two result registers set as the caller expects them. The stack pointer has the same value everywhere in the body, so nothing
//! else must be restored, and the unwind rules at the epilogue hold.
//!
//! If there is no such handler, [`can_trap`] returns false; code must then compare.

mod registry;
#[cfg(target_os = "linux")]
mod signal;
#[cfg(target_os = "linux")]
mod stack;
#[cfg(not(target_os = "linux"))]
mod signal {
    use crate::machine::Signals;

    /// There is no signal handler on this system.
    pub(super) fn is_installed(_: &'static Signals) -> bool {
        false
    }
}

use crate::machine::{Landing, Machine};
use azulejo_core::ir::status::Left;
pub use registry::Registered;
pub(crate) use registry::{RegistryLock, hold};

/// A piece of code in which an access may fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The offset of its start.
    pub start: u32,
    /// The offset of its end.
    pub end: u32,
    /// The code of the trap that a fault becomes.
    pub code: u32,
    /// The bytecode that traps.
    pub origin: u32,
}

/// Maps a fault to its trap.
pub trait Locate: Send + Sync {
    /// For an offset in the code, the trap's code and the bytecode. A signal handler calls it, so it must only read.
    fn locate(&self, at: u32) -> Option<(u32, u32)>;
}

impl Locate for Box<[Site]> {
    fn locate(&self, at: u32) -> Option<(u32, u32)> {
        let site = self[..self.partition_point(|site| site.start <= at)].last()?;
        (at < site.end).then_some((site.code, site.origin))
    }
}

/// A function whose code has accesses that may fault.
pub struct Guarded {
    /// The address of its code.
    pub start: usize,
    /// The length of its code in bytes.
    pub len: usize,
    /// The offset of the epilogue at which it resumes.
    pub leave: u32,
    /// Whether it returns by the bytecode calling convention, instead of with a status.
    pub is_call_entry: bool,
    /// The accesses that may fault.
    pub sites: Box<dyn Locate>,
}

impl Guarded {
    fn land(&self, pc: usize) -> Option<Landing> {
        let (code, origin) = self.sites.locate((pc - self.start) as u32)?;
        let at = self.start + self.leave as usize;
        Some(match self.is_call_entry {
            true => Landing { at, first: origin as u64, second: code as u64 },
            false => Landing { at, first: Left::Trapped.word(code), second: origin as u64 },
        })
    }
}

/// Whether faults in compiled code can become traps here. If so, the first call installs a handler of `SIGSEGV` and `SIGBUS`,
/// which passes all other faults to the older handler.
pub fn can_trap(machine: &'static Machine) -> bool {
    machine.signals.as_ref().is_some_and(signal::is_installed)
}

/// Gives the running thread a stack for signal handlers, if it has none.
#[inline]
pub fn prepare_thread() {
    #[cfg(target_os = "linux")]
    stack::prepare();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(start: u32, end: u32) -> Site {
        Site { start, end, code: start + 1, origin: start + 2 }
    }

    #[test]
    fn a_fault_is_found_by_where_it_is_and_nowhere_else() {
        let sites: Box<[Site]> = [site(4, 8), site(8, 11), site(20, 21)].into();
        let found: Vec<u32> = (0..30).filter(|at| sites.locate(*at).is_some()).collect();
        assert_eq!(found, [4, 5, 6, 7, 8, 9, 10, 20]);
        assert_eq!(sites.locate(9), Some((9, 10)));
        let registered = |start, is_call_entry| {
            Registered::new(Guarded {
                start,
                len: 30,
                leave: 25,
                is_call_entry,
                sites: Box::new(sites.clone()),
            })
        };
        let first = registered(0x7000_0000, false);
        let second = registered(0x7000_0100, true);
        assert_eq!(
            registry::find(0x7000_0008),
            Some(Landing { at: 0x7000_0019, first: Left::Trapped.word(9), second: 10 })
        );
        assert_eq!(registry::find(0x7000_0114), Some(Landing { at: 0x7000_0119, first: 22, second: 21 }));
        let nowhere = [0x7000_000b, 0x7000_0020, 0x6fff_ffff, 0x7000_0100, 0x7000_0200];
        assert!(nowhere.into_iter().all(|pc| registry::find(pc).is_none()));
        drop(first);
        assert_eq!(registry::find(0x7000_0008), None);
        drop(second);
    }
}
