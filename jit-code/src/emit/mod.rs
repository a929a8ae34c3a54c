//! Emit machine code: one function a tile.
//!
//! In: a tile list, its assignment, the emitters of the tiles. Out: [`Code`], position-independent bytes with a table from code
//! offsets to instructions. [`mod@layout`] decides which blocks are emitted and in which order; jumps to the block that follows
//! are left out. [`link`] fills in the distances of jumps, and shortens the jumps where a short form suffices.
//!
//! The code for a tile, a move or a prologue is the machine's business: its [`Backend`] is the emitter that writes all of it.

pub(crate) mod adapter;
pub mod admit;
mod around;
pub mod assembler;
mod buffer;
mod code;
mod exit;
mod layout;
pub mod leave;
mod link;
#[cfg(test)]
mod tests;
mod tile;

use crate::call::{Accepts, Callbacks, Host, HostFunctions, Stubs};
use crate::faults::Site;
use crate::machine::Machine;
use crate::memory::reach::Reach;
use crate::status::RawStatus;
use crate::unwind::{FrameChange, StackFrame};
use azulejo_core::error::Error;
use azulejo_core::ir::assignment::{Assignment, Loc, Move};
use azulejo_core::ir::emitted::Maker;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::tiles::{FaultSite, TileList};
use azulejo_core::target::RegSet;
use core::fmt;
use core::ops::DerefMut;

pub use around::{BaselineFrame, LEAVES, OwnFrame};
pub use assembler::Assembler;
use assembler::Results;
pub use buffer::Buffer;
pub use code::Code;
pub use exit::leave_with_state;
use layout::Layout;
pub use link::{DistanceForm, Fixup, Goal, Pool, Shorter};
pub use tile::{EmitFn, Place, Set, Tile};

/// How much of the stack a function may take for itself, besides a few saved registers. Compiled code does not check for the
/// end of the stack: its caller, the engine, leaves this much free, and the room that callees need.
pub const MAX_FRAME_BYTES: usize = 64 << 10;

/// A machine as code generators see it: the emitter of its instructions.
pub trait Backend: Assembler + DerefMut<Target = Buffer<Self>> + fmt::Debug + 'static {
    /// The data that installing and unwinding its code takes.
    const MACHINE: &'static Machine;

    /// Its assembly stubs for calls.
    const STUBS: &'static Stubs;

    /// The places of its instructions that hold distances.
    type Form: DistanceForm;

    /// A function's frame on the stack.
    type Frame: Frame;

    /// The place of an instruction's operand.
    type Place: Place;

    /// An emitter that writes into this buffer.
    fn new(buffer: Buffer<Self>) -> Self;

    /// The buffer, with all that was emitted.
    fn into_buffer(self) -> Buffer<Self>;

    /// Makes the frame; returns the offset of the instructions that make the room below the saved registers.
    fn prologue(&mut self) -> usize;

    /// Drops the frame.
    fn epilogue(&mut self);

    /// Emits one of the allocator's moves. It changes no flag and no other register.
    fn shuffle(&mut self, next: &Move, out_args: u16);

    /// In an adapter: copies the arguments, from registers, stack or memory, into the slots that start `first` bytes above the
    /// stack pointer, and clears the `cleared` slots, none of which is an argument. Returns whether the context's register was
    /// overwritten.
    fn fill_slots(&mut self, first: u32, accepts: Accepts, cleared: &[u32]) -> bool;

    /// Changes the two result registers.
    fn change_results(&mut self, to: Results);

    /// Wraps these host functions in the convention by which this machine's code calls them.
    fn callbacks<H: HostFunctions>() -> Callbacks;

    /// The data that all cells of an engine with these host functions share.
    fn host<H: HostFunctions>() -> Host {
        Host::new(Self::STUBS, Self::callbacks::<H>())
    }

    /// Runs code with a context, a frame and one more argument; returns the two result registers.
    ///
    /// # Safety
    ///
    /// The code must be a function that takes these arguments.
    unsafe fn enter(code: *const u8, context: *mut (), frame: *mut u64, third: *const ()) -> RawStatus;
}

/// A function's frame on the stack.
pub trait Frame: StackFrame + Copy + Default {
    /// The frame of a function that needs `room` bytes and clobbers the `used` registers.
    fn new(used: RegSet, room: u32, has_calls: bool, options: &Options) -> Self;

