//! Write the assignment: the places of operands, and the moves between them.
//!
//! In: intervals and reloads with their places. Out: an [`Assignment`].
//!
//! A range with an interval in memory has a spill slot. The slot is written in the cheaper of two ways: after every
//! definition (then moving from a register to memory costs nothing), or whenever the value moves from a register to memory. Where the
//! frame is not there yet, nothing is written.
//! Where two intervals of a range meet, within a block or across an edge, the value is moved if their places differ.

use super::super::live;
use super::intervals::{IntervalPlace, Intervals, Touch, Use};
use super::located::Located;
use super::moves::{Moves, Phase};
use super::{Allocator, Reload, tied_result};
use crate::ir::assignment::{Assignment, Loc, Move, Source};
use crate::ir::grouped::Grouped;
use crate::ir::index::{InstId, LiveRange, Slot, Vreg};
use crate::ir::ranges::{Pos, Segment};
use crate::ir::tiles::{Constraint, Operand, Role, TileBlock, TileList};
use crate::target::{Reg, RegSet};
use crate::vocab::{Class, Type};
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    located: Located,
    slots: Vec<SlotData>,
    spilled: Vec<Spilled>,
    cost_of_leaving: Vec<f32>,
    /// The predecessors of each block.
    preds: Grouped<u32>,
    /// By block: where its first and its last predecessor end.
    entered: Vec<(Pos, Pos)>,
    transitions: Vec<Transition>,
    /// Slots in use, with the one that is free first in hot code at the top; and free ones, ordered by the end of their use
    /// in cold code.
    busy: BinaryHeap<(Reverse<Pos>, Reverse<Slot>)>,
    free: BinaryHeap<(Reverse<Pos>, Reverse<Slot>)>,
    /// For each slot the end of its use in cold code.
    cold_ends: Vec<Pos>,
    moves: Moves,
}

impl Scratch {
    /// The spill slot of a spilled range.
    pub(super) fn slot(&self, range: LiveRange) -> Slot {
        self.slots[range.at()].slot
    }
}

/// A range's spill slot.
#[derive(Clone, Copy, Debug)]
struct SlotData {
    slot: Slot,
    /// Whether it is written after every definition.
    written_at_once: bool,
}

const NO_SLOT: SlotData = SlotData { slot: Slot::NONE, written_at_once: false };

/// A range with a slot, and its extent in hot and in cold code. If it is not live in code of one kind, that extent is
/// empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Spilled {
    start: Pos,
    end: Pos,
    cold: (Pos, Pos),
    range: LiveRange,
}

impl Spilled {
    fn new(segments: &[Segment], first_cold: Pos, range: LiveRange) -> Spilled {
        let (first, last) = (segments[0].start, segments[segments.len() - 1].end);
        if last <= first_cold {
            return Spilled { start: first, end: last, cold: (Pos::NEVER, Pos::START), range };
        }
        let n_hot = segments.partition_point(|segment| segment.start < first_cold);
        let end = segments[..n_hot].last().map_or(first, |hot| hot.end.min(first_cold));
        // The last segment in hot code may continue into cold code.
        let runs_on = n_hot > 0 && segments[n_hot - 1].end > first_cold;
        let cold = if runs_on { first_cold } else { segments[n_hot].start };
        Spilled { start: first, end, cold: (cold, last), range }
    }
}

/// A point at which a range changes from one interval to another.
#[derive(Clone, Copy, Debug)]
struct Transition {
    before: InstId,
    phase: Phase,
    range: LiveRange,
    from: IntervalPlace,
    to: IntervalPlace,
    cost: f32,
}

