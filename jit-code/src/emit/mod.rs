//! Emit machine code: one function a tile.
//!
//! In: a tile list, its assignment, the emitters of the tiles. Out: [`Code`], position-independent bytes with a
//! table from code offsets to instructions. [`mod@layout`] says which blocks are emitted in which order; jumps to what
//! follows are left out. [`link`] gives jumps their distance, and their short form where that is enough.
//!
//! What is emitted for a tile, a move, the start of a function is the machine's business: its [`Backend`] is the emitter that
//! all of them write into.

mod around;
mod buffer;
mod code;
mod layout;
mod link;
#[cfg(test)]
mod tests;
mod tile;

use crate::call::{AdapterAdmission, Admission, Callbacks, Entries, Host, HostFunctions, Stubs, TargetCode};
use crate::faults::Site;
use crate::machine::Machine;
use crate::memory::reach::Reach;
use crate::status::RawStatus;
use crate::unwind::StackFrame;
use azulejo_core::error::Error;
use azulejo_core::ir::assignment::{Assignment, Move};
use azulejo_core::ir::emitted::Maker;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::tiles::{Fault, TileList};
use azulejo_core::target::RegSet;
use core::fmt;
use core::ops::DerefMut;

pub use around::{BaselineFrame, CONTEXT, LEAVES, OwnFrame, SLOTS};
pub use buffer::Buffer;
pub use code::Code;
use layout::Layout;
pub use link::{DistanceForm, Fixup, Goal, Pool, Shorter};
pub use tile::{EmitFn, Place, Set, Tile};

/// How much of the stack a function may take for itself, besides a few saved registers. Nobody looks for a stack's end in
/// compiled code: who enters it, as the engine does, leaves this much free, and what callees need.
pub const MAX_FRAME_BYTES: usize = 64 << 10;

/// A machine as whoever makes code for it knows it: the emitter of its instructions.
pub trait Backend: DerefMut<Target = Buffer<Self>> + fmt::Debug + Sized + 'static {
    /// What installing and unwinding its code takes.
    const MACHINE: &'static Machine;

    /// Its code for calls.
    const STUBS: &'static Stubs;

    /// The places of its instructions that hold distances.
    type Form: DistanceForm;

    /// What a function has on the stack.
    type Frame: Frame;

    /// Where an instruction may have an operand.
    type Place: Place;

    /// An emitter that writes there.
    fn new(buffer: Buffer<Self>) -> Self;

    /// What it has written.
    fn into_buffer(self) -> Buffer<Self>;

    /// Makes the frame.
    fn prologue(&mut self);

    /// Does one of the allocator's moves. Changes no flag and no other register.
    fn shuffle(&mut self, next: &Move, out_args: u16);

    /// Emits what stands behind all blocks. If accesses may fault, the function must be left somewhere.
    fn finish(&mut self, may_fault: bool);

    /// The code around stencils that use these registers and so much of the stack. It may keep `(cu)` in a register.
    fn around_stencils(saved: RegSet, room: u32, keeps_unit: bool, options: &Options) -> BaselineFrame<Self>;

    /// Emits what stands before the prologue of a function that others of bytecode call; where they enter it.
    fn admit(&mut self, admission: &Admission<'_>, options: &Options) -> u32;

    /// An adapter into this code. It clears these slots, which are none of the arguments.
    fn adapter(
        code: &TargetCode<Self::Frame>,
        admission: &AdapterAdmission<'_>,
        cleared: &[u32],
        options: &Options,
    ) -> (Self, Entries);

    /// These, by the convention that this machine's code calls them by.
    fn callbacks<H: HostFunctions>() -> Callbacks;

    /// What the cells of an engine with these functions share.
    fn host<H: HostFunctions>() -> Host {
        Host::new(Self::STUBS, Self::callbacks::<H>())
    }

    /// Runs code with a context, a frame and one argument more; gives what is in the two registers of results.
    ///
    /// # Safety
    ///
    /// The code must be a function that takes these.
    unsafe fn enter(code: *const u8, context: *mut (), frame: *mut u64, third: *const ()) -> RawStatus;
}

/// What a function of a machine has on the stack.
pub trait Frame: StackFrame + Copy + Default {
    /// A frame with room for so many bytes, of a function that changes these registers.
    fn new(used: RegSet, room: u32, has_calls: bool, options: &Options) -> Self;

    /// One of baseline code with so many bytes more.
    fn enlarged(self, bytes: u32) -> Self;