    /// The frame of baseline code with this many bytes more.
    fn enlarged(self, bytes: u32) -> Self;

    /// The same frame, with room of any size in the instructions that make and drop it.
    fn resizable(self) -> Self;

    /// Whether the code that drops the frame and returns is as short as a jump to such code.
    fn has_short_epilogue(&self) -> bool;

    /// Writes the size of a frame of baseline code into the instructions that make or drop it.
    fn write_room(&self, code: &mut [u8]);
}

/// The offset of a spill slot from the stack pointer, in bytes, above `out_args` words of outgoing arguments.
pub fn slot_offset(out_args: u16, slot: impl Into<u32>) -> u32 {
    (out_args as u32 + slot.into()) * 8
}

/// The offset of a place from the stack pointer, unless it is a register. The function has `out_args` words of outgoing
/// arguments.
pub fn stack_offset(place: Loc, out_args: u16) -> Option<u32> {
    match place {
        Loc::Slot(slot) => Some(slot_offset(out_args, slot)),
        Loc::OutArg(at) => Some(slot_offset(0, at as u32)),
        Loc::Reg(_) => None,
    }
}

/// How code is emitted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The addresses that code can name by their distance from the memory that it goes to. By default there are none, and the
    /// code runs anywhere.
    pub reach: Reach,
    /// Whether functions keep a chain of frames in a register, which the allocator must then not assign.
    pub frame_pointers: bool,
    /// Whether the host is told of each function that fails.
    pub backtraces: bool,
}

/// What is known of a stencil before it is emitted: which blocks only go to other bytecodes.
#[derive(Debug, Default)]
pub struct Outline {
    /// By block number: the exit of a block that only goes to another bytecode.
    pub exits: Vec<Option<u32>>,
    /// The block that goes to the next bytecode.
    pub next: Option<Block>,
    /// Whether the code interprets an opcode: then it goes to other bytecodes by itself, and where it is left, the address of the
    /// bytecode is the second result.
    pub is_interpreted: bool,
    /// The numbers that stand for any 64-bit ones that are sign-extended from 32 bits.
    pub signed: Vec<i64>,
}

/// The exit to the next bytecode.
pub const NEXT: u32 = 0;
/// The exit out of the function.
pub const OUT: u32 = u32::MAX;
/// The exit out of the function before its end: the host resumes the function.
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
    /// The buffer that the last function was emitted into.
    pub fn buffer(&self) -> &Buffer<M> {
        &self.buffer
    }
}

/// The kind of code that is emitted.
#[derive(Debug)]
pub enum Form<A> {
    /// A function.
    Function,
    /// A function that other functions of bytecode call.
    CallEntry {
        /// How many slots it has for the values of its VM registers, and for those of inlined functions whose frames are shown.
        slots: u32,
        /// Emits the code before its prologue, and returns the offset of the entry.
        admit: A,
    },
    /// A stencil: no prologue, unresolved exits, and the exit to the next bytecode at the end of the hot part.
    /// [`Buffer::unresolved_distances`] lists what stays unresolved.
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

/// Emits a function, or code in another [`Form`].
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
    let shown = tiles.inlining.shown_slots;
    let slots = call_entry.as_ref().map_or(shown, |(slots, _)| *slots);
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
    buffer.frames = core::mem::take(&mut code.frames);
    buffer.clear(tiles.position.len(), options);
    buffer.outline = outline;
    buffer.room = slot_offset(tiles.out_args, assignment.slots);
    // The host's function that continues is called from the frame of a function that others call.
    let notes_inlined = options.backtraces && !tiles.inlining.is_empty();
    let has_calls = tiles.has_calls || notes_inlined || call_entry.is_some() && !tiles.states.is_empty();
    buffer.leaving.inlining.clone_from(&tiles.inlining);
    buffer.leaving.notes_inlined = notes_inlined;
    buffer.frame = M::Frame::new(assignment.used, buffer.room + slots * 8, has_calls, options);
    code.map.clear();
    code.sites.clear();
    let mut emitter = M::new(buffer);
    code.entry = call_entry.map_or(0, |(_, admit)| admit(&mut emitter));
    // A chain of frames has one for each function, also for those that have no other use for it yet.
    let has_late_frame = assignment.has_late_frame && !options.frame_pointers;
    // A stencil runs in the frame of its function.
    emitter.is_framed = emitter.is_stencil();
    if !emitter.is_framed && !has_late_frame {
        make_frame(&mut emitter);
    }
    if emitter.here() > 0 {
        code.map.push((0, Maker::Frame));
    }
    emit_blocks(&mut emitter, layout, (tiles, has_late_frame), assignment, set, code);
    let end_of_blocks = emitter.here() as u32;
    code.cold = code.cold.min(end_of_blocks);
    emitter.is_cold = true;
    if has_late_frame {
        enter_framed(&mut emitter, true);
    }
    exit::finish(&mut emitter);
    leave::finish(&mut emitter, !code.sites.is_empty());
    if emitter.is_stencil() && !emitter.is_interpreted() {
        emitter.leave_unresolved(code.cold);
    }
    if emitter.here() as u32 > end_of_blocks {
        code.map.push((end_of_blocks, Maker::Frame));
    }
    let mut buffer = emitter.into_buffer();
    let emitted = layout.order.iter().map(|position| tiles.blocks[*position as usize].block);
    let added = (tiles.position.len()..buffer.starts.len()).map(Block::from);
    finish(link, &mut buffer, code, emitted, added, true);
    code.records = buffer.records.take();
    scratch.buffer = buffer;
    Ok(())
}

