//! Write the places down, and the moves between them.
//!
//! In: pieces and moments with their places. Out: an [`Assignment`].
//!
//! A range with a piece in memory has a spill slot, and one of two ways to keep it right, whichever costs less:
//! it is written behind every definition (then leaving a register for memory costs nothing), or whenever the value
//! leaves a register for memory. Where two pieces of a range meet, within a block or over an edge, the value is
//! moved if they are in different places.

use super::moves::{Moves, Phase};
use super::pieces::{Pieces, Place, Touch};
use super::{Allocator, tied_result};
use crate::ir::assignment::{Assignment, Loc, Move, Source};
use crate::ir::index::Vreg;
use crate::ir::ranges::{GAP, LATE, STEP, Segment};
use crate::ir::tiles::{Constraint, Role, TileBlock};
use crate::target::{Reg, RegSet};
use crate::vocab::{Class, Type};
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By range: where its entries in `located` start, if it was cut.
    cut: Vec<Option<(u32, u32)>>,
    /// Where the ranges that were cut are, sorted by position.
    located: Vec<(Segment, Place)>,
    count: Vec<u32>,
    slots: Vec<Slot>,
    /// The cut ranges that are live where a block starts, by position of the block.
    live_in: Vec<(u32, u32)>,
    first_live_in: Vec<u32>,
    transitions: Vec<Transition>,
    busy: BinaryHeap<(Reverse<u32>, Reverse<u32>)>,
    moves: Moves,
}

/// What there is to know of a range's spill slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    number: u32,
    /// It is written behind every definition.
    written_at_once: bool,
}

const NO_SLOT: Slot = Slot { number: u32::MAX, written_at_once: false };

/// Two pieces of a range meet.
#[derive(Clone, Copy, Debug)]
struct Transition {
    before: u32,
    phase: Phase,
    range: u32,
    from: Place,
    to: Place,
    cost: f32,
}

/// Fills the assignment.
pub(super) fn write(allocator: Allocator<'_>, out: &mut Assignment) {
    out.locs.clear();
    out.moves.clear();
    out.used = RegSet::EMPTY;
    let mut scratch = core::mem::take(&mut allocator.scratch.write);
    scratch.moves.clear();
    let mut writer = Writer { allocator: &allocator, scratch: &mut scratch };
    writer.locate();
    writer.find_transitions();
    out.slots = writer.assign_slots();
    writer.push_transitions();
    for inst in 0..allocator.tiles.insts.len() {
        writer.inst(inst, out);
    }
    for block in &allocator.tiles.blocks {
        writer.arguments(block);
    }
    let occupied = &allocator.scratch.occupied;
    let free = |before: u32, class: Class, used: RegSet| {
        // What moves behind the instruction before read, and where this instruction reads.
        let segment = Segment { start: (before * STEP).saturating_sub(1), end: before * STEP + LATE };
        let mut regs = allocator.regs.of(class).iter();
        regs.find(|reg| !used.contains(**reg) && occupied.is_free(**reg, segment)).copied()
    };
    scratch.moves.finish(free, &mut out.slots, &mut out.moves);
    for Move { to, .. } in &out.moves {
        if let Loc::Reg(reg) = to {
            out.used.insert(*reg);
        }
    }
    for data in &allocator.tiles.insts {
        out.used = out.used.union(data.clobbers);
    }
    for (operand, loc) in core::iter::zip(&allocator.tiles.operands, &out.locs) {
        if let (Role::Def | Role::EarlyDef | Role::Temp, Loc::Reg(reg)) = (operand.role, loc) {
            out.used.insert(*reg);
        }
    }
    allocator.scratch.write = scratch;
}

struct Writer<'a> {
    allocator: &'a Allocator<'a>,
    scratch: &'a mut Scratch,
}

