//! Register allocation: give every value a place.
//!
//! In: a tile list and its live ranges. Out: an [`Assignment`]. Keeps: the tile list. Cost: for each interval, its
//! conflicts in the registers that it tries, in each up to the first holder that does not yield.
//!
//! Ranges wait in the order in which they start. Each gets a register that is free wherever the range is live (holes count
//! as free), preferably one that saves a move. If no register is free, the cheapest conflicting range is evicted: from its
//! last use before the conflict on, or altogether if it can be cut at the borders of loops instead. An evicted range waits
//! again. If no conflicting range is cheaper, the waiting range is cut where that is cheapest, and its intervals wait:
//!
//! - at the borders of loops and of cold code, so that a loop gets the registers for what it needs, and a slow path
//!   that clobbers every register costs the fast path nothing; and where the frame is made;
//! - before its first use, so that it does not hold a register before it needs one;
//! - before a conflict that does not yield;
//! - around a single instruction, where it is in memory if it still fits nowhere.
//!
//! Cold code comes last, when everything else has its place. A cold *region* is a sequence of cold blocks that are entered
//! only at the first. A value that a region does not use stays there in the place that it had on entry, so a region moves
//! only the values that it needs.
//!
//! An interval in memory is in its range's spill slot. Each instruction that needs it in a register gets it in one for that
//! instruction only: a *reload*. A reload cannot wait, so it may evict any interval. A constant has no slot: it is
//! rematerialized. [`mod@write`] decides where to store, and moves values between intervals.
//!
//! Operands in fixed registers and call arguments are moved into place right before the instruction, by one parallel move
//! ([`moves`]); their registers are reserved at that instruction.

mod intervals;
mod located;
mod moves;
mod occupied;
mod queue;
mod reload;
mod write;

use super::chaos::Chaos;
use super::limits::Steps;
use super::live;
use crate::ir::assignment::{Assignment, Loc, Part};
use crate::ir::index::{InstId, LiveRange};
use crate::ir::ranges::{Pos, Ranges, Segment};
use crate::ir::tiles::{Constraint, TileBlock, TileList};
use crate::target::{Reg, RegSet, RegisterFile};
use crate::vocab::Class;
use intervals::{Interval, IntervalData, IntervalPlace, Intervals, Region};
use occupied::{Clobber, Holder, MAX_REGISTERS, NOBODY, Occupied};
use queue::{Task, Waiting};
use reload::{Reload, ReloadData, taken};
use std::collections::BinaryHeap;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    occupied: Occupied,
    intervals: Intervals,
    /// For each range the register that one of its intervals was last given.
    latest: Vec<Option<Reg>>,
    /// The tasks of the initial ranges, the first one last; and those of intervals that were evicted or cut off.
    ranges: Vec<Task>,
    queue: BinaryHeap<Task>,
    /// Intervals in cold code that are placed after everything else, and how many rounds of that there were.
    cold: Vec<Interval>,
    n_rounds: u32,
    /// Which ranges are in registers on entry to which regions; sorted.
    entering: Vec<(LiveRange, Region, Reg)>,
    /// For each operand its reload, if it needs one.
    reload_of: Vec<Reload>,
    reloads: Vec<ReloadData>,
    evicted: Vec<Interval>,
    write: write::Scratch,
    /// At random, spills intervals that fit, and takes other registers than the cheapest.
    pub(super) chaos: Chaos,
    pub(super) steps: Steps,
}

impl Scratch {
    /// The parts that ranges were cut into by the last allocation.
    pub(super) fn parts<'a>(
        &'a self,
        ranges: &'a Ranges,
        tiles: &'a TileList,
    ) -> impl Iterator<Item = Part<'a>> {
        self.intervals.all.iter().enumerate().filter_map(move |(at, interval)| {
            let place = match interval.place {
                IntervalPlace::Reg(reg) => Some(Loc::Reg(reg)),
                IntervalPlace::Memory if ranges.constant(interval.range, tiles).is_some() => None,
                IntervalPlace::Memory => Some(Loc::Slot(self.write.slot(interval.range))),
                IntervalPlace::Waiting => None,
            };
            let segments = self.intervals.segments(Interval::from(at));
            (!segments.is_empty()).then_some(Part { range: interval.range, segments, place })
        })
    }

    /// Frees the memory.
    pub(super) fn release(&mut self) {
        let Scratch { chaos, steps, .. } = core::mem::take(self);
        *self = Scratch { chaos, steps, ..Scratch::default() };
    }
}

