//! What stands before and behind the stencils of a function, and the frame that it makes.
//!
//! In: what all stencils of a bytecode want of a frame. Out: code that makes such a frame and takes it back, with places for the
//! sizes that differ from function to function. From the stack pointer up a frame has the stencils' room, the call cell of the
//! function, its context, its slots.

use super::{Backend, Frame};
use crate::field::Field;
use crate::unwind::StackFrame;
use azulejo_core::target::RegSet;

/// How many times the epilogue of baseline code takes the frame down.
pub const LEAVES: usize = 4;

/// How far behind the call cell the context is.
pub const CONTEXT: u32 = 8;
/// How far behind it the slots are.
pub const SLOTS: u32 = 16;
/// A frame with slots is smaller than this: it does not reach beyond a page.
const MAX_OWN: u32 = 4096;

/// The code around the stencils of a function, whatever its frame's size is.
#[derive(Debug)]
pub struct BaselineFrame<M: Backend> {
    /// Without slots.
    pub frame: M::Frame,
    /// How many bytes of it the stencils asked for.
    pub room: u32,
    /// The registers that they use and must be given back.
    pub saved: RegSet,
    /// Keeps the machine's own pointers where stencils want them, and goes where it is told.
    pub prologue: Vec<u8>,
    /// Where in it the frame is made, as [`Frame::write_room`] knows it.
    pub make_at: usize,
    /// Where in it `(cu)` is put into its register, if it is kept there.
    pub unit_at: Vec<(usize, Field)>,
    /// Leaves the function.
    pub epilogue: Vec<u8>,
    /// Where in it the function is left before its end.
    pub left: usize,
    /// Where in it the frame is taken back.
    pub leaves: [u32; LEAVES],
}

/// The frame of one function.
#[derive(Debug)]
pub struct OwnFrame<M: Backend> {
    /// What the function has on the stack.
    pub frame: M::Frame,
    /// Where in it the call cell is of the function that runs in its own slots; zero if it runs in others.
    cell: u32,
    has_slots: bool,
}

impl<M: Backend> OwnFrame<M> {
    /// Where the call cell is, the context, and the slots, if it has any.
    pub fn places(&self) -> Option<[u32; 3]> {
        self.has_slots.then(|| [0, CONTEXT, SLOTS].map(|place| self.cell + place))
    }
}

impl<M: Backend> BaselineFrame<M> {
    /// That of a function with so many slots; they are in it unless they are too many.
    pub fn of(&self, slots: u32) -> OwnFrame<M> {
        let bytes = slots.saturating_mul(8);
        let has_slots = bytes < MAX_OWN && self.frame.size() + bytes.next_multiple_of(16) < MAX_OWN;
        let frame = if has_slots { self.frame.enlarged(bytes) } else { self.frame };
        OwnFrame { frame, cell: self.room, has_slots }
    }
}
