//! Lay out: which blocks are emitted, and in which order.
//!
//! In: a tile list and its assignment. Out: [`Layout`]. A block that only jumps is left out: jumps to it lead to its successor.
//! A loop that tests at its top and jumps back from its bottom is rotated, so that the test stands at the bottom and its
//! conditional jump is the only one on the way around:
//!
//! ```text
//!     head: …; if not: exit        jump head
//!     body: …                      body: …
//!           jump head              head: …; if so: body
//!     exit:                        exit:
//! ```
//!
//! Only the order of emission changes. The tile list keeps its own order, in which a block stands behind its dominators and on
//! which the earlier passes rely. Cost: linear in blocks, times the depth of loops up to [`MAX_DEPTH`].

use super::Outline;
use azulejo_core::ir::assignment::Assignment;
use azulejo_core::ir::index::{Block, Loop};
use azulejo_core::ir::tiles::{TileBlock, TileList};

/// How many jump-only blocks in a row are followed: more of them could be a cycle.
const MAX_FOLLOWED: usize = 64;

/// How often a block may be visited on average while the loops around it are rotated. Loops that contain deeper nests stay as
/// they are, as may some others in such a function.
const MAX_DEPTH: usize = 16;

/// The layout of a function.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The blocks that are emitted, by position in the tile list, in the order of emission.
    pub(super) order: Vec<u32>,
    /// For each block, the block that a jump to it really leads to.
    leads_to: Vec<Block>,
    /// For each block, whether it makes the function's frame, if that is made late.
    makes_frame: Vec<bool>,
    /// The span of each loop.
    spans: Vec<Span>,
}

/// The position of a loop's blocks in [`Layout::order`], without the cold ones.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    last: u32,
    /// How many blocks the loop has.
    n_blocks: u32,
    /// The loop's number, the first of `n_inside` consecutive ones: the others belong to the loops inside it.
    number: u32,
    n_inside: u32,
    /// The next unassigned number for a loop inside.
    next: u32,
}

impl Layout {
    /// Lays a function out.
    pub(super) fn find(&mut self, tiles: &TileList, assignment: &Assignment) {
        self.find_makers(tiles, assignment);
        self.follow_empty_blocks(tiles, assignment);
        let Layout { order, leads_to, .. } = self;
        order.clear();
        let blocks = tiles.blocks.iter().enumerate();
        let emitted = blocks.filter(|(_, block)| leads_to[block.block.at()] == block.block);
        order.extend(emitted.map(|(at, _)| at as u32));
        if !tiles.loops.is_empty() {
            self.find_spans(tiles);
            let mut allowed = MAX_DEPTH * self.order.len();
            // Inner loops stand before those around them.
            for at in 0..tiles.loops.len() {
                let Span { first, last, .. } = self.spans[at];
                let Some(left) = allowed.checked_sub(last.saturating_sub(first) as usize) else { continue };
                allowed = left;
                self.rotate(tiles, at);
            }
        }
    }

    /// In a stencil, leaves out blocks that only go to other bytecodes, and puts the one that goes to the next bytecode at the
    /// end of the hot part, where the next bytecode's code follows.
    pub(super) fn leave_out(&mut self, tiles: &TileList, outline: &Outline) {
        let block = |position: u32| &tiles.blocks[position as usize];
        self.order.retain(|position| {
            let block = block(*position).block;
            Some(block) == outline.next || *position == 0 || outline.exits[block.at()].is_none()
        });
        let is_next = |position: &u32| Some(block(*position).block) == outline.next && !block(*position).cold;
        let Some(next) = self.order.iter().position(is_next) else { return };
        let hot = self.order.iter().position(|position| block(*position).cold).unwrap_or(self.order.len());
        if next > 0 {
            self.order[next..hot].rotate_left(1);
        }
    }

    /// The block that a jump to a block really leads to.
    pub(super) fn leads_to(&self, block: Block) -> Block {
        self.leads_to[block.at()]
    }

    /// Whether a block makes the function's frame.
    pub(super) fn makes_frame(&self, block: Block) -> bool {
        self.makes_frame[block.at()]
    }

    /// Finds the blocks that make the frame: those that have it and are entered from others without it.
    fn find_makers(&mut self, tiles: &TileList, assignment: &Assignment) {
        self.makes_frame.clear();
        self.makes_frame.resize(tiles.position.len(), false);
        let without = tiles.blocks.iter().filter(|block| assignment.has_late_frame && !block.framed);
        for edge in without.flat_map(|block| tiles.edges(block)) {
            self.makes_frame[edge.to.at()] = tiles.block(edge.to).framed;
        }
    }

