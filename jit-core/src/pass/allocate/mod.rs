//! Give every value a place.
//!
//! In: a tile list and its live ranges. Out: an [`Assignment`]. Keeps: the tile list. Cost: for each interval, the
//! holders that meet it in the registers it tries, up to the first that does not yield.
//!
//! Ranges wait in the order in which they start. Each gets a register that is free wherever the range is live
//! (holes count as free), the one that saves a move if possible. If there is none, the cheapest range in the way
//! gives its register up: from its last use before that on, or altogether if it may be cut at the borders of loops
//! instead, and waits again. If none is cheaper, the range is cut, where that is cheapest, and its intervals wait:
//!
//! - at the borders of loops and of cold code, so that what is needed in the loop decides there, and a slow path
//!   that destroys every register costs the fast one nothing;
//! - before its first use, so that it does not hold a register while it waits;
//! - before whatever it has to give way to;
//! - and what still fits nowhere is in memory for one instruction.
//!
//! Cold code comes last, when all else has its place. A value that is not used in a cold *region* (cold blocks that are
//! entered at their first) stays there where it was when control came in, so that a region moves what it needs and
//! nothing more.
//!
//! An interval that is in memory is in its range's spill slot; each instruction that needs it in a register gets it
//! in one for that instruction only, a *reload*. What a reload needs cannot be put off, so it may drive out any interval. A
//! constant has no slot: it is made again. [`mod@write`] finds where to store, and moves values between intervals.
//!
//! Operands in fixed registers and call arguments are moved into place right before the instruction, all at
//! once, by [`moves`]; the registers that they take are reserved there.

mod intervals;
mod moves;
mod occupied;
mod write;

use super::chaos::Chaos;
use super::limits::Steps;
use super::live;
use crate::ir::assignment::{Assignment, Loc, Part};
use crate::ir::index::{InstId, LiveRange, index};
use crate::ir::ranges::{Pos, Ranges, Segment};
use crate::ir::tiles::{Constraint, Operand, Role, TileList};
use crate::target::{Reg, RegSet, RegisterFile};
use crate::vocab::Class;
use intervals::{Interval, IntervalData, Intervals, Place, Region, Touch};
use occupied::{Clobber, Holder, MAX_REGISTERS, NOBODY, Occupied};
use std::collections::BinaryHeap;

/// Memory kept between functions.
#[derive(Debug, Default)]
pub struct Scratch {
    occupied: Occupied,
    intervals: Intervals,
    /// For each range the register that an interval of it was given last.
    latest: Vec<Option<Reg>>,
    /// What waits from the start, the first one last, and what waits again or was cut off.
    ranges: Vec<Task>,
    queue: BinaryHeap<Task>,
    /// Intervals in cold code that wait for all else to have its place, and how often such were given theirs.
    cold: Vec<Interval>,
    n_rounds: u32,
    /// What is in registers where control enters regions: the range, the region, the register; sorted.
    entering: Vec<(LiveRange, Region, Reg)>,
    /// For each operand its reload, if it needs a register for one.
    reload_of: Vec<Reload>,
    reloads: Vec<ReloadData>,
    evicted: Vec<Interval>,
    write: write::Scratch,
    /// Spills what fits, and takes other registers than the cheapest.
    pub(super) chaos: Chaos,
    pub(super) steps: Steps,
}

impl Scratch {
    /// What ranges were cut into by the last allocation.
    pub(super) fn parts<'a>(
        &'a self,
        ranges: &'a Ranges,
        tiles: &'a TileList,
    ) -> impl Iterator<Item = Part<'a>> {
        self.intervals.all.iter().enumerate().filter_map(move |(at, interval)| {
            let place = match interval.place {
                Place::Reg(reg) => Some(Loc::Reg(reg)),
                Place::Memory if ranges.constant(interval.range, tiles).is_some() => None,
                Place::Memory => Some(Loc::Slot(self.write.slot(interval.range))),
                Place::Waiting => None,
            };
            let segments = self.intervals.segments(Interval::from(at));
            (!segments.is_empty()).then_some(Part { range: interval.range, segments, place })
        })
    }

    /// Gives its memory back.
    pub(super) fn release(&mut self) {
        let Scratch { chaos, steps, .. } = core::mem::take(self);
        *self = Scratch { chaos, steps, ..Scratch::default() };
    }
}

