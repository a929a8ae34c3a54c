//! The place of each range at each position.
//!
//! In: intervals with their places. Out: the place of a range at any of its positions. Queries mostly come in order of
//! position, so the answer is mostly the last entry found or one beside it; any other costs the logarithm of the distance.

use super::intervals::{Interval, IntervalData, IntervalPlace, Intervals};
use crate::ir::index::{List, LiveRange};
use crate::ir::ranges::{Pos, Segment};

/// The places of ranges; memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Located {
    by_range: Vec<Whereabouts>,
    /// The segments of cut ranges with their places, by range and then by position.
    entries: Vec<(Segment, IntervalPlace)>,
}

/// The place of one range.
#[derive(Clone, Copy, Debug)]
struct Whereabouts {
    /// Its entries; empty if it was not cut.
    cut: List,
    /// While filling: where its next entry goes. Afterwards: the entry found last.
    near: u32,
    /// Its place, if it was not cut.
    place: IntervalPlace,
}

impl Located {
    /// Collects the places of all intervals; the first `n_ranges` are those of the ranges, the others were cut off.
    pub(super) fn fill(&mut self, intervals: &Intervals, n_ranges: usize) {
        let Located { by_range, entries } = self;
        let (wholes, cut_off) = intervals.all.split_at(n_ranges);
        by_range.clear();
        let whole =
            |interval: &IntervalData| Whereabouts { cut: List::EMPTY, near: 0, place: interval.place };
        by_range.extend(wholes.iter().map(whole));
        entries.clear();
        if cut_off.is_empty() {
            return;
        }
        for interval in cut_off {
            by_range[interval.range.at()].cut.len += interval.segments.len;
        }
        let mut total = 0;
        for (whole, Whereabouts { cut, near, .. }) in core::iter::zip(wholes, &mut *by_range) {
            if cut.len > 0 {
                *cut = List { start: total, len: cut.len + whole.segments.len };
                *near = total;
                total += cut.len;
            }
        }
        entries.resize(total as usize, (Segment::EMPTY, IntervalPlace::Waiting));
        for (at, interval) in intervals.all.iter().enumerate() {
            let Whereabouts { cut, near, .. } = &mut by_range[interval.range.at()];
            if cut.len > 0 {
                for segment in intervals.segments(Interval::from(at)) {
                    entries[*near as usize] = (*segment, interval.place);
                    *near += 1;
                }
            }
        }
        for Whereabouts { cut, near, .. } in by_range.iter_mut().filter(|range| range.cut.len > 0) {
            let entries = &mut entries[cut.range()];
            if !entries.is_sorted_by_key(|(segment, _)| segment.start) {
                entries.sort_unstable_by_key(|(segment, _)| segment.start);
            }
            *near = cut.start;
        }
    }

    /// Whether any range was cut.
    pub(super) fn is_any_cut(&self) -> bool {
        !self.entries.is_empty()
    }

    /// The entries of a range; empty if it was not cut.
    #[inline]
    pub(super) fn cut(&self, range: LiveRange) -> List {
        self.by_range[range.at()].cut
    }

    /// A segment of a cut range, and its place there.
    #[inline]
    pub(super) fn entry(&self, at: u32) -> (Segment, IntervalPlace) {
        self.entries[at as usize]
    }

    /// The place of a range at a position where it is live.
    #[inline]
    pub(super) fn place(&mut self, range: LiveRange, position: Pos) -> IntervalPlace {
        let Whereabouts { cut, near, place } = self.by_range[range.at()];
        if cut.len == 0 {
            return place;
        }
        let (segment, place) = self.entry(near);
        if segment.contains(position) {
            return place;
        }
        let near = self.find(cut, position, near);
        self.by_range[range.at()].near = near;
        self.entry(near).1
    }

    /// The entry of a cut range for a position; mostly `near` or one beside it.
    pub(super) fn find(&self, cut: List, position: Pos, near: u32) -> u32 {
        let entries = &self.entries[cut.range()];
        let near = (near - cut.start) as usize;
        let is_at = |at: usize| entries.get(at).is_some_and(|(segment, _)| segment.contains(position));
        let at = if is_at(near) {
            near
        } else if is_at(near + 1) {
            near + 1
        } else if is_at(near.wrapping_sub(1)) {
            near - 1
        } else {
            // An entry ahead costs the logarithm of its distance.
            let is_behind = |at: usize| entries.get(at).is_some_and(|(segment, _)| segment.end <= position);
            let (mut start, mut step) = (0, entries.len());
            if is_behind(near) {
                (start, step) = (near + 1, 1);
                while is_behind(start + step) {
                    start += step + 1;
                    step *= 2;
                }
            }
            let end = entries.len().min(start + step + 1);
            start + entries[start..end].partition_point(|(segment, _)| segment.end <= position)
        };
        debug_assert!(is_at(at), "the range is not live at {position}");
        cut.start + at as u32
    }
}
