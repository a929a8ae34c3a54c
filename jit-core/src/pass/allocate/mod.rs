//! Give every value a place.
//!
//! In: a tile list and its live ranges. Out: an [`Assignment`]. Keeps: the tile list. Cost: for each range, the
//! segments that meet it in the registers it tries.
//!
//! Ranges are taken in the order in which they start. Each gets a register that is free wherever the range is
//! live (holes count as free), the one that saves a move if possible. If there is none, the cheapest range in
//! the way gives its register up, or the range itself goes to memory: then it has a spill slot, written behind
//! each definition, and each instruction that needs it in a register gets it in one for just that moment. What
//! such a moment needs cannot be put off, so it may drive out any other range. A constant that lost its register
//! has no slot: it is made again.
//!
//! Operands in fixed registers and call arguments are moved into place right before the instruction, all at
//! once, by [`moves`]; the registers that they take are reserved for that moment.

mod moves;
mod occupied;

use crate::ir::assignment::{Assignment, Loc, Move, Source};
use crate::ir::index::Vreg;
use crate::ir::ranges::{AFTER, EARLY, LATE, Range, Ranges, STEP, Segment};
use crate::ir::tiles::{Constraint, Operand, Remat, Role, TileList};
use crate::target::{Reg, RegSet, RegisterFile};
use crate::vocab::Class;
use moves::{Moves, Phase};
use occupied::{Holder, Occupied};
use std::collections::BinaryHeap;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    occupied: Occupied,
    places: Vec<Place>,
    queue: BinaryHeap<Task>,
    /// For each operand that needs a register for a moment, the moment; `u32::MAX` for others.
    moment_of: Vec<u32>,
    moments: Vec<Moment>,
    conflicts: Vec<Holder>,
    slots: Slots,
    moves: Moves,
}

/// There is an instruction whose constraints cannot all be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Impossible {
    /// The instruction.
    pub inst: u32,
}

/// Where a range is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Waiting,
    Reg(Reg),
    /// In memory or, for a constant, nowhere.
    Spilled,
}

/// A register that an operand of a spilled range needs for a moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    operand: u32,
    inst: u32,
    segment: Segment,
    class: Class,
    reg: Option<Reg>,
}

/// What waits for a register: earliest first, moments before ranges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Task {
    start: core::cmp::Reverse<u32>,
    holder: Holder,
}

/// Spill slots by what is live in them.
#[derive(Debug, Default)]
struct Slots {
    of: Vec<u32>,
    busy_until: Vec<u32>,
}

const NO_SLOT: u32 = u32::MAX;

/// The cost of a register that nobody has; less than any weight, and a range that nobody reads weighs nothing.
const FREE: f32 = -1.0;

/// Finds a place for every operand.
pub fn allocate(
    scratch: &mut Scratch,
    tiles: &TileList,
    ranges: &Ranges,
    regs: &RegisterFile,
    out: &mut Assignment,
) -> Result<(), Impossible> {
    out.locs.clear();
    out.moves.clear();
    out.used = RegSet::EMPTY;
    scratch.occupied.clear();
    scratch.places.clear();
    scratch.places.resize(ranges.ranges.len(), Place::Waiting);
    scratch.queue.clear();
    scratch.moment_of.clear();
    scratch.moment_of.resize(tiles.operands.len(), u32::MAX);
    scratch.moments.clear();
    scratch.slots.of.clear();
    scratch.slots.of.resize(ranges.ranges.len(), NO_SLOT);
    let mut allocator = Allocator { scratch, tiles, ranges, regs };
    allocator.reserve();
    for (at, range) in ranges.ranges.iter().enumerate() {
        if let Some(first) = ranges.segments(range).first() {
            let start = core::cmp::Reverse(first.start);
            allocator.scratch.queue.push(Task { start, holder: Holder::Range(at as u32) });
        }
    }
    while let Some(task) = allocator.scratch.queue.pop() {
        allocator.place(task.holder)?;
    }
    allocator.assign_slots();
    allocator.write(out);
    Ok(())
}

struct Allocator<'a> {
    scratch: &'a mut Scratch,
    tiles: &'a TileList,
    ranges: &'a Ranges,
    regs: &'a RegisterFile,
}