    /// Writes how large one of baseline code is into the instructions that make it, or take it back.
    fn write_room(&self, code: &mut [u8]);
}

/// How far above the stack pointer a spill slot is, in bytes, if so many arguments may stand below.
pub fn slot_offset(out_args: u16, slot: impl Into<u32>) -> u32 {
    (out_args as u32 + slot.into()) * 8
}

/// How code is emitted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What can be named by its distance in the memory that the code goes to. Nothing, unless said: code then runs
    /// anywhere.
    pub reach: Reach,
    /// Whether functions keep a register as the start of a chain of frames; the allocator must not give it out then.
    pub frame_pointers: bool,
    /// Whether the host is told of each function that fails.
    pub backtraces: bool,
}

/// What the emitter of a stencil knows beforehand: which blocks go to other bytecodes.
#[derive(Debug, Default)]
pub struct Outline {
    /// For each block that does nothing but go there, its exit; by number.
    pub exits: Vec<Option<u32>>,
    /// The block that goes on at the next bytecode.
    pub next: Option<Block>,
}

/// The exit to the next bytecode.
pub const NEXT: u32 = 0;
/// The exit out of the function.
pub const OUT: u32 = u32::MAX;
/// The exit out of it before its end: the host resumes there.
pub const LEFT: u32 = u32::MAX - 1;

/// Memory kept between functions.
#[derive(Debug)]
pub struct Scratch<M: Backend> {
    buffer: Buffer<M>,
    link: link::Scratch,
    layout: Layout,
}

impl<M: Backend> Default for Scratch<M> {
    fn default() -> Self {
        Scratch { buffer: Buffer::default(), link: link::Scratch::default(), layout: Layout::default() }
    }
}

impl<M: Backend> Scratch<M> {
    /// What the last function was emitted into.
    pub fn buffer(&self) -> &Buffer<M> {
        &self.buffer
    }
}

/// What is emitted.
#[derive(Debug)]
pub enum Form<A> {
    /// A function.
    Function,
    /// A function that others of bytecode call.
    CallEntry {
        /// How many slots it has for the values of its VM registers.
        slots: u32,
        /// Emits what stands before its prologue, and says where it is entered.
        admit: A,
    },
    /// A stencil: no prologue, exits that stay open, the exit to the next bytecode at the end of the hot part. What stays open
    /// is then among [`Buffer::open_distances`].
    Stencil(Outline),
}

/// Emits a function. Fails if its frame would be larger than [`MAX_FRAME_BYTES`].
pub fn emit<M: Backend>(
    scratch: &mut Scratch<M>,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set<M>,
    options: &Options,
    code: &mut Code<M>,
) -> Result<(), Error> {
    emit_as(scratch, tiles, assignment, set, options, Form::<fn(&mut M) -> u32>::Function, code)
}

/// Emits a function, or what looks like one.
pub fn emit_as<M: Backend>(
    scratch: &mut Scratch<M>,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set<M>,
    options: &Options,
    form: Form<impl FnOnce(&mut M) -> u32>,
    code: &mut Code<M>,
) -> Result<(), Error> {
    let (outline, call_entry) = match form {
        Form::Function => (None, None),
        Form::CallEntry { slots, admit } => (None, Some((slots, admit))),
        Form::Stencil(outline) => (Some(outline), None),
    };
    let slots = call_entry.as_ref().map_or(0, |(slots, _)| *slots);
    let bytes = (tiles.out_args as usize + assignment.slots as usize + slots as usize) * 8;
    if bytes > MAX_FRAME_BYTES {
        return Err(Error::FrameTooLarge { bytes });
    }
    let Scratch { buffer, link, layout } = scratch;
    layout.find(tiles, assignment);
    if let Some(outline) = &outline {
        layout.leave_out(tiles, outline);
    }
    let mut buffer = core::mem::take(buffer);
    (buffer.bytes, buffer.leaves) = (core::mem::take(&mut code.bytes), core::mem::take(&mut code.leaves));
    buffer.clear(tiles.position.len(), options);
    buffer.outline = outline;
    buffer.room = slot_offset(tiles.out_args, assignment.slots);
    buffer.frame = M::Frame::new(assignment.used, buffer.room + slots * 8, tiles.has_calls, options);
    code.map.clear();
    code.sites.clear();
    let mut emitter = M::new(buffer);
    code.entry = call_entry.map_or(0, |(_, admit)| admit(&mut emitter));
    if !emitter.is_stencil() {
        emitter.prologue();
    }
    if emitter.here() > 0 {
        code.map.push((0, Maker::Frame));
    }
    emit_blocks(&mut emitter, layout, tiles, assignment, set, code);
    let end_of_blocks = emitter.here() as u32;
    code.cold = code.cold.min(end_of_blocks);
    emitter.is_cold = true;
    emitter.finish(!code.sites.is_empty());
    if emitter.is_stencil() {
        emitter.open_across(code.cold);
    }
    if emitter.here() as u32 > end_of_blocks {
        code.map.push((end_of_blocks, Maker::Frame));
    }
    let mut buffer = emitter.into_buffer();
    let emitted = layout.order.iter().map(|position| tiles.blocks[*position as usize].block);
    let added = (tiles.position.len()..buffer.starts.len()).map(Block::from);
    close(link, &mut buffer, code, emitted, added, true);
    scratch.buffer = buffer;
    Ok(())
}

