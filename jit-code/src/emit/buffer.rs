//! The code of a function while it is emitted: the part that the emitters of all machines have in common.
//!
//! In: bytes, distances to blocks, constants and addresses, as emitters write them. Out: a [`Buffer`] that can be linked.

use super::layout::Layout;
use super::leave::Leaving;
use super::link::{self, DistanceForm, Fixup, Goal, Pool};
use super::{Backend, Code, Options, Outline};
use crate::exit::Records;
use crate::memory::reach::Reach;
use crate::unwind::{FrameChange, StackFrame};
use azulejo_core::ir::index::Block;
use azulejo_core::ir::stencil::REACH;
use azulejo_core::ir::tiles::{TileBlock, TileList};

/// The code of a function under construction.
#[derive(Debug)]
pub struct Buffer<M: Backend> {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Where each block starts, by number; `u32::MAX` until it is emitted.
    pub starts: Vec<u32>,
    /// The places that hold distances, in order.
    pub fixups: Vec<Fixup<M::Form>>,
    /// The constants behind the code.
    pub pool: Pool,
    /// The successors of the block that is being emitted.
    pub ways: Vec<Block>,
    /// The block that follows the current one.
    pub next: Block,
    /// The addresses that can be named by their distance.
    pub reach: Reach,
    /// The function's frame on the stack.
    pub frame: M::Frame,
    /// How many bytes of the frame outgoing arguments and spill slots take.
    pub room: u32,
    /// Whether the frame has been made where code is being emitted.
    pub(super) is_framed: bool,
    /// Where that changes, in order.
    pub frames: Vec<(u32, FrameChange)>,
    /// The offsets of the epilogues.
    pub leaves: Vec<u32>,
    /// Which of these epilogues ends the function after a faulting access, if an access may fault.
    pub lands: Option<u32>,
    /// Where the values of VM registers are at the exits so far. The code contains their address.
    pub records: Option<Box<Records>>,
    /// How the function is entered, and the code that it leaves by.
    pub(super) leaving: Leaving,
    /// In a stencil, the exits that its blocks lead to.
    pub(super) outline: Option<Outline>,
    /// Whether the next bytecode follows the block that is being emitted.
    pub falls_through: bool,
    /// Whether the block that is being emitted is cold.
    pub is_cold: bool,
}

impl<M: Backend> Default for Buffer<M> {
    fn default() -> Self {
        Buffer {
            bytes: Vec::new(),
            starts: Vec::new(),
            fixups: Vec::new(),
            pool: Pool::default(),
            ways: Vec::new(),
            next: Block::NONE,
            reach: Reach::default(),
            frame: M::Frame::default(),
            room: 0,
            is_framed: false,
            frames: Vec::new(),
            leaves: Vec::new(),
            lands: None,
            records: None,
            leaving: Leaving::default(),
            outline: None,
            falls_through: false,
            is_cold: false,
        }
    }
}

impl<M: Backend> Buffer<M> {
    /// Resets to an empty buffer for this many blocks.
    pub(super) fn clear(&mut self, blocks: usize, options: &Options) {
        let Buffer {
            bytes,
            starts,
            fixups,
            pool,
            ways,
            next,
            reach,
            frame,
            room,
            frames,
            leaves,
            lands,
            records,
            leaving,
            outline,
            ..
        } = self;
        bytes.clear();
        starts.clear();
        starts.resize(blocks, u32::MAX);
        fixups.clear();
        pool.clear();
        ways.clear();
        frames.clear();
        leaves.clear();
        leaving.clear();
        *records = None;
        reach.clone_from(&options.reach);
        (*next, *frame, *room, *lands, *outline) = (Block::NONE, M::Frame::default(), 0, None, None);
        (self.is_framed, self.falls_through, self.is_cold) = (false, false, false);
    }

    /// How many bytes of code have been emitted.
    pub fn here(&self) -> usize {
        self.bytes.len()
    }

    /// Appends one byte.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a block that is not in the tile list.
    pub fn add_block(&mut self) -> Block {
        self.starts.push(u32::MAX);
        Block::from(self.starts.len() - 1)
    }

