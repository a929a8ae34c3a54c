//! Which register is taken when, and by whom.
//!
//! Reservations of instructions (what they destroy, what they want in a fixed register) are known from the start
//! and stay; they are short, sorted and may overlap one another. Pieces and moments come and go, and are disjoint
//! in each register.

use crate::ir::ranges::{STEP, Segment};
use crate::target::Reg;
use std::collections::BTreeMap;

/// Who has a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Holder {
    /// A piece of a live range.
    Piece(u32),
    /// An operand that is in memory, for one instruction.
    Moment(u32),
    /// An instruction that destroys it.
    Machine,
    /// An instruction that has an operand of this range there.
    Owned(u32),
}

/// For each register, what is taken.
#[derive(Debug, Default)]
pub(super) struct Occupied {
    reserved: Vec<Vec<(Segment, Holder)>>,
    taken: Vec<BTreeMap<u32, (u32, Holder)>>,
}

impl Occupied {
    pub(super) fn clear(&mut self) {
        self.reserved.resize_with(64, Vec::new);
        self.taken.resize_with(64, BTreeMap::new);
        self.reserved.iter_mut().for_each(Vec::clear);
        self.taken.iter_mut().for_each(BTreeMap::clear);
    }

    /// Adds a reservation of an instruction; those of earlier instructions come first.
    pub(super) fn reserve(&mut self, reg: Reg, segment: Segment, holder: Holder) {
        let list = &mut self.reserved[reg.0 as usize];
        let mut at = list.len();
        while at > 0 && list[at - 1].0.start > segment.start {
            at -= 1;
        }
        list.insert(at, (segment, holder));
    }

    pub(super) fn take(&mut self, reg: Reg, segment: Segment, holder: Holder) {
        let old = self.taken[reg.0 as usize].insert(segment.start, (segment.end, holder));
        debug_assert!(old.is_none(), "{reg:?} is taken twice at {}", segment.start);
    }

    pub(super) fn give_back(&mut self, reg: Reg, segment: Segment) {
        self.taken[reg.0 as usize].remove(&segment.start);
    }

    /// Tells everyone who has the register at some position of the segment, and from which position of it on, until
    /// `go_on` says no: those who came and go in order, after the instructions.
    pub(super) fn conflicts(&self, reg: Reg, segment: Segment, mut go_on: impl FnMut(Holder, u32) -> bool) {
        let reserved = &self.reserved[reg.0 as usize];
        // A reservation ends with its instruction.
        let first = reserved.partition_point(|(held, _)| held.start + STEP <= segment.start);
        for (held, holder) in &reserved[first..] {
            if held.start >= segment.end {
                break;
            }
            if held.end > segment.start && !go_on(*holder, held.start.max(segment.start)) {
                break;
            }
        }
        let taken = &self.taken[reg.0 as usize];
        if let Some((_, &(end, holder))) = taken.range(..=segment.start).next_back()
            && end > segment.start
            && !go_on(holder, segment.start)
        {
            return;
        }
        for (&start, &(_, holder)) in taken.range(segment.start + 1..segment.end.max(segment.start + 1)) {
            if !go_on(holder, start) {
                return;
            }
        }
    }

    /// Whether nobody has the register.
    pub(super) fn is_free(&self, reg: Reg, segment: Segment) -> bool {
        let mut free = true;
        self.conflicts(reg, segment, |_, _| {
            free = false;
            false
        });
        free
    }
}