/// Fills the assignment.
pub(super) fn write(allocator: Allocator<'_>, out: &mut Assignment) {
    out.locs.clear();
    out.moves.clear();
    out.used = RegSet::EMPTY;
    let mut scratch = core::mem::take(&mut allocator.scratch.write);
    scratch.moves.clear();
    scratch.located.fill(&allocator.scratch.intervals, allocator.ranges.ranges.len());
    let mut writer = Writer { allocator: &allocator, scratch: &mut scratch };
    writer.find_transitions();
    out.slots = writer.assign_slots();
    writer.push_transitions();
    for inst in (0..allocator.tiles.insts.len()).map(InstId::from) {
        writer.inst(inst, out);
    }
    for block in &allocator.tiles.blocks {
        writer.arguments(block);
    }
    let occupied = &allocator.scratch.occupied;
    let free = |before: InstId, class: Class, used: RegSet| {
        // From the positions read by moves after the previous instruction to those where this instruction reads.
        let start = if before == InstId(0) { Pos::START } else { before.gap().prev() };
        let segment = Segment { start, end: before.late() };
        let mut regs = allocator.regs.of(class).iter();
        regs.find(|reg| !used.contains(**reg) && occupied.is_free(**reg, segment)).copied()
    };
    scratch.moves.finish(allocator.tiles.insts.len(), free, &mut out.slots, &mut out.moves);
    for Move { to, .. } in &out.moves {
        if let Loc::Reg(reg) = to {
            out.used.insert(*reg);
        }
    }
    for data in &allocator.tiles.insts {
        out.used = out.used.union(data.clobbers);
    }
    out.has_late_frame = has_late_frame(allocator.tiles, out, allocator.regs.callee_saved);
    allocator.scratch.write = scratch;
}

/// Whether all blocks that would run without the frame do without it.
fn has_late_frame(tiles: &TileList, out: &Assignment, callee_saved: RegSet) -> bool {
    let is_allowed = |loc: Loc| matches!(loc, Loc::Reg(reg) if !callee_saved.contains(reg));
    !tiles.blocks[0].framed
        && tiles.blocks.iter().filter(|block| !block.framed).all(|block| {
            let (first, last) = (tiles.insts[block.first().at()], tiles.insts[block.last().at()]);
            let operands = first.operands.range().start..last.operands.range().end;
            let moves = |inst: InstId| out.moves.partition_point(|moved| moved.before < inst);
            let moves = &out.moves[moves(block.first())..moves(block.last().next())];
            out.locs[operands].iter().all(|loc| is_allowed(*loc))
                && moves.iter().all(|moved| {
                    is_allowed(moved.to) && !matches!(moved.from, Source::Loc(from) if !is_allowed(from))
                })
        })
}

/// How many blocks are scanned before a binary search.
const MAX_STEPS: usize = 8;

struct Writer<'a> {
    allocator: &'a Allocator<'a>,
    scratch: &'a mut Scratch,
}