impl<'a> Writer<'a> {
    fn pieces(&self) -> &'a Pieces {
        &self.allocator.scratch.pieces
    }

    /// Finds where the ranges that were cut are.
    fn locate(&mut self) {
        let pieces = self.pieces();
        let n_ranges = self.allocator.ranges.ranges.len();
        let Scratch { cut, located, count, .. } = &mut *self.scratch;
        cut.clear();
        cut.resize(n_ranges, None);
        located.clear();
        count.clear();
        count.resize(n_ranges, 0);
        for piece in &pieces.all[n_ranges..] {
            count[piece.range as usize] += piece.segments.len;
        }
        let mut total = 0;
        for range in 0..n_ranges {
            if count[range] > 0 {
                let len = count[range] + pieces.all[range].segments.len;
                cut[range] = Some((total, len));
                count[range] = total;
                total += len;
            } else {
                count[range] = u32::MAX;
            }
        }
        let nowhere = (Segment { start: 0, end: 0 }, Place::Waiting);
        located.resize(total as usize, nowhere);
        for (at, piece) in pieces.all.iter().enumerate() {
            let next = &mut count[piece.range as usize];
            if *next == u32::MAX {
                continue;
            }
            for segment in pieces.segments(at as u32) {
                located[*next as usize] = (*segment, piece.place);
                *next += 1;
            }
        }
        for (start, len) in cut.iter().flatten() {
            let entries = &mut located[*start as usize..(*start + *len) as usize];
            entries.sort_unstable_by_key(|(segment, _)| segment.start);
        }
    }

    /// Where a range is at a position where it is live.
    fn place(&self, range: u32, position: u32) -> Place {
        let Some((start, len)) = self.scratch.cut[range as usize] else {
            return self.pieces().all[range as usize].place;
        };
        let entries = &self.scratch.located[start as usize..(start + len) as usize];
        let at = entries.partition_point(|(segment, _)| segment.end <= position);
        debug_assert!(
            entries.get(at).is_some_and(|(segment, _)| segment.start <= position),
            "range {range} is not live at {position}"
        );
        entries[at].1
    }

    fn range(&self, vreg: Vreg) -> u32 {
        self.allocator.ranges.of[vreg.at()]
    }

    fn find_transitions(&mut self) {
        let pieces = self.pieces();
        let tiles = self.allocator.tiles;
        let start_of = |block: &TileBlock| block.insts.start * STEP;
        self.scratch.transitions.clear();
        self.scratch.live_in.clear();
        for range in 0..self.scratch.cut.len() as u32 {
            let Some((start, len)) = self.scratch.cut[range as usize] else { continue };
            let uses = pieces.uses_of_range(range);
            let is_param = |at: u32| {
                let first = uses.partition_point(|touch| touch.at < at);
                let here = uses[first..].iter().take_while(|touch| touch.at == at);
                here.into_iter().any(|touch| touch.touch == Touch::Parameter)
            };
            let mut before = (Segment { start: u32::MAX, end: u32::MAX }, Place::Waiting);
            for index in start..start + len {
                let (segment, place) = self.scratch.located[index as usize];
                let mut block = pieces.block_at(segment.start);
                let is_at_start = start_of(&tiles.blocks[block]) == segment.start;
                if before.0.end == segment.start && before.1 != place && !is_at_start {
                    self.scratch.transitions.push(Transition {
                        before: segment.start / STEP,
                        phase: Phase::Cut,
                        range,
                        from: before.1,
                        to: place,
                        cost: pieces.cost_of_block(block),
                    });
                }
                block += !is_at_start as usize;
                while let Some(next) = tiles.blocks.get(block)
                    && start_of(next) < segment.end
                {
                    if !is_param(start_of(next)) {
                        self.scratch.live_in.push((block as u32, range));
                    }
                    block += 1;
                }
                before = (segment, place);
            }
        }
        self.scratch.live_in.sort_unstable();
        self.find_edges();
    }

    /// Finds what changes its place over an edge.
    fn find_edges(&mut self) {
        let tiles = self.allocator.tiles;
        let Scratch { live_in, first_live_in, .. } = &mut *self.scratch;
        if live_in.is_empty() {
            return;
        }
        first_live_in.clear();
        first_live_in.resize(tiles.blocks.len() + 1, 0);
        for (block, _) in &*live_in {
            first_live_in[*block as usize + 1] += 1;
        }
        for block in 0..tiles.blocks.len() {
            first_live_in[block + 1] += first_live_in[block];
        }
        for (at, block) in tiles.blocks.iter().enumerate() {
            let last = block.insts.start + block.insts.len - 1;
            let edges = tiles.edges(block);
            for edge in edges {
                let to = tiles.position[edge.to.at()] as usize;
                let target = tiles.blocks[to].insts.start;
                let cost = self.pieces().cost_of_block(at).min(self.pieces().cost_of_block(to));
                let (before, phase) = match edges {
                    [_] => (last, Phase::Leave),
                    _ => (target, Phase::Enter),
                };
                let here = self.scratch.first_live_in[to]..self.scratch.first_live_in[to + 1];
                for index in here {
                    let range = self.scratch.live_in[index as usize].1;
                    let from = self.place(range, last * STEP + GAP);
                    let to = self.place(range, target * STEP + GAP);
                    if from != to {
                        self.scratch.transitions.push(Transition { before, phase, range, from, to, cost });
                    }
                }
            }
        }
    }

    /// Gives ranges with a piece in memory slots, and decides when each is written. A slot is used again once the
    /// range that had it is over.
    fn assign_slots(&mut self) -> u32 {
        let pieces = self.pieces();
        let ranges = self.allocator.ranges;
        let n_ranges = ranges.ranges.len();
        self.scratch.slots.clear();
        self.scratch.slots.resize(n_ranges, NO_SLOT);
        let mut spilled: Vec<(u32, u32, u32)> = Vec::new();
        for piece in &pieces.all {
            let segments = ranges.segments(&ranges.ranges[piece.range as usize]);
            let slot = &mut self.scratch.slots[piece.range as usize];
            if piece.place == Place::Memory
                && ranges.constant(piece.range, self.allocator.tiles).is_none()
                && slot.number == u32::MAX
            {
                slot.number = 0;
                spilled.push((segments[0].start, segments[segments.len() - 1].end, piece.range));
            }
        }
        spilled.sort_unstable();
        let mut n_slots = 0;
        self.scratch.busy.clear();
        for &(start, end, range) in &spilled {
            let number = match self.scratch.busy.peek() {
                Some(&(Reverse(until), Reverse(slot))) if until <= start => {
                    self.scratch.busy.pop();
                    slot
                }
                _ => {
                    n_slots += 1;
                    n_slots - 1
                }
            };
            self.scratch.busy.push((Reverse(end), Reverse(number)));
            self.scratch.slots[range as usize].number = number;
        }
        self.decide_writing(&spilled);
        n_slots
    }

    fn decide_writing(&mut self, spilled: &[(u32, u32, u32)]) {
        let pieces = self.pieces();
        let mut cost_of_leaving = vec![0.0; if spilled.is_empty() { 0 } else { self.scratch.slots.len() }];
        for moved in &self.scratch.transitions {
            if let (Place::Reg(_), Place::Memory) = (moved.from, moved.to)
                && !spilled.is_empty()
            {
                cost_of_leaving[moved.range as usize] += moved.cost;
            }
        }
        for &(.., range) in spilled {
            let at_once: f32 = pieces
                .uses_of_range(range)
                .iter()
                .filter(|touch| self.is_definition(touch.touch))
                .filter(|touch| matches!(self.place(range, touch.at), Place::Reg(_)))
                .map(|touch| touch.cost)
                .sum();
            self.scratch.slots[range as usize].written_at_once = at_once <= cost_of_leaving[range as usize];
        }
    }

    fn is_definition(&self, touch: Touch) -> bool {
        match touch {
            Touch::Parameter => true,
            Touch::Argument => false,
            Touch::Operand(index) => {
                let role = self.allocator.tiles.operands[index as usize].role;
                matches!(role, Role::Def | Role::EarlyDef)
            }
        }
    }

    /// What a range's value is moved from.
    fn source(&self, range: u32, place: Place) -> Source {
        match place {
            Place::Reg(reg) => Source::Loc(Loc::Reg(reg)),
            Place::Memory => match self.allocator.ranges.constant(range, self.allocator.tiles) {
                Some(bits) => Source::Const(bits),
                None => Source::Loc(Loc::Slot(self.scratch.slots[range as usize].number)),
            },
            Place::Waiting => unreachable!("every piece was placed"),
        }
    }

    /// Where a range's value is moved to; nowhere if it is a constant in no register.
    fn target(&self, range: u32, place: Place) -> Option<Loc> {
        match self.source(range, place) {
            Source::Loc(loc) => Some(loc),
            Source::Const(_) => None,
        }
    }

    /// How much of a range's register is moved.
    fn whole(&self, range: u32) -> Type {
        match self.allocator.ranges.ranges[range as usize].class {
            Class::Int => Type::I64,
            Class::Float => Type::F64,
        }
    }

    fn push_transitions(&mut self) {
        for at in 0..self.scratch.transitions.len() {
            let Transition { before, phase, range, from, to, .. } = self.scratch.transitions[at];
            let is_right_already = self.scratch.slots[range as usize].written_at_once && to == Place::Memory;
            if let Some(loc) = self.target(range, to)
                && !is_right_already
            {
                let (from, ty) = (self.source(range, from), self.whole(range));
                self.scratch.moves.push(before, phase, from, loc, ty);
            }
        }
    }

    /// Places the operands of an instruction, and what must be moved before and behind it.
    fn inst(&mut self, inst: usize, out: &mut Assignment) {
        let tiles = self.allocator.tiles;
        let operands = tiles.insts[inst].operands.range();
        for index in operands.clone() {
            let operand = tiles.operands[index];
            let loc = match operand.constraint {
                Constraint::Fixed(reg) => Loc::Reg(reg),
                Constraint::OutArg(at) => Loc::OutArg(at),
                _ => {
                    let result = tied_result(tiles, operands.clone(), index);
                    self.register(inst as u32, result.unwrap_or(index))
                }
            };
            debug_assert_eq!(out.locs.len(), index);
            out.locs.push(loc);
            let ty = tiles.vregs[operand.vreg.at()].ty;
            let (range, at) = (self.range(operand.vreg), inst as u32);
            match operand.role {
                Role::Use | Role::LateUse => {
                    let home = self.source(range, self.place(range, at * STEP + GAP));
                    self.scratch.moves.push(at, Phase::Before, home, loc, ty);
                }
                Role::Def | Role::EarlyDef => {
                    let place = self.place(range, at * STEP + LATE);
                    let home = self.target(range, place);
                    let slot = self.scratch.slots[range as usize];
                    let and_slot = slot.written_at_once.then_some(Loc::Slot(slot.number));
                    for to in home.into_iter().chain(and_slot.filter(|slot| home != Some(*slot))) {
                        self.scratch.moves.push(at + 1, Phase::After, Source::Loc(loc), to, ty);
                    }
                }
                Role::Temp => {}
            }
        }
    }

    /// The register of an operand without a fixed one: its moment's, or its piece's; or its slot, if it may be.
    fn register(&self, inst: u32, index: usize) -> Loc {
        let operand = self.allocator.tiles.operands[index];
        if let Constraint::Fixed(reg) = operand.constraint {
            return Loc::Reg(reg);
        }
        let range = self.range(operand.vreg);
        let position = match operand.role {
            Role::Use | Role::LateUse => GAP,
            Role::Def | Role::EarlyDef | Role::Temp => LATE,
        };
        match self.place(range, inst * STEP + position) {
            Place::Reg(reg) => Loc::Reg(reg),
            Place::Memory => match self.allocator.scratch.moment_of[index] {
                u32::MAX => Loc::Slot(self.scratch.slots[range as usize].number),
                moment => {
                    let reg: Option<Reg> = self.allocator.scratch.moments[moment as usize].reg;
                    Loc::Reg(reg.expect("every moment was placed"))
                }
            },
            Place::Waiting => unreachable!("every piece was placed"),
        }
    }

    /// Moves arguments to where the target's parameters are.
    fn arguments(&mut self, block: &TileBlock) {
        let tiles = self.allocator.tiles;
        for edge in tiles.edges(block) {
            let target = tiles.block(edge.to);
            let last = block.insts.start + block.insts.len - 1;
            for (arg, param) in core::iter::zip(edge.args.range(), target.params.range()) {
                let (arg, param) = (tiles.args[arg], tiles.args[param]);
                let ty = tiles.vregs[param.at()].ty;
                let (of_arg, of_param) = (self.range(arg), self.range(param));
                let from = self.source(of_arg, self.place(of_arg, last * STEP + GAP));
                let place = self.place(of_param, target.insts.start * STEP + GAP);
                let slot = self.scratch.slots[of_param as usize];
                let joined = of_arg == of_param;
                if !(joined && slot.written_at_once && place == Place::Memory)
                    && let Some(to) = self.target(of_param, place)
                {
                    self.scratch.moves.push(last, Phase::Leave, from, to, ty);
                }
                if slot.written_at_once && !joined && place != Place::Memory {
                    self.scratch.moves.push(last, Phase::Leave, from, Loc::Slot(slot.number), ty);
                }
            }
        }
    }
}