/// The constraints of an instruction cannot all be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Impossible {
    /// The instruction.
    pub inst: InstId,
}

/// The conflicts of an interval in a register.
enum Look {
    /// No conflicts.
    Free,
    /// Only intervals that can be evicted; the greatest of their weights.
    Held(f32),
    /// A conflict that does not yield, from this position on.
    Blocked(Pos),
}

/// An instruction that clobbers at least this many registers counts as a call. The clobbers of all calls are looked up
/// together.
const MANY: u32 = 4;

/// The registers with the most room for the front of an interval that fits in none.
#[derive(Clone, Copy)]
struct Room {
    /// The position of the first conflict in `reg` that does not yield; the latest of all registers.
    until: Pos,
    reg: Option<Reg>,
    /// The register that would save a move, and its first conflict that does not yield.
    hint: Option<(Reg, Pos)>,
}

impl Room {
    fn add(&mut self, reg: Reg, until: Pos, is_hint: bool) {
        if is_hint {
            self.hint = Some((reg, until));
        }
        if self.reg.is_none() || until > self.until {
            (self.until, self.reg) = (until, Some(reg));
        }
    }

    /// The register for a front that ends at this position.
    fn register(self, end: Pos) -> Option<Reg> {
        self.hint.filter(|(_, until)| *until >= end).map(|(reg, _)| reg).or(self.reg)
    }
}

/// Finds a place for every operand.
pub fn allocate(
    scratch: &mut Scratch,
    tiles: &TileList,
    ranges: &Ranges,
    regs: &RegisterFile,
    out: &mut Assignment,
) -> Result<(), Impossible> {
    let has = |class: Class| ranges.ranges.iter().any(|range| range.class == class);
    let classes = [Class::Int, Class::Float].into_iter().filter(|class| has(*class));
    scratch.occupied.clear(regs, classes, InstId::from(tiles.insts.len()).gap());
    scratch.intervals.fill(tiles, ranges);
    scratch.latest.clear();
    scratch.latest.resize(ranges.ranges.len(), None);
    scratch.queue.clear();
    scratch.cold.clear();
    scratch.n_rounds = 0;
    scratch.reload_of.clear();
    scratch.reload_of.resize(tiles.operands.len(), Reload::NONE);
    scratch.reloads.clear();
    let mut allocator = Allocator { scratch, tiles, ranges, regs };
    allocator.reserve();
    allocator.queue_ranges();
    while let Some(task) = allocator.next() {
        match task.what() {
            Waiting::Interval(at) => allocator.place_interval(at),
            Waiting::Reload(at) => allocator.place_reload(at)?,
        }
    }
    write::write(allocator, out);
    Ok(())
}

struct Allocator<'a> {
    scratch: &'a mut Scratch,
    tiles: &'a TileList,
    ranges: &'a Ranges,
    regs: &'a RegisterFile,
}