/// There is an instruction whose constraints cannot all be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Impossible {
    /// The instruction.
    pub inst: InstId,
}

index! {
    /// A reload: an operand in memory is in a register for one instruction.
    Reload, "reload"
}

/// What is known of a reload.
#[derive(Clone, Copy, Debug)]
struct ReloadData {
    operand: u32,
    inst: InstId,
    segment: Segment,
    class: Class,
    reg: Option<Reg>,
}

/// What waits for a register: earliest first, reloads before intervals, what is newer before what is older. In one number,
/// since waiting is mostly being compared: from the highest bits down how early it starts, whether it is a reload, and
/// which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Task(u64);

/// What gets a register.
enum Waiting {
    Interval(Interval),
    Reload(Reload),
}

impl Task {
    const RELOAD: u32 = 1 << 31;

    fn interval(start: Pos, interval: Interval) -> Task {
        debug_assert!(interval.0 < Task::RELOAD);
        Task((!start.0 as u64) << 32 | interval.0 as u64)
    }

    fn reload(start: Pos, reload: Reload) -> Task {
        debug_assert!(reload.0 < Task::RELOAD);
        Task((!start.0 as u64) << 32 | (Task::RELOAD | reload.0) as u64)
    }

    fn start(self) -> Pos {
        Pos(!(self.0 >> 32) as u32)
    }

    fn what(self) -> Waiting {
        match self.0 as u32 {
            at if at >= Task::RELOAD => Waiting::Reload(Reload(at - Task::RELOAD)),
            at => Waiting::Interval(Interval(at)),
        }
    }
}

/// What stands in the way of an interval in a register.
enum Look {
    /// Nothing.
    Free,
    /// Intervals that can go; how much the dearest of them weighs.
    Held(f32),
    /// Something that does not go, from this position on.
    Blocked(Pos),
}

/// How many registers an instruction destroys that is one of those that all others are asked for together.
const MANY: u32 = 4;

/// How often cold intervals are given their places together; those that come later wait like others.
const MAX_ROUNDS: u32 = 4;

/// How many instructions an interval covers at most that waits again.
const MAX_LENGTH: u32 = 1024;

