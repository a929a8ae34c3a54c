//! How shapes come and go.
//!
//! In: what a shape is to be, and in each cycle of the collector which shapes tables have. Out: memory for shapes; if there are many, those
//! that were not reached are freed, a few at a time. The memory of a shape stays memory for shapes, so that whoever has the word of one that is gone
//! finds out.

use super::shape::{Shape, ShapeRef, Shapes};
use std::cell::Cell;
use std::mem::offset_of;

/// Where a shape is, or was.
pub(crate) struct ShapeCell {
    /// How many shapes were there before.
    generation: Cell<u16>,
    /// The cycle of the collector in which the shape was reached last.
    pub(super) reached: Cell<u32>,
    shape: Option<Shape>,
}

impl ShapeCell {
    /// Where code finds how many shapes were there before, and in which cycle of the collector the one was reached last that is there.
    pub(crate) const GENERATION: usize = offset_of!(ShapeCell, generation);
    pub(crate) const REACHED: usize = offset_of!(ShapeCell, reached);

    /// Whether the shape is the one that is there.
    pub(super) fn has(&self, shape: ShapeRef) -> bool {
        self.shape.is_some() && self.generation.get() == shape.generation()
    }

    /// The shape, which is there.
    ///
    /// # Safety
    ///
    /// It must be.
    #[inline(always)]
    pub(super) unsafe fn shape_of(&self, shape: ShapeRef) -> &Shape {
        debug_assert!(self.has(shape), "the shape was freed");
        // SAFETY: the caller guarantees it.
        unsafe { self.shape.as_ref().unwrap_unchecked() }
    }
}

/// So many shapes are looked at at once.
const AT_ONCE: usize = 32;

impl Shapes {
    /// Makes a shape.
    pub(super) fn make(&mut self, shape: Shape) -> ShapeRef {
        let cell = self.vacant.pop().unwrap_or_else(|| {
            let cell = Box::into_raw(Box::new(ShapeCell {
                generation: Cell::new(0),
                reached: Cell::new(0),
                shape: None,
            }));
            self.cells.push(cell);
            cell
        });
        // SAFETY: the cell is there, and no shape is in it.
        let made = unsafe {
            (*cell).shape = Some(shape);
            // While the collector marks, whoever gives the shape to a table marks it, and what it refers to.
            (*cell).reached.set(if self.is_marking { 0 } else { self.cycle });
            ShapeRef::new(cell, (*cell).generation.get())
        };
        self.all.push(made);
        made
    }

    /// A cycle begins: nothing has been reached but what this returns.
    pub(super) fn begin_marking(&mut self) -> Vec<ShapeRef> {
        self.cycle += 1;
        self.is_marking = true;
        let are_few = self.all.len() <= self.few;
        let stay = |shape: &&ShapeRef| are_few && !shape.is_of_class();
        self.all.iter().filter(stay).copied().collect()
    }

    /// All has been reached that is to stay.
    pub(super) fn begin_sweep(&mut self) {
        self.is_marking = false;
        self.next = 0;
    }

    /// Frees some of the shapes that were not reached; returns how much work that was, or `None` if all have been looked at.
    pub(super) fn sweep_some(&mut self) -> Option<usize> {
        if self.next >= self.all.len() {
            return None;
        }
        for _ in 0..AT_ONCE {
            let Some(shape) = self.all.get(self.next).copied() else { break };
            match shape.reached().get() == self.cycle {
                true => self.next += 1,
                false => {
                    self.all.swap_remove(self.next);
                    self.free(shape);
                }
            }
        }
        Some(AT_ONCE << 7)
    }

    fn free(&mut self, shape: ShapeRef) {
        // SAFETY: the parent is a shape of this heap.
        if let Some(parent) = shape.parent.filter(|parent| unsafe { ShapeRef::is_there(parent.word()) }) {
            parent.forget(shape);
        }
        shape.shorten();
        let cell = shape.cell();
        // SAFETY: the shape is there, and no table has it.
        unsafe {
            (*cell).shape = None;
            // A cell of which the words have run out stays vacant.
            if let Some(next) = shape.generation().checked_add(1) {
                (*cell).generation.set(next);
                self.vacant.push(cell);
            }
        }
    }
}

impl Drop for Shapes {
    fn drop(&mut self) {
        for cell in std::mem::take(&mut self.cells) {
            // SAFETY: it comes from a box, and the tables that refer to it are gone.
            drop(unsafe { Box::from_raw(cell) });
        }
    }
}
