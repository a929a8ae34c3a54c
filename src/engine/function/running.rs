//! The bytecode that runs, where bytecodes may become others (`(quicken …)`).
//!
//! In: a function's bytecode as it was defined. Out: a copy of it, which is what both interpreters read and what all code writes that makes
//! a bytecode another one. It never moves, and only the engine's thread reads and writes it: what other threads compile is a [`Snapshot`].
//! Holds: a bytecode's operands stay, and whatever follows from the bytecode as it was defined stays true.

use super::body::Body;
use azulejo_core::ir::bytecode::{Bytecode, MAX_OPERANDS, Raw};
use azulejo_core::ir::sites::SiteSnapshot;
use azulejo_core::pass::build::Instructions;
use std::cell::UnsafeCell;

/// The bytecode that runs.
pub(crate) struct RunningOps<B>(Box<[UnsafeCell<B>]>);

/// What compilers are to know of what a function has been through.
#[derive(Clone)]
pub(crate) struct Snapshot<B> {
    /// What its sites have learned; `None` if code is to read them when it runs.
    pub(crate) sites: Option<SiteSnapshot>,
    /// What its bytecodes have become, if they may become others.
    pub(super) ops: Option<OpsSnapshot<B>>,
}

/// What the bytecodes have become, and where they run.
#[derive(Clone)]
pub(super) struct OpsSnapshot<B> {
    ops: Vec<B>,
    start: usize,
}

impl<B: Bytecode> Snapshot<B> {
    /// For code that is about the function as a whole.
    pub(crate) const NOTHING: Snapshot<B> = Snapshot { sites: None, ops: None };

    /// The bytecodes of the function, which is this one's body.
    pub(crate) fn ops<'a>(&'a self, body: &'a Body<B>) -> &'a [B] {
        self.ops.as_ref().map_or(body.ops(), |known| &known.ops)
    }
}

impl<B: Bytecode> RunningOps<B> {
    /// A copy of this code; `None` if none of its bytecodes becomes another one.
    pub(super) fn of(code: &[B]) -> Option<RunningOps<B>> {
        if !code.iter().any(|op| B::QUICKENS.get(op.opcode()) == Some(&true)) {
            return None;
        }
        let running = RunningOps(code.iter().copied().map(UnsafeCell::new).collect());
        // Machine code has the address as a number.
        running.ops().cast_mut().cast::<B>().expose_provenance();
        Some(running)
    }

    pub(super) fn ops(&self) -> *const [B] {
        // A cell has the layout of what is in it, and may be written by this pointer.
        (&raw const self.0[..]) as *const [B]
    }

    /// The bytecodes as they are now. For the engine's thread.
    pub(super) fn now(&self) -> Vec<B> {
        // SAFETY: the engine's thread runs no bytecode now.
        self.0.iter().map(|op| unsafe { *op.get() }).collect()
    }

    pub(super) fn snapshot(&self) -> OpsSnapshot<B> {
        OpsSnapshot { ops: self.now(), start: self.0.as_ptr().addr() }
    }
}

impl<B: Bytecode> Instructions for OpsSnapshot<B> {
    fn len(&self) -> usize {
        self.ops.len()
    }

    fn get(&self, at: usize) -> (usize, [Raw; MAX_OPERANDS]) {
        (self.ops[at].opcode(), self.ops[at].operands())
    }

    fn address_of(&self, at: usize) -> u64 {
        (self.start + at * size_of::<B>()) as u64
    }
}
