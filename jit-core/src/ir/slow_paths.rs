//! What a function's bytecodes have been through: whether the slow path of each has ever run, and whether code has been left there
//! that lacked it.
//!
//! In: the interpreter and baseline code, which note a slow path when it runs, and the engine, which notes misses and gaps. Out: whether
//! compilers compile the slow path, which is an exit if it has never run, and whether the optimizer checks the kinds of values in front of a
//! loop that starts there. Entries change at any time, and from no to yes on any thread. They become no again where a site has learned, or
//! the bytecode has become another one.

use super::bytecode::Bytecode;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

/// For each bytecode of a function, what is known of its slow path. Empty if no bytecode has a slow path.
#[derive(Debug)]
pub struct SlowPaths {
    /// Whether the slow path has run.
    ran: Vec<AtomicU8>,
    /// Whether code was left there because it lacked a slow path, or because a check in front of a loop failed.
    missed: Vec<AtomicU8>,
    /// Whether baseline code was left there, because it lacked something.
    lacked: Vec<AtomicU8>,
}

/// The entries of functions without slow paths.
pub static NO_SLOW_PATHS: SlowPaths = SlowPaths { ran: Vec::new(), missed: Vec::new(), lacked: Vec::new() };

impl SlowPaths {
    /// The entries for this code. No slow path has run yet.
    pub fn of<B: Bytecode>(code: &[B]) -> SlowPaths {
        let has_some = !B::SLOW_PATHS.is_empty() && code.iter().any(|op| B::SLOW_PATHS[op.opcode()]);
        let len = if has_some { code.len() } else { 0 };
        let none = || (0..len).map(|_| AtomicU8::new(0)).collect();
        SlowPaths { ran: none(), missed: none(), lacked: none() }
    }

    /// Whether no bytecode has a slow path.
    pub fn is_empty(&self) -> bool {
        self.ran.is_empty()
    }

    /// Notes that the slow path of the bytecode at `at` runs.
    #[inline(always)]
    pub fn note(&self, at: u32) {
        if let Some(entry) = self.ran.get(at as usize) {
            entry.store(1, Relaxed);
        }
    }

    /// Notes that the bytecode at `at` has become another one, whose slow path has not run.
    #[inline(always)]
    pub fn forget(&self, at: u32) {
        if let Some(entry) = self.ran.get(at as usize) {
            entry.store(0, Relaxed);
        }
    }

    /// Notes that the optimizer's code was left at the bytecode at `at`, for want of a slow path or by a guard.
    pub fn note_miss(&self, at: u32) {
        if let Some(entry) = self.missed.get(at as usize) {
            entry.store(1, Relaxed);
        }
    }

    /// Whether the optimizer's code has been left at the bytecode at `at`.
    pub fn has_missed(&self, at: u32) -> bool {
        self.missed.get(at as usize).is_some_and(|entry| entry.load(Relaxed) != 0)
    }

    /// Notes that baseline code was left at the bytecode at `at`, for want of its slow path or of all cases but one.
    pub fn note_gap(&self, at: u32) {
        if let Some(entry) = self.lacked.get(at as usize) {
            entry.store(1, Relaxed);
        }
    }

    /// Whether baseline code may do without the slow path of the bytecode at `at`: it has not run, and was not missed in such code.
    pub fn may_be_left_out(&self, at: u32) -> bool {
        let Some(lacked) = self.lacked.get(at as usize) else { return false };
        lacked.load(Relaxed) == 0 && !self.have_run(at)
    }

    /// Whether the slow path of the bytecode at `at` has ever run.
    pub fn have_run(&self, at: u32) -> bool {
        self.ran.get(at as usize).is_some_and(|entry| entry.load(Relaxed) != 0)
    }

    /// A bytecode's entry; `None` if no bytecode of the function has a slow path.
    pub(super) fn entry(&self, at: u32) -> Option<&AtomicU8> {
        self.ran.get(at as usize)
    }

    /// The address of the entries, in the order of the bytecodes: each is a byte in which code stores a one. There is nothing at
    /// it if no bytecode has a slow path.
    pub fn address(&self) -> u64 {
        self.ran.as_ptr().expose_provenance() as u64
    }
}