impl Allocator<'_> {
    /// Reserves the registers that instructions need at certain positions.
    fn reserve(&mut self) {
        let call_clobbered = self.call_clobbered();
        self.scratch.occupied.set_call_clobbered(call_clobbered);
        let mut unframed =
            self.tiles.blocks.iter().filter(|block| !block.framed).flat_map(TileBlock::insts).peekable();
        for (at, inst) in self.tiles.insts.iter().enumerate() {
            let at = InstId::from(at);
            if unframed.next_if_eq(&at).is_some() {
                // Who saves these registers does so when it makes the frame.
                for reg in self.regs.callee_saved.iter() {
                    let all = Segment { start: at.gap(), end: at.end() };
                    self.scratch.occupied.reserve(reg, all, Holder::Machine);
                }
            }
            let operands = &self.tiles.operands[inst.operands.range()];
            for operand in operands {
                let Constraint::Fixed(reg) = operand.constraint else { continue };
                let (range, segment) = (self.ranges.of(operand.vreg), taken(operand, at));
                // A range that gets a new value while the old one is still read conflicts with the reservation like any
                // other range.
                let has_new_value = operands.iter().any(|other| {
                    other.vreg != operand.vreg
                        && self.ranges.of(other.vreg) == range
                        && live::intersect(&[taken(other, at)], &[segment])
                });
                let owner = if has_new_value { Holder::Machine } else { Holder::Owned(range) };
                self.scratch.occupied.reserve(reg, segment, owner);
            }
            let clobbered = Segment { start: at.late(), end: at.after() };
            for reg in inst.clobbers.iter() {
                self.scratch.occupied.reserve(reg, clobbered, Holder::Machine);
            }
            if inst.clobbers.len() >= MANY {
                self.scratch.occupied.clobber(clobbered);
            }
        }
    }

    /// The registers that every call clobbers.
    fn call_clobbered(&self) -> RegSet {
        let many = self.tiles.insts.iter().map(|inst| inst.clobbers).filter(|set| set.len() >= MANY);
        many.reduce(RegSet::intersection).unwrap_or(RegSet::EMPTY)
    }

    fn interval(&self, interval: Interval) -> &IntervalData {
        &self.scratch.intervals.all[interval.at()]
    }

    fn place_interval(&mut self, at: Interval) {
        let interval = *self.interval(at);
        if interval.place != IntervalPlace::Waiting || self.is_deferred(at) {
            return;
        }
        let range = self.ranges.get(interval.range);
        if let Some(home) = range.hint.filter(|reg| self.regs.kept.contains(*reg)) {
            // Nothing else is ever there, so nobody has to know.
            self.scratch.intervals.all[at.at()].place = IntervalPlace::Reg(home);
            return;
        }
        let latest = self.scratch.latest[interval.range.at()];
        if interval.is_idle() {
            return self.place_idle(at);
        }
        if self.scratch.chaos.one_in(9) || !self.scratch.steps.take() {
            return self.spill(at);
        }
        let all = self.regs.of(range.class);
        let hint = latest.or(range.hint).filter(|reg| all.contains(reg));
        let segments = self.scratch.intervals.segments(at);
        let start = segments[0].start;
        let first = self.scratch.chaos.below(all.len());
        let free = self.scratch.occupied.free(range.class, all.len(), segments);
        let hinted = hint.map(|hint| self.scratch.occupied.number(hint));
        if let Some(hint) = hint
            && (hinted.is_some_and(|at| free & 1 << at != 0)
                || range.hint == Some(hint) && self.is_free(at, hint))
        {
            return self.take(hint, at);
        }
        if free != 0 {
            let later = free & u32::MAX << first;
            let first = if later != 0 { later } else { free }.trailing_zeros();
            return self.take(all[first as usize], at);
        }
        let mut weights = [NOBODY; MAX_REGISTERS];
        self.scratch.occupied.weights_at(range.class, start, &mut weights);
        let (mut cheapest, mut room) = ((f32::INFINITY, None), Room { until: start, reg: None, hint: None });
        // The holders at the interval's start rule out most registers.
        let mut left = lighter(&weights[..all.len()], interval.weight);
        if left != all_of(all) {
            room.reg = all.first().copied();
        }
        // No register that a call clobbers can hold the interval. The room before the clobber is computed only if it
        // matters.
        let clobber = self.scratch.occupied.find_clobber(range.class, segments);
        let clobber = clobber.map(|clobber| Clobber { registers: clobber.registers & left, ..clobber });
        left &= !clobber.map_or(0, |clobber| clobber.registers);
        // The register with the lightest holder at the start is tried first: often that rules out all others.
        let mut next = hinted.filter(|at| left & 1 << at != 0).or_else(|| lightest(&weights, left));
        while left != 0 {
            let later = if first == 0 { 0 } else { left & u32::MAX << first };
            let number =
                next.take().unwrap_or(if later != 0 { later } else { left }.trailing_zeros() as usize);
            left &= !(1 << number);
            if weights[number] >= cheapest.0 {
                continue;
            }
            let reg = all[number];
            match self.look(at, reg, cheapest.0) {
                Look::Free => return self.take(reg, at),
                Look::Held(cost) if cost < cheapest.0 => cheapest = (cost, Some(reg)),
                Look::Held(_) => {}
                Look::Blocked(from) => room.add(reg, from, Some(reg) == hint),
            }
        }
        match cheapest.1 {
            Some(reg) => {
                let Scratch { occupied, intervals, evicted, .. } = &mut *self.scratch;
                let segments = intervals.segments(at);
                occupied.find_interval(reg, segments, evicted);
                let start = segments[0].start;
                self.evict(reg, start);
                self.take(reg, at);
            }
            None => self.cut(at, room, clobber, hinted),
        }
    }

    /// Places an interval without operands: it keeps its range's register, if that is free.
    fn place_idle(&mut self, at: Interval) {
        let latest = self.scratch.latest[self.interval(at).range.at()];
        let again = latest.filter(|reg| self.is_free(at, *reg));
        match again.or_else(|| self.free_for_moves(at, latest.is_some())) {
            Some(reg) => self.take(reg, at),
            None => self.spill(at),
        }
    }

    /// Returns a free register for an interval that no instruction touches, if a loop moves its value in any case: its
    /// range was in another register before, or its value comes from or goes to other ranges at the ends of blocks. Memory
    /// would cost a store or a load in each iteration.
    fn free_for_moves(&mut self, at: Interval, was_in_register: bool) -> Option<Reg> {
        let number = self.interval(at).range;
        let Scratch { intervals, .. } = &mut *self.scratch;
        // Without calls, a range is in memory only because other ranges use the registers.
        let is_asked_for = self.tiles.has_calls && self.ranges.constant(number, self.tiles).is_none();
        if !is_asked_for
            || !intervals.is_in_loop(at)
            || !was_in_register && !intervals.is_moved(at, self.tiles, self.ranges)
        {
            return None;
        }
        let class = self.ranges.get(number).class;
        let all = self.regs.of(class);
        let free = self.scratch.occupied.free(class, all.len(), self.scratch.intervals.segments(at));
        (free != 0 && self.scratch.steps.take()).then(|| all[free.trailing_zeros() as usize])
    }

    fn is_free(&self, at: Interval, reg: Reg) -> bool {
        matches!(self.look(at, reg, 0.0), Look::Free)
    }

    fn take(&mut self, reg: Reg, at: Interval) {
        let Scratch { occupied, intervals, .. } = &mut *self.scratch;
        occupied.take(reg, intervals.segments(at), Holder::Interval(at), intervals.all[at.at()].weight);
        let interval = &mut self.scratch.intervals.all[at.at()];
        interval.place = IntervalPlace::Reg(reg);
        self.scratch.latest[interval.range.at()] = Some(reg);
    }

    /// Finds the conflicts of an interval in a register. Their weight need not be exact if it is at least `limit`.
    fn look(&self, at: Interval, reg: Reg, limit: f32) -> Look {
        let Scratch { occupied, intervals, .. } = &*self.scratch;
        let interval = &intervals.all[at.at()];
        let (segments, weight) = (intervals.segments(at), interval.weight);
        let (mut cost, mut blocked) = (None::<f32>, Pos::NEVER);
        occupied.conflicts(reg, segments, |holder, other, from| {
            let yields = match holder {
                Holder::Owned(owner) if owner == interval.range => return true,
                Holder::Interval(_) => Some(other).filter(|other| *other < weight),
                _ => None,
            };
            match yields {
                Some(other) => cost = Some(cost.unwrap_or(0.0).max(other)),
                None => blocked = blocked.min(from),
            }
            yields.is_some_and(|other| other < limit)
        });
        if blocked != Pos::NEVER {
            return Look::Blocked(blocked);
        }
        cost.map_or(Look::Free, Look::Held)
    }

    /// Evicts the intervals in `evicted` from a register that is needed from `start` on. An interval that has been cut by
    /// levels keeps the register up to its last use before `start`; any other waits again as a whole.
    fn evict(&mut self, reg: Reg, start: Pos) {
        let evicted = core::mem::take(&mut self.scratch.evicted);
        for &other in &evicted {
            let Scratch { occupied, intervals, .. } = &mut *self.scratch;
            let uses = intervals.uses(other);
            let n_uses = uses.iter().take_while(|touch| touch.at < start.gap()).count();
            if n_uses > 0 && intervals.all[other.at()].is_level {
                let rest = intervals.cut_before(other, uses[n_uses - 1].at.inst().end());
                occupied.give_back(reg, intervals.segments(rest), Holder::Interval(other));
                intervals.all[rest.at()].place = IntervalPlace::Waiting;
                self.queue(rest);
            } else {
                occupied.give_back(reg, intervals.segments(other), Holder::Interval(other));
                intervals.all[other.at()].place = IntervalPlace::Waiting;
                self.queue(other);
            }
        }
        self.scratch.evicted = evicted;
    }

    /// Adds the room in registers that a call clobbers while the interval is live. The search ends at the first register
    /// that is free up to the clobber, but always includes the one that would save a move.
    fn add_clobbered(
        &self,
        at: Interval,
        room: &mut Room,
        Clobber { registers, at: end }: Clobber,
        hint: Option<usize>,
    ) {
        let all = self.regs.of(self.ranges.get(self.interval(at).range).class);
        let mut left = registers;
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            left &= left - 1;
            let is_hint = hint == Some(number);
            if (is_hint || room.reg.is_none() || room.until < end)
                && let Look::Blocked(from) = self.look(at, all[number], f32::INFINITY)
            {
                room.add(all[number], from, is_hint);
            }
        }
    }

    /// Cuts an interval that fits in no register.
    fn cut(&mut self, at: Interval, mut room: Room, clobber: Option<Clobber>, hint: Option<usize>) {
        let intervals = &mut self.scratch.intervals;
        let new = intervals.cut_levels(at);
        if new.len() > 0 {
            self.queue_level(at);
            new.for_each(|new| self.queue_level(new));
            return;
        }
        let segments = intervals.segments(at);
        let (start, end) = (segments[0].start, segments[segments.len() - 1].end);
        let uses = intervals.uses(at);
        let first = uses[0].at.gap();
        if first > start {
            let rest = intervals.cut_before(at, first);
            self.queue(rest);
            return self.place_idle(at);
        }
        if let Some(clobber) = clobber {
            self.add_clobbered(at, &mut room, clobber, hint);
        }
        let intervals = &mut self.scratch.intervals;
        let uses = intervals.uses(at);
        let stop = room.until.gap();
        if stop <= first {
            let next = first.inst().end();
            if next < end {
                let rest = intervals.cut_before(at, next);
                self.queue(rest);
            }
            return self.spill(at);
        }
        // It needs no register between its last use and the conflict.
        let n_uses = uses.iter().take_while(|touch| touch.at < stop).count();
        let cut = uses[n_uses - 1].at.inst().end();
        let rest = intervals.cut_before(at, cut);
        self.queue(rest);
        match room.register(cut) {
            Some(reg) if self.is_free(at, reg) => self.take(reg, at),
            _ => self.queue(at),
        }
    }
}

/// The indices of weights below a limit, as a bit set.
#[inline]
fn lighter(weights: &[f32], limit: f32) -> u32 {
    let weights = weights.iter().enumerate();
    weights.fold(0, |bits, (at, weight)| bits | ((*weight < limit) as u32) << at)
}

/// The index of the least weight among those in a bit set; the first of equals.
fn lightest(weights: &[f32], mut of: u32) -> Option<usize> {
    let mut least = None::<(f32, usize)>;
    while of != 0 {
        let at = of.trailing_zeros() as usize;
        of &= of - 1;
        if least.is_none_or(|(least, _)| weights[at] < least) {
            least = Some((weights[at], at));
        }
    }
    least.map(|(_, at)| at)
}

/// The set of all indices of a list of registers.
fn all_of(regs: &[Reg]) -> u32 {
    (u64::MAX >> (u64::BITS as usize - regs.len())) as u32
}

/// The result that is tied to an operand of the same instruction.
fn tied_result(tiles: &TileList, operands: core::ops::Range<usize>, index: usize) -> Option<usize> {
    let number = (index - operands.start) as u8;
    operands.into_iter().find(|&at| tiles.operands[at].constraint == Constraint::Tied(number))
}