/// How much of an interval the registers have room for that cannot have all of it.
#[derive(Clone, Copy)]
struct Room {
    /// From which position on something does not go from the register where that is last.
    until: Pos,
    reg: Option<Reg>,
    /// The same of the register that would save a move.
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
    /// Takes the registers that instructions need at certain positions.
    fn reserve(&mut self) {
        let call_clobbered = self.call_clobbered();
        self.scratch.occupied.set_call_clobbered(call_clobbered);
        for (at, inst) in self.tiles.insts.iter().enumerate() {
            let at = InstId::from(at);
            let operands = &self.tiles.operands[inst.operands.range()];
            for operand in operands {
                let Constraint::Fixed(reg) = operand.constraint else { continue };
                let (range, taken) = (self.ranges.of(operand.vreg), reload(operand, at));
                // A range that has a new value while the old one is still read is kept out like any other.
                let has_new_value = operands.iter().any(|other| {
                    other.vreg != operand.vreg
                        && self.ranges.of(other.vreg) == range
                        && live::intersect(&[reload(other, at)], &[taken])
                });
                let owner = if has_new_value { Holder::Machine } else { Holder::Owned(range) };
                self.scratch.occupied.reserve(reg, taken, owner);
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

    /// The registers that every instruction destroys that destroys many: calls do.
    fn call_clobbered(&self) -> RegSet {
        let many = self.tiles.insts.iter().map(|inst| inst.clobbers).filter(|set| set.len() >= MANY);
        many.reduce(RegSet::intersection).unwrap_or(RegSet::EMPTY)
    }

    fn interval(&self, interval: Interval) -> &IntervalData {
        &self.scratch.intervals.all[interval.at()]
    }

    fn queue_ranges(&mut self) {
        let Scratch { ranges, intervals, .. } = &mut *self.scratch;
        ranges.clear();
        let all = (0..intervals.all.len()).rev().map(Interval::from);
        ranges.extend(all.filter_map(|interval| task(intervals, interval)));
        // They mostly are in the order of their definitions.
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
    }

    /// Lets an interval wait again. It is cut so that what it gives up and gets again is not long: a loop around many cases
    /// may take a register from it in each. Cold code is cut by regions instead.
    fn queue(&mut self, interval: Interval) {
        let mut rest = interval;
        while let [first, ..] = *self.scratch.intervals.segments(rest)
            && let [.., last] = *self.scratch.intervals.segments(rest)
        {
            if self.is_put_off(rest) {
                return;
            }
            let Scratch { intervals, queue, .. } = &mut *self.scratch;
            let is_hot = first.start < intervals.first_cold;
            let cold = if is_hot { intervals.first_cold } else { Pos::NEVER };
            let stop = cold.min(InstId(first.start.inst().0 + MAX_LENGTH).gap());
            let front = rest;
            if last.end <= stop {
                queue.push(Task::interval(first.start, front));
                return;
            }
            rest = intervals.cut_before(front, stop);
            queue.extend(task(intervals, front));
        }
    }

    fn next(&mut self) -> Option<Task> {
        loop {
            let Scratch { ranges, queue, cold, intervals, n_rounds, .. } = &mut *self.scratch;
            let (queued, range) = (queue.peek(), ranges.last());
            // What cold intervals drive out of a register everywhere comes when all else is done.
            let end = if *n_rounds == 0 { intervals.first_cold } else { Pos::NEVER };
            if cold.is_empty() || queued.max(range).is_some_and(|task| task.start() < end) {
                return if queued > range { queue.pop() } else { ranges.pop() };
            }
            self.place_cold();
        }
    }

    /// Lets intervals in cold code wait for a register in each region where they are used. In the others they stay where the
    /// range was when control came in.
    fn place_cold(&mut self) {
        self.find_entering();
        self.scratch.n_rounds += 1;
        let mut cold = core::mem::take(&mut self.scratch.cold);
        for whole in cold.drain(..) {
            let range = self.interval(whole).range;
            let Scratch { intervals, entering, .. } = &mut *self.scratch;
            let start = entering.partition_point(|(other, ..)| *other < range);
            let of_range = || entering[start..].iter().take_while(|(other, ..)| *other == range);
            let new = intervals.cut_regions(whole, of_range().map(|(_, region, _)| *region));
            let mut next = start;
            for at in core::iter::once(whole).chain(new) {
                let Scratch { intervals, entering, .. } = &*self.scratch;
                let region = intervals.region(at);
                if !intervals.is_wanted(region, whole) {
                    self.spill(at);
                    continue;
                }
                while entering.get(next).is_some_and(|(other, at, _)| (*other, *at) < (range, region)) {
                    next += 1;
                }
                match entering.get(next) {
                    Some(&(other, at_entry, reg))
                        if (other, at_entry) == (range, region) && self.is_free(at, reg) =>
                    {
                        self.take(reg, at);
                    }
                    _ if self.interval(at).is_idle() => self.spill(at),
                    _ => self.queue(at),
                }
            }
        }
        self.scratch.cold = cold;
    }

    /// Finds what is in registers where control enters regions.
    fn find_entering(&mut self) {
        let Scratch { occupied, intervals, entering, evicted, .. } = &mut *self.scratch;
        entering.clear();
        for class in [Class::Int, Class::Float] {
            if !self.ranges.ranges.iter().any(|range| range.class == class) {
                continue;
            }
            for &reg in self.regs.of(class) {
                for (region, data) in intervals.regions.iter().enumerate() {
                    let last = Segment { start: data.before, end: data.before.next() };
                    occupied.find_interval(reg, &[last], evicted);
                    let holders = evicted.iter().map(|interval| intervals.all[interval.at()].range);
                    entering.extend(holders.map(|range| (range, Region::from(region), reg)));
                }
            }
        }
        entering.sort_unstable_by_key(|(range, region, _)| (*range, *region));
    }

    /// Lets a part of an interval wait that was cut by levels.
    fn queue_level(&mut self, interval: Interval) {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        match *n_rounds < MAX_ROUNDS && intervals.is_cold(interval) {
            true => cold.push(interval),
            false => self.queue(interval),
        }
    }

    /// Whether an interval is in cold code, in several regions, and can still be given a place in each. If so, it waits for that.
    fn is_put_off(&mut self, interval: Interval) -> bool {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        let is_put_off = *n_rounds < MAX_ROUNDS && intervals.is_in_regions(interval);
        if is_put_off {
            cold.push(interval);
        }
        is_put_off
    }

    fn place_interval(&mut self, at: Interval) {
        let interval = *self.interval(at);
        if interval.place != Place::Waiting || self.is_put_off(at) {
            return;
        }
        let range = self.ranges.get(interval.range);
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
        // Most registers are out of the question for who has them at the start.
        let mut left = lighter(&weights[..all.len()], interval.weight);
        if left != all_of(all) {
            room.reg = all.first().copied();
        }
        // Nothing is to be had where a call destroys it. How much there is before that is only asked if it matters.
        let clobber = self.scratch.occupied.find_clobber(range.class, segments);
        let clobber = clobber.map(|clobber| Clobber { registers: clobber.registers & left, ..clobber });
        left &= !clobber.map_or(0, |clobber| clobber.registers);
        // The lightest at the start is looked at first: with luck the others need no look.
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

    /// An interval that only waits stays where its range was, unless that costs anyone anything.
    fn place_idle(&mut self, at: Interval) {
        let latest = self.scratch.latest[self.interval(at).range.at()];
        let again = latest.filter(|reg| self.is_free(at, *reg));
        match again.or_else(|| self.free_for_moves(at, latest.is_some())) {
            Some(reg) => self.take(reg, at),
            None => self.spill(at),
        }
    }

    /// A register that is free for an interval that no instruction touches, if a loop moves it in any case: its range was in
    /// another register before, or blocks bring it values of other ranges or take its value there. Memory would cost a store
    /// or a load in each turn.
    fn free_for_moves(&mut self, at: Interval, was_in_register: bool) -> Option<Reg> {
        let number = self.interval(at).range;
        let Scratch { intervals, .. } = &mut *self.scratch;
        // Without calls, registers are in use by others.
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
        interval.place = Place::Reg(reg);
        self.scratch.latest[interval.range.at()] = Some(reg);
    }

    /// What stands in the way of an interval in a register; it does not matter exactly how much that weighs if it is
    /// not below `limit`.
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

    /// The intervals in `evicted` have this register and something else needs it, nowhere before `start`. They wait again;
    /// what is used of them before keeps the register, unless loops have a say in where they are cut.
    fn evict(&mut self, reg: Reg, start: Pos) {
        let evicted = core::mem::take(&mut self.scratch.evicted);
        for &other in &evicted {
            let Scratch { occupied, intervals, .. } = &mut *self.scratch;
            let uses = intervals.uses(other);
            let n_uses = uses.iter().take_while(|touch| touch.at < start.gap()).count();
            if n_uses > 0 && intervals.all[other.at()].is_level {
                let rest = intervals.cut_before(other, uses[n_uses - 1].at.inst().end());
                occupied.give_back(reg, intervals.segments(rest), Holder::Interval(other));
                intervals.all[rest.at()].place = Place::Waiting;
                self.queue(rest);
            } else {
                occupied.give_back(reg, intervals.segments(other), Holder::Interval(other));
                intervals.all[other.at()].place = Place::Waiting;
                self.queue(other);
            }
        }
        self.scratch.evicted = evicted;
    }

    /// How much room there is in registers that are destroyed while an interval is live: as much as that leaves, in the first
    /// that has it, and in the one that would save a move.
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

    /// No register can have all of an interval.
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
        // Between its last use and what it gives way to it needs no register.
        let n_uses = uses.iter().take_while(|touch| touch.at < stop).count();
        let cut = uses[n_uses - 1].at.inst().end();
        let rest = intervals.cut_before(at, cut);
        self.queue(rest);
        match room.register(cut) {
            Some(reg) if self.is_free(at, reg) => self.take(reg, at),
            _ => self.queue(at),
        }
    }

    /// An interval goes to memory: each operand that needs a register waits for one.
    fn spill(&mut self, at: Interval) {
        let Scratch { intervals, reload_of, reloads, queue, .. } = &mut *self.scratch;
        intervals.all[at.at()].place = Place::Memory;
        let is_constant = self.ranges.constant(intervals.all[at.at()].range, self.tiles).is_some();
        for touch in intervals.uses(at) {
            let Touch::Operand(index) = touch.touch else { continue };
            let operand = &self.tiles.operands[index as usize];
            let inst = touch.at.inst();
            let operands = self.tiles.insts[inst.at()].operands.range();
            let waits = match operand.constraint {
                Constraint::Reg => tied_result(self.tiles, operands, index as usize).is_none(),
                Constraint::Any => is_constant,
                Constraint::Tied(_) => true,
                Constraint::Fixed(_) | Constraint::OutArg(_) => false,
            };
            if waits {
                let segment = reload(operand, inst);
                let class = self.tiles.vregs[operand.vreg.at()].ty.class();
                let new = Reload::from(reloads.len());
                reload_of[index as usize] = new;
                queue.push(Task::reload(segment.start, new));
                reloads.push(ReloadData { operand: index, inst, segment, class, reg: None });
            }
        }
    }

    fn place_reload(&mut self, at: Reload) -> Result<(), Impossible> {
        let ReloadData { operand, inst, segment, class, .. } = self.scratch.reloads[at.at()];
        let range = self.ranges.of(self.tiles.operands[operand as usize].vreg);
        let mut weights = [NOBODY; MAX_REGISTERS];
        self.scratch.occupied.weights_at(class, segment.start, &mut weights);
        let mut best: Option<(f32, Reg)> = None;
        for (&reg, &at_start) in core::iter::zip(self.regs.of(class), &weights) {
            // Who has it at the start is not all that it may cost.
            if best.is_some_and(|(least, _)| least <= at_start) {
                continue;
            }
            let mut cost = Some(NOBODY);
            self.scratch.occupied.conflicts(reg, &[segment], |holder, weight, _| {
                match holder {
                    Holder::Owned(owner) if owner == range => return true,
                    Holder::Interval(other) => {
                        let interval = self.interval(other);
                        // What this very instruction has in a register would need one again.
                        let dear = if self.is_at(interval.range, inst) { 1e30 } else { 0.0 };
                        cost = cost.map(|cost| cost.max(weight + dear));
                    }
                    _ => cost = None,
                }
                cost.is_some()
            });
            match cost {
                Some(cost) if best.is_none_or(|(least, _)| cost < least) => best = Some((cost, reg)),
                _ => {}
            }
            if cost == Some(NOBODY) {
                break;
            }
        }
        let Some((_, reg)) = best else { return Err(Impossible { inst }) };
        self.scratch.occupied.find_interval(reg, &[segment], &mut self.scratch.evicted);
        self.evict(reg, segment.start);
        self.scratch.occupied.take(reg, &[segment], Holder::Reload(at), f32::INFINITY);
        self.scratch.reloads[at.at()].reg = Some(reg);
        Ok(())
    }

    /// Whether an instruction has an operand of this range.
    fn is_at(&self, range: LiveRange, inst: InstId) -> bool {
        self.tiles.operands(inst.at()).iter().any(|operand| self.ranges.of(operand.vreg) == range)
    }
}

/// Which weigh less; a bit for each.
#[inline]
fn lighter(weights: &[f32], limit: f32) -> u32 {
    let weights = weights.iter().enumerate();
    weights.fold(0, |bits, (at, weight)| bits | ((*weight < limit) as u32) << at)
}

/// Which of these weighs least; the first of several.
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

/// A bit for each register of a list.
fn all_of(regs: &[Reg]) -> u32 {
    (u64::MAX >> (u64::BITS as usize - regs.len())) as u32
}

/// An interval as something that waits, if it is live anywhere.
fn task(intervals: &Intervals, interval: Interval) -> Option<Task> {
    let first = intervals.segments(interval).first()?;
    Some(Task::interval(first.start, interval))
}

/// The result that is tied to an operand of the same instruction.
fn tied_result(tiles: &TileList, operands: core::ops::Range<usize>, index: usize) -> Option<usize> {
    let number = (index - operands.start) as u8;
    operands.into_iter().find(|&at| tiles.operands[at].constraint == Constraint::Tied(number))
}

/// The positions at which an operand's register is taken by the instruction itself.
fn reload(operand: &Operand, inst: InstId) -> Segment {
    let (start, end) = match (operand.role, operand.constraint) {
        (Role::Use, _) => (inst.early(), inst.late()),
        (Role::LateUse | Role::Temp, _) => (inst.early(), inst.after()),
        // The operand that it takes over is put there before the instruction reads.
        (Role::Def | Role::EarlyDef, Constraint::Tied(_)) | (Role::EarlyDef, _) => (inst.early(), inst.end()),
        (Role::Def, _) => (inst.late(), inst.end()),
    };
    Segment { start, end }
}