impl<'a> Writer<'a> {
    fn intervals(&self) -> &'a Intervals {
        &self.allocator.scratch.intervals
    }

    fn range(&self, vreg: Vreg) -> LiveRange {
        self.allocator.ranges.of(vreg)
    }

    /// Finds where the first and the last predecessor of each block end.
    fn find_entered(&mut self) {
        let tiles = self.allocator.tiles;
        let Scratch { preds, entered, .. } = &mut *self.scratch;
        live::find_preds(tiles, preds);
        entered.clear();
        entered.extend(preds.groups().map(|preds| {
            preds.iter().fold((Pos::NEVER, Pos::START), |(first, last), pred| {
                let at = tiles.blocks[*pred as usize].last().gap();
                (first.min(at), last.max(at))
            })
        }));
    }

    /// Finds where cut ranges change their places, within blocks and across edges.
    fn find_transitions(&mut self) {
        let intervals = self.intervals();
        let blocks = &self.allocator.tiles.blocks;
        self.scratch.transitions.clear();
        if !self.scratch.located.is_any_cut() {
            return;
        }
        self.find_entered();
        let start_of = |block: usize| blocks.get(block).map_or(Pos::NEVER, |block| block.first().gap());
        for range in (0..self.allocator.ranges.ranges.len()).map(LiveRange::from) {
            let cut = self.scratch.located.cut(range);
            if cut.len == 0 {
                continue;
            }
            let mut uses = intervals.uses_of_range(range).iter().peekable();
            let mut before = (Segment { start: Pos::NEVER, end: Pos::NEVER }, IntervalPlace::Waiting);
            let mut across = cut.start;
            // The first block that starts after the segments visited so far.
            let mut next = 0;
            for index in cut.range() {
                let (segment, place) = self.scratch.located.entry(index as u32);
                // It is mostly one of the next blocks.
                next += (0..MAX_STEPS).take_while(|step| start_of(next + step) < segment.start).count();
                if start_of(next) < segment.start {
                    next = intervals.block_at(segment.start);
                    next += (start_of(next) < segment.start) as usize;
                }
                if before.0.end == segment.start && before.1 != place && start_of(next) != segment.start {
                    self.scratch.transitions.push(Transition {
                        before: segment.start.inst(),
                        phase: Phase::Cut,
                        range,
                        from: before.1,
                        to: place,
                        cost: intervals.cost_of_block(next - 1),
                    });
                }
                while start_of(next) < segment.end {
                    // In most blocks, the range is in the same place in all predecessors.
                    let (first, last) = self.scratch.entered[next];
                    if segment.start <= first && last < segment.end {
                        next += 1;
                        continue;
                    }
                    while uses.next_if(|touch| touch.at < start_of(next)).is_some() {}
                    let is_here = |touch: &&Use| touch.at == start_of(next);
                    // A parameter gets its value from moves of arguments.
                    if !uses.clone().take_while(is_here).any(|touch| touch.touch == Touch::Parameter) {
                        self.find_edges(range, index as u32, next, &mut across);
                    }
                    next += 1;
                }
                before = (segment, place);
            }
        }
    }

    /// Finds the edges into a block across which a cut range changes its place. `across` is the entry found last for a
    /// distant edge: such edges mostly come in the order of their targets.
    fn find_edges(&mut self, range: LiveRange, located: u32, block: usize, across: &mut u32) {
        let tiles = self.allocator.tiles;
        let to = self.scratch.located.entry(located).1;
        for pred in self.scratch.preds.list(block).range() {
            let pred = self.scratch.preds.pool[pred] as usize;
            let data = &tiles.blocks[pred];
            let (segment, mut from) = self.scratch.located.entry(located);
            if !segment.contains(data.last().gap()) {
                let cut = self.scratch.located.cut(range);
                *across = self.scratch.located.find(cut, data.last().gap(), *across);
                from = self.scratch.located.entry(*across).1;
            }
            if from != to {
                let (before, phase) = match data.edges.len {
                    1 => (data.last(), Phase::Leave),
                    _ => (tiles.blocks[block].first(), Phase::Enter),
                };
                let cost = self.intervals().cost_of_block(pred).min(self.intervals().cost_of_block(block));
                self.scratch.transitions.push(Transition { before, phase, range, from, to, cost });
            }
        }
    }

    /// Assigns slots to ranges with an interval in memory, and decides when each slot is written. A slot is reused once its
    /// range has ended: in hot code, and also in cold code, where ranges come in about the same order again.
    fn assign_slots(&mut self) -> u32 {
        let intervals = self.intervals();
        let ranges = self.allocator.ranges;
        let n_ranges = ranges.ranges.len();
        self.scratch.slots.clear();
        self.scratch.slots.resize(n_ranges, NO_SLOT);
        self.scratch.spilled.clear();
        for interval in intervals.all.iter().filter(|interval| interval.place == IntervalPlace::Memory) {
            let segments = ranges.segments(interval.range);
            let slot = &mut self.scratch.slots[interval.range.at()].slot;
            if !slot.is_some() && ranges.constant(interval.range, self.allocator.tiles).is_none() {
                *slot = Slot(0);
                self.scratch.spilled.push(Spilled::new(segments, intervals.first_cold, interval.range));
            }
        }
        if self.scratch.spilled.is_empty() {
            return 0;
        }
        self.scratch.spilled.sort_unstable();
        let Scratch { busy, free, cold_ends, spilled, slots, .. } = &mut *self.scratch;
        busy.clear();
        free.clear();
        cold_ends.clear();
        for &Spilled { start, end, cold, range } in &*spilled {
            while let Some(&(Reverse(until), Reverse(slot))) = busy.peek()
                && until <= start
            {
                busy.pop();
                free.push((Reverse(cold_ends[slot.at()]), Reverse(slot)));
            }
            let slot = match free.peek() {
                Some(&(Reverse(cold_end), Reverse(slot))) if cold_end <= cold.0 => {
                    free.pop();
                    slot
                }
                _ => {
                    cold_ends.push(Pos::START);
                    Slot::from(cold_ends.len() - 1)
                }
            };
            let cold_end = &mut cold_ends[slot.at()];
            *cold_end = cold.1.max(*cold_end);
            busy.push((Reverse(end), Reverse(slot)));
            slots[range.at()].slot = slot;
        }
        let n_slots = cold_ends.len() as u32;
        self.decide_writing();
        n_slots
    }

    fn decide_writing(&mut self) {
        let (intervals, tiles) = (self.intervals(), self.allocator.tiles);
        let Scratch { transitions, cost_of_leaving, .. } = &mut *self.scratch;
        cost_of_leaving.clear();
        cost_of_leaving.resize(self.allocator.ranges.ranges.len(), 0.0);
        for moved in transitions {
            if let (IntervalPlace::Reg(_), IntervalPlace::Memory) = (moved.from, moved.to) {
                cost_of_leaving[moved.range.at()] += moved.cost;
            }
        }
        for at in 0..self.scratch.spilled.len() {
            let Spilled { range, .. } = self.scratch.spilled[at];
            let mut at_once = 0.0;
            for touch in intervals.uses_of_range(range) {
                if self.is_definition(touch.touch)
                    && matches!(self.scratch.located.place(range, touch.at), IntervalPlace::Reg(_))
                {
                    at_once += if tiles.blocks[intervals.block_at(touch.at)].framed {
                        touch.cost
                    } else {
                        f32::INFINITY
                    };
                }
            }
            let of_leaving = self.scratch.cost_of_leaving[range.at()];
            self.scratch.slots[range.at()].written_at_once = at_once <= of_leaving;
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

    /// The source of a move from a place of a range.
    fn source(&self, range: LiveRange, place: IntervalPlace) -> Source {
        match place {
            IntervalPlace::Reg(reg) => Source::Loc(Loc::Reg(reg)),
            IntervalPlace::Memory => match self.allocator.ranges.constant(range, self.allocator.tiles) {
                Some(bits) => Source::Const(bits),
                None => Source::Loc(Loc::Slot(self.scratch.slot(range))),
            },
            IntervalPlace::Waiting => unreachable!("every interval was placed"),
        }
    }

    /// The destination of a move to a place of a range; none for a constant in memory.
    fn target(&self, range: LiveRange, place: IntervalPlace) -> Option<Loc> {
        match self.source(range, place) {
            Source::Loc(loc) => Some(loc),
            Source::Const(_) => None,
        }
    }

    /// The type of a move of a range's whole register.
    fn whole(&self, range: LiveRange) -> Type {
        match self.allocator.ranges.get(range).class {
            Class::Int => Type::I64,
            Class::Float => Type::F64,
        }
    }

    fn push_transitions(&mut self) {
        for at in 0..self.scratch.transitions.len() {
            let Transition { before, phase, range, from, to, .. } = self.scratch.transitions[at];
            let is_right_already =
                self.scratch.slots[range.at()].written_at_once && to == IntervalPlace::Memory;
            if let Some(loc) = self.target(range, to)
                && !is_right_already
            {
                let (from, ty) = (self.source(range, from), self.whole(range));
                self.scratch.moves.push(before, phase, from, loc, ty);
            }
        }
    }

    /// Places the operands of an instruction, and adds the moves before and after it.
    fn inst(&mut self, inst: InstId, out: &mut Assignment) {
        let tiles = self.allocator.tiles;
        let range = tiles.insts[inst.at()].operands.range();
        let operands = &tiles.operands[range.clone()];
        // A bit for each operand with a result tied to it.
        let mut with_results = 0u32;
        for operand in operands {
            if let Constraint::Tied(to) = operand.constraint {
                with_results |= 1 << to.min(u32::BITS as u8 - 1);
            }
        }
        for (number, operand) in operands.iter().enumerate() {
            let index = range.start + number;
            debug_assert_eq!(out.locs.len(), index);
            let home = self.home_register(inst, operand);
            let loc = match home {
                Some(reg) if with_results >> number.min(u32::BITS as usize - 1) & 1 == 0 => Loc::Reg(reg),
                _ if with_results == 0 => self.operand(inst, index, None),
                _ => match (home, tied_result(tiles, range.clone(), index)) {
                    (Some(reg), None) => Loc::Reg(reg),
                    (_, result) => self.operand(inst, index, result),
                },
            };
            out.locs.push(loc);
            if let (Role::Def | Role::EarlyDef | Role::Temp, Loc::Reg(reg)) = (operand.role, loc) {
                out.used.insert(reg);
            }
        }
    }

    /// The register that an operand is in both before and after its instruction, if it needs no move.
    fn home_register(&mut self, inst: InstId, operand: &Operand) -> Option<Reg> {
        use Constraint::{Any, Anywhere, Reg, Tied};
        if !matches!(operand.constraint, Reg | Any | Anywhere | Tied(_)) {
            return None;
        }
        let range = self.range(operand.vreg);
        let position = match operand.role {
            Role::Use | Role::LateUse => inst.gap(),
            Role::Def | Role::EarlyDef if self.scratch.slots[range.at()].written_at_once => return None,
            Role::Def | Role::EarlyDef | Role::Temp => inst.late(),
        };
        match self.scratch.located.place(range, position) {
            IntervalPlace::Reg(reg) => Some(reg),
            IntervalPlace::Memory | IntervalPlace::Waiting => None,
        }
    }

    /// Places an operand, and adds its moves.
    fn operand(&mut self, at: InstId, index: usize, tied_result: Option<usize>) -> Loc {
        let tiles = self.allocator.tiles;
        let operand = &tiles.operands[index];
        let loc = match operand.constraint {
            Constraint::Fixed(reg) => Loc::Reg(reg),
            Constraint::OutArg(unit) => Loc::OutArg(unit.number()),
            _ => self.register(at, tied_result.unwrap_or(index)),
        };
        let ty = tiles.vregs[operand.vreg.at()].ty;
        let range = self.range(operand.vreg);
        match operand.role {
            Role::Use | Role::LateUse => {
                let place = self.scratch.located.place(range, at.gap());
                let home = self.source(range, place);
                self.scratch.moves.push(at, Phase::Before, home, loc, ty);
            }
            Role::Def | Role::EarlyDef => {
                let place = self.scratch.located.place(range, at.late());
                let home = self.target(range, place);
                let slot = self.scratch.slots[range.at()];
                let and_slot = slot.written_at_once.then_some(Loc::Slot(slot.slot));
                for to in home.into_iter().chain(and_slot.filter(|slot| home != Some(*slot))) {
                    self.scratch.moves.push(at.next(), Phase::After, Source::Loc(loc), to, ty);
                }
            }
            Role::Temp => {}
        }
        loc
    }

    /// The register of an operand: the fixed one, its reload's, or its interval's; or its slot, if the operand may be in
    /// memory.
    fn register(&mut self, inst: InstId, index: usize) -> Loc {
        let operand = self.allocator.tiles.operands[index];
        if let Constraint::Fixed(reg) = operand.constraint {
            return Loc::Reg(reg);
        }
        let range = self.range(operand.vreg);
        let position = match operand.role {
            Role::Use | Role::LateUse => inst.gap(),
            Role::Def | Role::EarlyDef | Role::Temp => inst.late(),
        };
        match self.scratch.located.place(range, position) {
            IntervalPlace::Reg(reg) => Loc::Reg(reg),
            IntervalPlace::Memory => match self.allocator.scratch.reload_of[index] {
                Reload::NONE => Loc::Slot(self.scratch.slot(range)),
                reload => {
                    let reg: Option<Reg> = self.allocator.scratch.reloads[reload.at()].reg;
                    Loc::Reg(reg.expect("every reload was placed"))
                }
            },
            IntervalPlace::Waiting => unreachable!("every interval was placed"),
        }
    }

    /// Moves arguments to the places of the target's parameters.
    fn arguments(&mut self, block: &TileBlock) {
        let tiles = self.allocator.tiles;
        for edge in tiles.edges(block) {
            let target = tiles.block(edge.to);
            let last = block.last();
            for (arg, param) in core::iter::zip(edge.args.range(), target.params.range()) {
                let (arg, param) = (tiles.args[arg], tiles.args[param]);
                let ty = tiles.vregs[param.at()].ty;
                let (of_arg, of_param) = (self.range(arg), self.range(param));
                let from = self.scratch.located.place(of_arg, last.gap());
                let from = self.source(of_arg, from);
                let place = self.scratch.located.place(of_param, target.first().gap());
                let slot = self.scratch.slots[of_param.at()];
                let joined = of_arg == of_param;
                if !(joined && slot.written_at_once && place == IntervalPlace::Memory)
                    && let Some(to) = self.target(of_param, place)
                {
                    self.scratch.moves.push(last, Phase::Leave, from, to, ty);
                }
                if slot.written_at_once && !joined && place != IntervalPlace::Memory {
                    self.scratch.moves.push(last, Phase::Leave, from, Loc::Slot(slot.slot), ty);
                }
            }
        }
    }
}