impl Allocator<'_> {
    /// Takes the registers that instructions need at certain moments.
    fn reserve(&mut self) {
        for (at, inst) in self.tiles.insts.iter().enumerate() {
            let base = at as u32 * STEP;
            for reg in inst.clobbers.iter() {
                let segment = Segment { start: base + LATE, end: base + AFTER };
                self.scratch.occupied.insert(reg, segment, Holder::Machine);
            }
            for operand in &self.tiles.operands[inst.operands.range()] {
                if let Constraint::Fixed(reg) = operand.constraint {
                    let segment = moment(operand, base);
                    let owner = Holder::Owned(self.ranges.of[operand.vreg.at()]);
                    self.scratch.occupied.insert(reg, segment, owner);
                }
            }
        }
    }

    fn place(&mut self, holder: Holder) -> Result<(), Impossible> {
        match holder {
            Holder::Range(at) => self.place_range(at),
            Holder::Moment(at) => self.place_moment(at),
            Holder::Machine | Holder::Owned(_) => unreachable!("reservations do not wait"),
        }
    }

    fn place_range(&mut self, at: u32) -> Result<(), Impossible> {
        if self.scratch.places[at as usize] != Place::Waiting {
            return Ok(());
        }
        let range = self.ranges.ranges[at as usize];
        let mut best: Option<(f32, Reg)> = None;
        let hint = range.hint.filter(|reg| self.regs.of(range.class).contains(reg));
        for reg in hint.into_iter().chain(self.regs.of(range.class).iter().copied()) {
            match self.cost(at, &range, reg) {
                Some(FREE) => {
                    self.take(reg, at, &range);
                    return Ok(());
                }
                Some(cost) if best.is_none_or(|(least, _)| cost < least) => best = Some((cost, reg)),
                _ => {}
            }
        }
        match best {
            Some((cost, reg)) if cost < range.weight => {
                self.evict_from(reg, self.ranges.segments(&range), Some(at))?;
                self.take(reg, at, &range);
                Ok(())
            }
            _ => self.spill(at),
        }
    }

    fn take(&mut self, reg: Reg, at: u32, range: &Range) {
        for segment in self.ranges.segments(range) {
            self.scratch.occupied.insert(reg, *segment, Holder::Range(at));
        }
        self.scratch.places[at as usize] = Place::Reg(reg);
    }

    /// What it costs to have a range in a register: [`FREE`], or the weight of what must go;
    /// `None` if something there cannot go.
    fn cost(&mut self, at: u32, range: &Range, reg: Reg) -> Option<f32> {
        let mut cost = FREE;
        for segment in self.ranges.segments(range) {
            self.scratch.conflicts.clear();
            self.scratch.occupied.conflicts(reg, *segment, &mut self.scratch.conflicts);
            for holder in &self.scratch.conflicts {
                match holder {
                    Holder::Owned(owner) if *owner == at => {}
                    Holder::Range(other) => cost = cost.max(self.ranges.ranges[*other as usize].weight),
                    _ => return None,
                }
            }
        }
        Some(cost)
    }

    fn evict_from(&mut self, reg: Reg, segments: &[Segment], but: Option<u32>) -> Result<(), Impossible> {
        for segment in segments {
            self.scratch.conflicts.clear();
            self.scratch.occupied.conflicts(reg, *segment, &mut self.scratch.conflicts);
            for holder in core::mem::take(&mut self.scratch.conflicts) {
                if let Holder::Range(other) = holder
                    && Some(other) != but
                    && self.scratch.places[other as usize] == Place::Reg(reg)
                {
                    for segment in self.ranges.segments(&self.ranges.ranges[other as usize]) {
                        self.scratch.occupied.remove(reg, *segment);
                    }
                    self.spill(other)?;
                }
            }
        }
        Ok(())
    }

    /// A range goes to memory: each operand that needs a register waits for one.
    fn spill(&mut self, at: u32) -> Result<(), Impossible> {
        self.scratch.places[at as usize] = Place::Spilled;
        for segment in self.ranges.segments(&self.ranges.ranges[at as usize]) {
            let insts = segment.start / STEP..segment.end.div_ceil(STEP);
            for inst in insts {
                self.spill_operands(at, inst);
            }
        }
        Ok(())
    }

    fn spill_operands(&mut self, at: u32, inst: u32) {
        let Some(data) = self.tiles.insts.get(inst as usize) else { return };
        for index in data.operands.range() {
            let operand = &self.tiles.operands[index];
            if self.ranges.of[operand.vreg.at()] != at || self.scratch.moment_of[index] != u32::MAX {
                continue;
            }
            let tied_to_me = || self.tied_result(data.operands.range(), index).is_some();
            let waits = match operand.constraint {
                Constraint::Reg => !tied_to_me(),
                Constraint::Tied(_) => true,
                Constraint::Any | Constraint::Fixed(_) | Constraint::OutArg(_) => false,
            };
            if waits {
                let segment = moment(operand, inst * STEP);
                let class = self.tiles.vregs[operand.vreg.at()].ty.class();
                let number = self.scratch.moments.len() as u32;
                self.scratch.moments.push(Moment { operand: index as u32, inst, segment, class, reg: None });
                self.scratch.moment_of[index] = number;
                let start = core::cmp::Reverse(segment.start);
                self.scratch.queue.push(Task { start, holder: Holder::Moment(number) });
            }
        }
    }

    /// The result that is tied to an operand of the same instruction.
    fn tied_result(&self, operands: core::ops::Range<usize>, index: usize) -> Option<usize> {
        let number = (index - operands.start) as u8;
        operands.into_iter().find(|&at| self.tiles.operands[at].constraint == Constraint::Tied(number))
    }

    fn place_moment(&mut self, at: u32) -> Result<(), Impossible> {
        let Moment { operand, inst, segment, class, .. } = self.scratch.moments[at as usize];
        let range = self.ranges.of[self.tiles.operands[operand as usize].vreg.at()];
        let mut best: Option<(f32, Reg)> = None;
        for &reg in self.regs.of(class) {
            self.scratch.conflicts.clear();
            self.scratch.occupied.conflicts(reg, segment, &mut self.scratch.conflicts);
            let mut cost = Some(FREE);
            for holder in &self.scratch.conflicts {
                match holder {
                    Holder::Owned(owner) if *owner == range => {}
                    // What this very instruction has in a register cannot give it up for another operand of it.
                    Holder::Range(other) if !self.is_at(*other, inst) => {
                        let weight = self.ranges.ranges[*other as usize].weight;
                        cost = cost.map(|cost| cost.max(weight));
                    }
                    Holder::Range(other) => {
                        let weight = self.ranges.ranges[*other as usize].weight + 1e30;
                        cost = cost.map(|cost| cost.max(weight));
                    }
                    _ => cost = None,
                }
            }
            match cost {
                Some(cost) if best.is_none_or(|(least, _)| cost < least) => best = Some((cost, reg)),
                _ => {}
            }
        }
        let Some((cost, reg)) = best else { return Err(Impossible { inst }) };
        if cost != FREE {
            self.evict_from(reg, &[segment], None)?;
        }
        self.scratch.occupied.insert(reg, segment, Holder::Moment(at));
        self.scratch.moments[at as usize].reg = Some(reg);
        Ok(())
    }

    /// Whether an instruction has an operand of this range.
    fn is_at(&self, range: u32, inst: u32) -> bool {
        let operands = self.tiles.operands(inst as usize).iter();
        operands.into_iter().any(|operand| self.ranges.of[operand.vreg.at()] == range)
    }

    /// Gives spilled ranges slots; a slot is used again once the range that had it is over.
    fn assign_slots(&mut self) {
        let mut spilled: Vec<(u32, u32, u32)> = Vec::new();
        let mut constants = vec![false; self.ranges.ranges.len()];
        for (vreg, data) in self.tiles.vregs.iter().enumerate() {
            if data.remat != Remat::No {
                constants[self.ranges.of[vreg] as usize] = true;
            }
        }
        for (at, place) in self.scratch.places.iter().enumerate() {
            if *place == Place::Spilled && !constants[at] {
                let segments = self.ranges.segments(&self.ranges.ranges[at]);
                if let (Some(first), Some(last)) = (segments.first(), segments.last()) {
                    spilled.push((first.start, last.end, at as u32));
                }
            }
        }
        spilled.sort_unstable();
        let busy_until = &mut self.scratch.slots.busy_until;
        busy_until.clear();
        for (start, end, at) in spilled {
            let free = busy_until.iter().position(|until| *until <= start);
            let slot = free.unwrap_or_else(|| {
                busy_until.push(0);
                busy_until.len() - 1
            });
            busy_until[slot] = end;
            self.scratch.slots.of[at as usize] = slot as u32;
        }
    }

    /// Where a value is between instructions.
    fn home(&self, vreg: Vreg) -> Source {
        let range = self.ranges.of[vreg.at()] as usize;
        match self.scratch.places[range] {
            Place::Reg(reg) => Source::Loc(Loc::Reg(reg)),
            Place::Spilled => match self.tiles.vregs[vreg.at()].remat {
                Remat::Const(bits) => Source::Const(bits),
                Remat::No => Source::Loc(Loc::Slot(self.scratch.slots.of[range])),
            },
            Place::Waiting => unreachable!("every range with a segment was placed"),
        }
    }

    fn write(&mut self, out: &mut Assignment) {
        self.scratch.moves.clear();
        out.slots = self.scratch.slots.busy_until.len() as u32;
        for inst in 0..self.tiles.insts.len() {
            self.write_inst(inst, out);
        }
        for block in &self.tiles.blocks {
            for edge in self.tiles.edges(block) {
                let params = self.tiles.block(edge.to).params;
                let last = block.insts.start + block.insts.len - 1;
                for (arg, param) in core::iter::zip(edge.args.range(), params.range()) {
                    let (arg, param) = (self.tiles.args[arg], self.tiles.args[param]);
                    let ty = self.tiles.vregs[param.at()].ty;
                    if let Source::Loc(to) = self.home(param) {
                        self.scratch.moves.push(last, Phase::Edge, self.home(arg), to, ty);
                    }
                }
            }
        }
        self.scratch.moves.finish(self.regs, &mut out.slots, &mut out.moves);
        for Move { to, .. } in &out.moves {
            if let Loc::Reg(reg) = to {
                out.used.insert(*reg);
            }
        }
        for (inst, data) in self.tiles.insts.iter().enumerate() {
            out.used = out.used.union(data.clobbers);
            for (operand, loc) in core::iter::zip(self.tiles.operands(inst), &out.locs[data.operands.range()])
            {
                if let (Role::Def | Role::EarlyDef | Role::Temp, Loc::Reg(reg)) = (operand.role, loc) {
                    out.used.insert(*reg);
                }
            }
        }
    }

    /// Places the operands of an instruction, and what must be moved before and behind it.
    fn write_inst(&mut self, inst: usize, out: &mut Assignment) {
        let operands = self.tiles.insts[inst].operands.range();
        for index in operands.clone() {
            let operand = self.tiles.operands[index];
            let home = self.home(operand.vreg);
            let loc = match operand.constraint {
                Constraint::Fixed(reg) => Loc::Reg(reg),
                Constraint::OutArg(at) => Loc::OutArg(at),
                _ => match self.tied_result(operands.clone(), index) {
                    Some(result) => self.register_of(result),
                    None => self.register_of(index),
                },
            };
            debug_assert_eq!(out.locs.len(), index);
            out.locs.push(loc);
            let ty = self.tiles.vregs[operand.vreg.at()].ty;
            let at = inst as u32;
            match operand.role {
                Role::Use | Role::LateUse => {
                    if home != Source::Loc(loc) {
                        self.scratch.moves.push(at, Phase::Before, home, loc, ty);
                    }
                }
                Role::Def | Role::EarlyDef => match home {
                    Source::Loc(to) if to != loc => {
                        self.scratch.moves.push(at + 1, Phase::After, Source::Loc(loc), to, ty);
                    }
                    _ => {}
                },
                Role::Temp => {}
            }
        }
    }

    /// The register of an operand without a fixed one: its moment's, or its range's; or its slot, if it may be.
    fn register_of(&self, index: usize) -> Loc {
        let operand = self.tiles.operands[index];
        if let Constraint::Fixed(reg) = operand.constraint {
            return Loc::Reg(reg);
        }
        let moment = self.scratch.moment_of[index];
        if moment != u32::MAX
            && self.scratch.places[self.ranges.of[operand.vreg.at()] as usize] == Place::Spilled
        {
            let reg = self.scratch.moments[moment as usize].reg;
            return Loc::Reg(reg.expect("every moment was placed"));
        }
        match self.home(operand.vreg) {
            Source::Loc(loc) => loc,
            Source::Const(_) => unreachable!("a constant that is read in place waits for a register"),
        }
    }
}

/// The positions at which an operand's register is taken by the instruction itself.
fn moment(operand: &Operand, base: u32) -> Segment {
    let (start, end) = match (operand.role, operand.constraint) {
        (Role::Use, _) => (EARLY, LATE),
        (Role::LateUse | Role::Temp, _) => (EARLY, AFTER),
        // The operand that it takes over is put there before the instruction reads.
        (Role::Def | Role::EarlyDef, Constraint::Tied(_)) | (Role::EarlyDef, _) => (EARLY, STEP),
        (Role::Def, _) => (LATE, STEP),
    };
    Segment { start: base + start, end: base + end }
}