    fn follow_empty_blocks(&mut self, tiles: &TileList, assignment: &Assignment) {
        let makes_frame = &self.makes_frame;
        let leads_on = |block: Block| {
            let position = tiles.position[block.at()];
            let data = &tiles.blocks[position as usize];
            let [edge] = tiles.edges(data) else { return None };
            let first = data.first();
            // The entry block is entered from outside, and a block that makes the frame is not empty.
            if position == 0
                || makes_frame[block.at()]
                || data.insts.len != 1
                || !tiles.operands(first.at()).is_empty()
            {
                return None;
            }
            // A move stands before an instruction, and moves are sorted by that instruction.
            let moves = assignment.moves.partition_point(|moved| moved.before < first);
            let has_moves = assignment.moves.get(moves).is_some_and(|moved| moved.before == first);
            (!has_moves).then_some(edge.to)
        };
        self.leads_to.clear();
        self.leads_to.extend((0..tiles.position.len()).map(Block::from));
        for block in &tiles.blocks {
            let mut target = block.block;
            let mut n_followed = 0;
            while let Some(next) = leads_on(target)
                && n_followed < MAX_FOLLOWED
            {
                target = next;
                n_followed += 1;
            }
            // A block that others lead to is never left out itself, so the blocks of a cycle all stay.
            if n_followed < MAX_FOLLOWED {
                self.leads_to[block.block.at()] = target;
            }
        }
    }

    fn find_spans(&mut self, tiles: &TileList) {
        const NOWHERE: Span = Span { first: u32::MAX, last: 0, n_blocks: 0, number: 0, n_inside: 1, next: 0 };
        self.spans.clear();
        self.spans.resize(tiles.loops.len(), NOWHERE);
        for (at, position) in self.order.iter().enumerate() {
            let block = &tiles.blocks[*position as usize];
            if !block.cold && block.inner.is_some() {
                let span = &mut self.spans[block.inner.at()];
                span.first = span.first.min(at as u32);
                span.last = at as u32;
                span.n_blocks += 1;
            }
        }
        // Inner loops stand before those around them.
        for at in 0..tiles.loops.len() {
            let Span { first, last, n_blocks, n_inside, .. } = self.spans[at];
            if let Some(around) = self.spans.get_mut(tiles.loops[at].around.at()) {
                around.first = around.first.min(first);
                around.last = around.last.max(last);
                around.n_blocks += n_blocks;
                around.n_inside += n_inside;
            }
        }
        let mut next_outermost = 0;
        for at in (0..tiles.loops.len()).rev() {
            let n_inside = self.spans[at].n_inside;
            let next = match self.spans.get_mut(tiles.loops[at].around.at()) {
                Some(around) => &mut around.next,
                None => &mut next_outermost,
            };
            let number = core::mem::replace(next, *next + n_inside);
            (self.spans[at].number, self.spans[at].next) = (number, number + 1);
        }
    }

    fn rotate(&mut self, tiles: &TileList, at: usize) {
        let Span { first, last, n_blocks, number, n_inside, .. } = self.spans[at];
        // The entry block stays first even if it is in a loop.
        if first >= last || first == 0 {
            return;
        }
        // Blocks of other loops may stand between those of this one if control enters it at several places.
        if n_blocks != last - first + 1 {
            return;
        }
        let span = &self.order[first as usize..=last as usize];
        let block = |position: u32| &tiles.blocks[position as usize];
        let numbers = number..number + n_inside;
        let is_inside = |inner: Loop| {
            let span = self.spans.get(inner.at());
            span.is_some_and(|span| numbers.contains(&span.number))
        };
        let goes_to = |from: &TileBlock, to: u32| {
            let to = block(to).block;
            tiles.edges(from).iter().any(|edge| self.leads_to[edge.to.at()] == to)
        };
        let bottom = block(span[span.len() - 1]);
        if tiles.edges(bottom).len() != 1 || !goes_to(bottom, span[0]) {
            return;
        }
        let leaves = |from: &TileBlock| {
            tiles.edges(from).iter().any(|edge| !is_inside(tiles.block(self.leads_to[edge.to.at()]).inner))
        };
        let ends_the_span = span.windows(2).position(|pair| {
            let top = block(pair[0]);
            tiles.edges(top).len() == 2 && leaves(top) && goes_to(top, pair[1])
        });
        if let Some(top) = ends_the_span {
            self.order[first as usize..=last as usize].rotate_left(top + 1);
        }
    }
}
