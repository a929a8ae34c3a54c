//! The queue of intervals and reloads that wait for a register.
//!
//! Ranges come in the order in which they start, merged with intervals that were evicted or cut off. Intervals in cold code
//! wait until everything else has its place. Then each is cut by regions, and in each region keeps the register that its
//! range has on entry, if any.

use super::intervals::{Interval, Intervals, Region};
use super::{Allocator, Reload, Scratch};
use crate::ir::index::InstId;
use crate::ir::ranges::{Pos, Segment};
use crate::vocab::Class;

/// A waiting interval or reload; the greatest comes first: the earliest, reloads before intervals, newer before older. It
/// is one number, since comparisons dominate the queue's cost. From the highest bits down: the complement of the start,
/// whether it is a reload, and the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Task(u64);

/// The interval or reload of a task.
pub(super) enum Waiting {
    Interval(Interval),
    Reload(Reload),
}

impl Task {
    const RELOAD: u32 = 1 << 31;

    pub(super) fn interval(start: Pos, interval: Interval) -> Task {
        debug_assert!(interval.0 < Task::RELOAD);
        Task((!start.0 as u64) << 32 | interval.0 as u64)
    }

    pub(super) fn reload(start: Pos, reload: Reload) -> Task {
        debug_assert!(reload.0 < Task::RELOAD);
        Task((!start.0 as u64) << 32 | (Task::RELOAD | reload.0) as u64)
    }

    pub(super) fn start(self) -> Pos {
        Pos(!(self.0 >> 32) as u32)
    }

    pub(super) fn what(self) -> Waiting {
        match self.0 as u32 {
            at if at >= Task::RELOAD => Waiting::Reload(Reload(at - Task::RELOAD)),
            at => Waiting::Interval(Interval(at)),
        }
    }
}

/// In how many rounds cold intervals are placed together; after those, they wait like others.
const MAX_ROUNDS: u32 = 4;

/// How many instructions an interval that waits again may cover.
const MAX_LENGTH: u32 = 1024;

impl Allocator<'_> {
    pub(super) fn queue_ranges(&mut self) {
        let Scratch { ranges, intervals, .. } = &mut *self.scratch;
        ranges.clear();
        let all = (0..intervals.all.len()).rev().map(Interval::from);
        ranges.extend(all.filter_map(|interval| task(intervals, interval)));
        // They are mostly sorted already.
        if !ranges.is_sorted() {
            ranges.sort_unstable();
        }
    }

    /// Queues an interval again, cut into parts of limited length, so that it loses a register only for a short part: in a
    /// loop around many cases, each case may evict it. Cold code is cut by regions instead.
    pub(super) fn queue(&mut self, interval: Interval) {
        let mut rest = interval;
        while let [first, ..] = *self.scratch.intervals.segments(rest)
            && let [.., last] = *self.scratch.intervals.segments(rest)
        {
            if self.is_deferred(rest) {
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

    pub(super) fn next(&mut self) -> Option<Task> {
        loop {
            let Scratch { ranges, queue, cold, intervals, n_rounds, .. } = &mut *self.scratch;
            let (queued, range) = (queue.peek(), ranges.last());
            // The first round starts when no hot task is left; a later one, for evicted intervals, when no task is left at
            // all.
            let end = if *n_rounds == 0 { intervals.first_cold } else { Pos::NEVER };
            if cold.is_empty() || queued.max(range).is_some_and(|task| task.start() < end) {
                return if queued > range { queue.pop() } else { ranges.pop() };
            }
            self.place_cold();
        }
    }

    /// Cuts intervals in cold code by regions. In a region on whose entry its range is in a register, an interval keeps
    /// that register if it is free. Otherwise it waits for one if the region uses it, and is in memory if not.
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

    /// Finds the ranges that are in registers on entry to regions.
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

    /// Queues an interval that was cut by levels.
    pub(super) fn queue_level(&mut self, interval: Interval) {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        match *n_rounds < MAX_ROUNDS && intervals.is_cold(interval) {
            true => cold.push(interval),
            false => self.queue(interval),
        }
    }

    /// Defers an interval that covers several regions to the next round, if there is one; returns whether it did.
    pub(super) fn is_deferred(&mut self, interval: Interval) -> bool {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        let is_deferred = *n_rounds < MAX_ROUNDS && intervals.is_in_regions(interval);
        if is_deferred {
            cold.push(interval);
        }
        is_deferred
    }
}

/// The task of an interval; none if the interval is empty.
fn task(intervals: &Intervals, interval: Interval) -> Option<Task> {
    let first = intervals.segments(interval).first()?;
    Some(Task::interval(first.start, interval))
}
