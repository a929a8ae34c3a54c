//! The code before and behind the stencils of a function, and the frame that it makes.
//!
//! In: the registers and the room that all stencils of a bytecode need. Out: code that makes such a frame and drops it, with
//! places for the sizes that differ between functions. From the stack pointer up a frame has the stencils' room, the function's
//! call cell, its context, and its slots.

use super::{Backend, Frame};
use crate::field::Field;
use crate::unwind::StackFrame;
use azulejo_core::target::RegSet;

/// How many times the epilogue of baseline code drops the frame.
pub const LEAVES: usize = 4;

/// The context's offset from the call cell.
pub const CONTEXT: u32 = 8;
/// The slots' offset from the call cell.
pub const SLOTS: u32 = 16;
/// A frame with slots is smaller than this, so it does not reach beyond a page.
const MAX_OWN: u32 = 4096;

/// The code around the stencils of a function, for any size of its frame.
#[derive(Debug)]
pub struct BaselineFrame<M: Backend> {
    /// The frame without slots.
    pub frame: M::Frame,
    /// How many bytes of the frame the stencils need.
    pub room: u32,
    /// The callee-saved registers that the stencils use.
    pub saved: RegSet,
    /// Keeps the machine's own pointers in the registers that stencils expect, and jumps to its target.
    pub prologue: Vec<u8>,
    /// Where in the prologue the frame is made, as [`Frame::write_room`] expects it.
    pub make_at: usize,
    /// Where in the prologue `(cu)` is loaded into its register, if it is kept in one.
    pub unit_at: Vec<(usize, Field)>,
    /// Returns from the function.
    pub epilogue: Vec<u8>,
    /// Where exits before the function's end enter the epilogue.
    pub left: usize,
    /// Where in the epilogue the frame is dropped.
    pub leaves: [u32; LEAVES],
}

/// The frame of one function.
#[derive(Debug)]
pub struct OwnFrame<M: Backend> {
    /// The function's frame on the stack.
    pub frame: M::Frame,
    /// The offset of the word that holds the function's call cell; the word is zero if the function runs in slots of its
    /// caller.
    cell: u32,
    has_slots: bool,
}

impl<M: Backend> OwnFrame<M> {
    /// The offsets of the call cell, the context and the slots, if the frame has slots.
    pub fn places(&self) -> Option<[u32; 3]> {
        self.has_slots.then(|| [0, CONTEXT, SLOTS].map(|place| self.cell + place))
    }
}

impl<M: Backend> BaselineFrame<M> {
    /// The frame of a function with this many slots. The slots are in the frame unless they are too many.
    pub fn of(&self, slots: u32) -> OwnFrame<M> {
        let bytes = slots.saturating_mul(8);
        let has_slots = bytes < MAX_OWN && self.frame.size() + bytes.next_multiple_of(16) < MAX_OWN;
        let frame = if has_slots { self.frame.enlarged(bytes) } else { self.frame };
        OwnFrame { frame, cell: self.room, has_slots }
    }
}
