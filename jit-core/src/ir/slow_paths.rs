//! What a function's bytecodes have been through: whether the slow path of each has ever run.
//!
//! In: the interpreter and baseline code, which note a slow path when it runs. Out: whether the optimizer compiles it. A slow
//! path that has never run is an exit there. Entries only change from no to yes, at any time and from any thread.

use super::bytecode::Bytecode;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

/// For each bytecode of a function, whether its slow path has run. Empty if no bytecode has a slow path.
#[derive(Debug)]
pub struct SlowPaths(Vec<AtomicU8>);

/// The entries of functions without slow paths.
pub static NO_SLOW_PATHS: SlowPaths = SlowPaths(Vec::new());

impl SlowPaths {
    /// The entries for this code. No slow path has run yet.
    pub fn of<B: Bytecode>(code: &[B]) -> SlowPaths {
        let has_some = !B::SLOW_PATHS.is_empty() && code.iter().any(|op| B::SLOW_PATHS[op.opcode()]);
        let len = if has_some { code.len() } else { 0 };
        SlowPaths((0..len).map(|_| AtomicU8::new(0)).collect())
    }

    /// Notes that the slow path of the bytecode at `at` runs.
    #[inline(always)]
    pub fn note(&self, at: u32) {
        if let Some(entry) = self.0.get(at as usize) {
            entry.store(1, Relaxed);
        }
    }

    /// Whether the slow path of the bytecode at `at` has ever run.
    pub fn have_run(&self, at: u32) -> bool {
        self.0.get(at as usize).is_some_and(|entry| entry.load(Relaxed) != 0)
    }

    /// The address of a bytecode's entry, a byte in which code stores a one.
    ///
    /// # Panics
    ///
    /// If these are not the entries of that bytecode's function.
    pub fn address(&self, at: u32) -> u64 {
        (&raw const self.0[at as usize]).expose_provenance() as u64
    }
}
