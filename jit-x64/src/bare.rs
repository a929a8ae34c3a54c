//! Code that comes from no tile list.
//!
//! In: a frame, and what is emitted by hand. Out: linked code. This is what stands around stencils, and doors; everything
//! else is made of tiles.

use crate::emit::{Code, Emitter, Options, Scratch};
use crate::frame::Frame;
use crate::link::{self, Form};
use crate::regs;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::index::Block;
use azulejo_core::ir::tiles::TileList;
use azulejo_core::target::{Reg, RegSet};

/// Links code that comes from no tile list.
pub(crate) fn close(emitter: Emitter, code: &mut Code) {
    let Emitter { bytes, mut starts, mut fixups, pool, leaves, frame, .. } = emitter;
    code.cold = bytes.len() as u32;
    (code.bytes, code.leaves, code.frame) = (bytes, leaves, frame);
    let blocks = (0..starts.len()).map(Block::from);
    // What stands before the frame is made keeps its size.
    fixups.iter_mut().for_each(|fixup| fixup.form = Form::Field);
    link::link(&mut link::Scratch::default(), code, &mut fixups, &mut starts, blocks, &pool);
}

/// What stands before and behind the stencils of a function.
#[derive(Debug, Default)]
pub(crate) struct BaselineFrame {
    pub(crate) frame: Frame,
    /// How many bytes of it the stencils asked for, and the registers that they use and must be given back.
    pub(crate) room: u32,
    pub(crate) saved: RegSet,
    /// Keeps the machine's own pointers where stencils want them, and goes where it is told.
    pub(crate) prologue: Vec<u8>,
    /// Leaves the function.
    pub(crate) epilogue: Vec<u8>,
}

impl BaselineFrame {
    pub(crate) fn new(saved: RegSet, room: u32, options: &Options) -> BaselineFrame {
        let used = saved.union(RegSet::of(&[regs::R12, regs::RBX]));
        let frame = |keeps_pointer| Frame::new(used, room, true, keeps_pointer);
        let mut emitter = Emitter::of_frame(options, frame);
        emitter.prologue();
        let [context, frame, to] = [regs::RDI, regs::RSI, regs::RDX].map(Reg::number);
        emitter.mov(regs::R12.number(), context);
        emitter.mov(regs::RBX.number(), frame);
        emitter.jmp_to(to);
        let prologue = core::mem::take(&mut emitter.bytes);
        emitter.leave();
        BaselineFrame { frame: emitter.frame, room, saved, prologue, epilogue: emitter.bytes }
    }
}

impl Emitter {
    /// An emitter of code that comes from no tile list.
    pub(crate) fn of_frame(options: &Options, frame: impl FnOnce(bool) -> Frame) -> Emitter {
        let (tiles, assignment) = (TileList::default(), Assignment::default());
        let mut emitter = Emitter::new(&mut Scratch::default(), Vec::new(), &tiles, &assignment, options);
        emitter.frame = frame(options.frame_pointers);
        emitter
    }
}
