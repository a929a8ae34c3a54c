//! When the collector works, and what becomes of what it has found.
//!
//! In: frames that wait, and what the collector is to do. Out: memory, finalizers that have run, and values of userdata that are dropped.

use super::roots::Roots;
use super::vm::Vm;
use crate::object::heap::Heap;
use crate::object::value::{USERDATA, Value};
use crate::run::error::Thrown;
use azulejo::Frames;
use std::cell::Cell;
use std::rc::Rc;

impl Vm {
    /// Lets the collector work; what frames have stays.
    pub(crate) fn collect(&mut self, frames: &Frames<'_>, all: bool) {
        self.with_roots(frames, |heap, roots| match all {
            true => heap.collect(roots),
            false => _ = heap.step(roots),
        });
    }

    /// Lets the collector do a step, which is due; runs finalizers. Fails if more is alive than may be, or if a finalizer does: what allocates fails
    /// then, as in C's Lua.
    pub(crate) fn collect_due(&mut self, frames: &Frames<'_>) -> Result<(), Thrown> {
        self.collect(frames, false);
        if self.heap.is_too_large() {
            self.collect(frames, true);
            if self.heap.is_too_large() {
                return self.fail_for_memory();
            }
        }
        self.finalize_between(frames)
    }

    /// Frees all that nothing refers to, and runs the finalizers of that.
    pub(crate) fn collect_all(&mut self, frames: &Frames<'_>) -> Result<(), Thrown> {
        self.collect(frames, true);
        self.finalize(frames)
    }

    /// Lets the collector work as if so many KiB had been allocated; runs finalizers. Returns whether a cycle has ended.
    pub(crate) fn collect_some(&mut self, frames: &Frames<'_>, kib: usize) -> Result<bool, Thrown> {
        let has_ended = self.with_roots(frames, |heap, roots| heap.step_for(kib.max(1) << 10, roots));
        self.finalize(frames).map(|()| has_ended)
    }

    /// Lets the collector work.
    fn with_roots<T>(&mut self, frames: &Frames<'_>, work: impl FnOnce(&mut Heap, &Roots<'_>) -> T) -> T {
        self.handles.borrow_mut().forget_released();
        let (heap, roots) = Roots::of(self, frames);
        let result = work(heap, &roots);
        self.forget_gone();
        result
    }

    /// Drops the values of userdata that are gone, and runs the finalizers of what the collector has found.
    pub(crate) fn finalize(&mut self, frames: &Frames<'_>) -> Result<(), Thrown> {
        self.drop_lost_values(frames);
        while let Some(userdata) = self.heap.next_unfinalized() {
            if let Some(finalizer) = self.heap.finalizer(userdata) {
                self.call_value(frames, finalizer, &[Value::object(USERDATA, userdata)])?;
            }
        }
        Ok(())
    }

    /// Drops the values of userdata that are gone. They may use the program, which may lose others meanwhile: those wait for their turn.
    pub(crate) fn drop_lost_values(&mut self, frames: &Frames<'_>) {
        if self.is_dropping.replace(true) {
            return;
        }
        let is_dropping = Rc::clone(&self.is_dropping);
        let _done = Done(&is_dropping);
        while let Some(value) = self.heap.take_lost_value() {
            (self.drop_value)(self, frames, value);
        }
    }

    /// Runs finalizers at a time that the program does not know of: it may be about to take results.
    fn finalize_between(&mut self, frames: &Frames<'_>) -> Result<(), Thrown> {
        if !self.heap.has_unfinalized() && !self.heap.has_lost_values() {
            return Ok(());
        }
        let results = self.results.save();
        let kept = self.roots.len();
        self.roots.extend_from_slice(results.behind());
        let result = self.finalize(frames);
        self.roots.truncate(kept);
        self.results.restore(&results);
        result
    }
}

/// When this is dropped, values may be dropped again, also after a panic.
struct Done<'a>(&'a Cell<bool>);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