/// Emits all blocks in the order of the layout.
fn emit_blocks<M: Backend>(
    emitter: &mut M,
    layout: &Layout,
    tiles: &TileList,
    assignment: &Assignment,
    set: &Set<M>,
    code: &mut Code<M>,
) {
    code.cold = u32::MAX;
    let last_hot = layout.order.iter().rposition(|position| !tiles.blocks[*position as usize].cold);
    for (at, position) in layout.order.iter().enumerate() {
        let block = &tiles.blocks[*position as usize];
        let start = emitter.here() as u32;
        emitter.starts[block.block.at()] = start;
        emitter.is_cold = block.cold;
        if block.cold {
            code.cold = code.cold.min(start);
        }
        // The cold part of a stencil does not stand behind the hot one.
        emitter.falls_through = emitter.is_stencil() && Some(at) == last_hot;
        let follower = layout.order.get(at + 1).filter(|_| !emitter.falls_through);
        let next = follower.map_or(Block::NONE, |next| tiles.blocks[*next as usize].block);
        emitter.enter(tiles, block, layout, next);
        let first_move = assignment.moves.partition_point(|next| next.before < block.first());
        let mut moves = assignment.moves[first_move..].iter().peekable();
        let first_fault = tiles.faults.partition_point(|fault| fault.inst < block.first());
        let mut faults = tiles.faults[first_fault..].iter().peekable();
        for inst in block.insts.range() {
            let before = emitter.here() as u32;
            while let Some(next) = moves.next_if(|next| next.before.at() == inst) {
                emitter.shuffle(next, tiles.out_args);
            }
            let start = emitter.here() as u32;
            if start > before {
                code.map.push((before, Maker::Moves(inst as u32)));
            }
            let tile = &tiles.insts[inst];
            (set.emit[tile.tile.0 as usize])(emitter, &Tile::of(tiles, assignment, tile));
            let end = emitter.here() as u32;
            if let Some(fault) = faults.next_if(|fault| fault.inst.at() == inst) {
                let Fault { code: trap, origin, .. } = *fault;
                code.sites.push(Site { start, end, code: trap, origin });
            }
            if end > start {
                code.map.push((start, Maker::Inst(inst as u32)));
            }
        }
    }
}

/// Links what was emitted. `order` are the blocks that were, in order, and `others` some more in any order.
fn close<M: Backend>(
    scratch: &mut link::Scratch,
    buffer: &mut Buffer<M>,
    code: &mut Code<M>,
    order: impl Iterator<Item = Block>,
    others: impl Iterator<Item = Block>,
    may_shrink: bool,
) {
    (code.bytes, code.leaves) = (core::mem::take(&mut buffer.bytes), core::mem::take(&mut buffer.leaves));
    (code.lands, code.frame) = (buffer.lands, buffer.frame);
    link::link(scratch, code, buffer, order, others, may_shrink);
}

/// An emitter of code that comes from no tile list.
pub fn by_hand<M: Backend>(options: &Options, frame: M::Frame) -> M {
    let mut buffer = Buffer::default();
    buffer.clear(0, options);
    buffer.frame = frame;
    M::new(buffer)
}

/// Links what was emitted by hand; with distances in shorter forms, if nothing relies on how long the code is.
pub fn link_by_hand<M: Backend>(emitter: M, code: &mut Code<M>, may_shrink: bool) {
    let mut buffer = emitter.into_buffer();
    code.cold = buffer.bytes.len() as u32;
    let blocks = (0..buffer.starts.len()).map(Block::from);
    close(&mut link::Scratch::default(), &mut buffer, code, blocks, core::iter::empty(), may_shrink);
}