    /// Places a block at the current position.
    pub fn start(&mut self, block: Block) {
        self.starts[block.at()] = self.bytes.len() as u32;
    }

    /// Records that the code here is to hold the distance to a goal.
    pub fn fixup(&mut self, to: Goal, form: M::Form) {
        let is_unresolved = matches!(to, Goal::Exit(_));
        self.fixups.push(Fixup { at: self.bytes.len() as u32, to, form, is_unresolved });
    }

    /// Records that the code here is to hold the distance to a block, or to the exit that the block stands for.
    pub fn fixup_block(&mut self, to: Block, form: M::Form) {
        let exit = self.outline.as_ref().and_then(|outline| *outline.exits.get(to.at())?);
        self.fixup(exit.map_or(Goal::Block(to), Goal::Exit), form);
    }

    /// The epilogue that comes next is where a function whose access faults may land.
    pub fn land_faults(&mut self) {
        self.lands.get_or_insert(self.leaves.len() as u32);
    }

    /// Whether an address can be named by its distance.
    pub fn reaches(&self, address: u64) -> bool {
        self.reach.covers(address)
    }

    /// Whether what is emitted is a stencil.
    pub fn is_stencil(&self) -> bool {
        self.outline.is_some()
    }

    /// Whether what is emitted interprets an opcode.
    pub fn is_interpreted(&self) -> bool {
        self.outline.as_ref().is_some_and(|outline| outline.is_interpreted)
    }

    /// Whether a number stands for others of 32 bits, which may have another sign: an instruction that holds it has to extend its sign.
    pub fn may_have_either_sign(&self, bits: u64) -> bool {
        let signed = self.outline.as_ref().map_or(&[][..], |outline| &outline.signed);
        signed.iter().any(|number| (-REACH..REACH).contains(&(bits as i64).wrapping_sub(*number)))
    }

    /// The offset from the stack pointer of an argument that the caller of a function put on the stack.
    pub fn argument_at(&self, offset: i64) -> i64 {
        let frame = if self.is_framed { self.frame } else { M::Frame::default() };
        frame.size() as i64 + offset
    }

    /// Starts a block; `next` is the block that follows it.
    pub(super) fn enter(&mut self, tiles: &TileList, block: &TileBlock, layout: &Layout, next: Block) {
        self.ways.clear();
        self.ways.extend(tiles.edges(block).iter().map(|edge| layout.leads_to(edge.to)));
        self.next = next;
    }

    /// Leaves unresolved the distances between hot and cold code, and those from hot code to constants.
    pub(super) fn leave_unresolved(&mut self, cold: u32) {
        for fixup in &mut self.fixups {
            let is_cold = fixup.at >= cold;
            fixup.is_unresolved |= match fixup.to {
                Goal::Block(block) => is_cold != (self.starts[block.at()] >= cold),
                Goal::Constant(_) => !is_cold,
                Goal::Exit(_) | Goal::Address(_) => true,
            };
        }
    }

    /// For a linked stencil: each place whose distance is unresolved, its goal, and the goal's offset if the goal is in the code.
    pub fn unresolved_distances(
        &self,
        code: &Code<M>,
    ) -> impl Iterator<Item = (u32, M::Form, Goal, Option<u32>)> {
        let unresolved = self.fixups.iter().filter(|fixup| fixup.is_unresolved);
        let end = code.end;
        unresolved.map(move |fixup| {
            let to = match fixup.to {
                Goal::Block(block) => Some(self.starts[block.at()]),
                Goal::Constant(entry) => Some(link::constant_at(end, entry)),
                Goal::Exit(_) | Goal::Address(_) => None,
            };
            (fixup.at, fixup.form, fixup.to, to)
        })
    }

    /// Whether the code since `from` keeps its length when it is linked: no jump in it has a shorter form. A tile that jumps
    /// over code of its own relies on this.
    pub fn keeps_length_since(&self, from: usize) -> bool {
        let may_shrink = |fixup: &Fixup<M::Form>| fixup.at as usize >= from && fixup.form.shorter().is_some();
        !self.fixups.iter().rev().take(4).any(may_shrink)
    }
}