/// Makes the frame; returns the offset of the instructions that make the room below the saved registers.
pub fn make_frame<M: Backend>(cx: &mut M) -> usize {
    let here = cx.here() as u32;
    cx.frames.push((here, FrameChange::IsMade));
    cx.is_framed = true;
    cx.prologue()
}

/// Starts code that is entered with the frame, or without it, by jumps only.
pub fn enter_framed<M: Backend>(cx: &mut M, is_framed: bool) {
    if cx.is_framed != is_framed {
        let here = cx.here() as u32;
        cx.frames.push((here, if is_framed { FrameChange::IsThere } else { FrameChange::IsNotThere }));
        cx.is_framed = is_framed;
    }
}

/// Emits all blocks in the order of the layout.
fn emit_blocks<M: Backend>(
    emitter: &mut M,
    layout: &Layout,
    (tiles, has_late_frame): (&TileList, bool),
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
        // The cold part of a stencil does not follow the hot one.
        emitter.falls_through = emitter.is_stencil() && Some(at) == last_hot;
        let follower = layout.order.get(at + 1).filter(|_| !emitter.falls_through);
        let next = follower.map_or(Block::NONE, |next| tiles.blocks[*next as usize].block);
        emitter.enter(tiles, block, layout, next);
        if has_late_frame {
            if layout.makes_frame(block.block) {
                make_frame(emitter);
            } else {
                enter_framed(emitter, block.framed);
            }
            if emitter.here() as u32 > start {
                code.map.push((start, Maker::Frame));
            }
        }
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
                let FaultSite { code: trap, origin, .. } = *fault;
                let origin = tiles.inlining.outermost(origin);
                code.sites.push(Site { start, end, code: trap, origin });
            }
            if end > start {
                code.map.push((start, Maker::Inst(inst as u32)));
            }
        }
    }
}

/// Links what was emitted. `order` are the emitted blocks in order, and `others` some more in any order.
fn finish<M: Backend>(
    scratch: &mut link::Scratch,
    buffer: &mut Buffer<M>,
    code: &mut Code<M>,
    order: impl Iterator<Item = Block>,
    others: impl Iterator<Item = Block>,
    may_shrink: bool,
) {
    (code.bytes, code.leaves) = (core::mem::take(&mut buffer.bytes), core::mem::take(&mut buffer.leaves));
    code.frames = core::mem::take(&mut buffer.frames);
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

/// Links code that was emitted by hand. Jumps are shortened only if nothing relies on the length of the code.
pub fn link_by_hand<M: Backend>(emitter: M, code: &mut Code<M>, may_shrink: bool) {
    let mut buffer = emitter.into_buffer();
    code.cold = buffer.bytes.len() as u32;
    let blocks = (0..buffer.starts.len()).map(Block::from);
    finish(&mut link::Scratch::default(), &mut buffer, code, blocks, core::iter::empty(), may_shrink);
}
