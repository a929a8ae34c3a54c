//! What waits for a register, and in which order it gets one.
//!
//! Ranges come in the order in which they start, and what was driven out or cut off among them. Intervals in cold code wait
//! until all else has its place; then each is cut by regions, and where its range is in a register when control enters a
//! region, it stays there.

use super::intervals::{Interval, Intervals, Region};
use super::{Allocator, Reload, Scratch};
use crate::ir::index::InstId;
use crate::ir::ranges::{Pos, Segment};
use crate::vocab::Class;

/// What waits for a register: earliest first, reloads before intervals, what is newer before what is older. In one number,
/// since waiting is mostly being compared: from the highest bits down how early it starts, whether it is a reload, and
/// which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Task(u64);

/// What gets a register.
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

/// How often cold intervals are given their places together; those that come later wait like others.
const MAX_ROUNDS: u32 = 4;

/// How many instructions an interval covers at most that waits again.
const MAX_LENGTH: u32 = 1024;

impl Allocator<'_> {
    pub(super) fn queue_ranges(&mut self) {
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
    pub(super) fn queue(&mut self, interval: Interval) {
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

    pub(super) fn next(&mut self) -> Option<Task> {
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
    pub(super) fn queue_level(&mut self, interval: Interval) {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        match *n_rounds < MAX_ROUNDS && intervals.is_cold(interval) {
            true => cold.push(interval),
            false => self.queue(interval),
        }
    }

    /// Whether an interval is in cold code, in several regions, and can still be given a place in each. If so, it waits for that.
    pub(super) fn is_put_off(&mut self, interval: Interval) -> bool {
        let Scratch { intervals, cold, n_rounds, .. } = &mut *self.scratch;
        let is_put_off = *n_rounds < MAX_ROUNDS && intervals.is_in_regions(interval);
        if is_put_off {
            cold.push(interval);
        }
        is_put_off
    }
}

/// An interval as something that waits, if it is live anywhere.
fn task(intervals: &Intervals, interval: Interval) -> Option<Task> {
    let first = intervals.segments(interval).first()?;
    Some(Task::interval(first.start, interval))
}
