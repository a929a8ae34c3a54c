//! Which register is taken when, and by whom.

use crate::ir::ranges::Segment;
use crate::target::Reg;
use std::collections::BTreeMap;

/// Who has a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Holder {
    /// A live range.
    Range(u32),
    /// An operand of a spilled range, for one instruction.
    Moment(u32),
    /// An instruction that destroys it.
    Machine,
    /// An instruction that has an operand of this range there.
    Owned(u32),
}

/// For each register, what is taken. Several reservations of one instruction may overlap one another (a value
/// that is read where another is written), but nothing else does.
#[derive(Debug, Default)]
pub(super) struct Occupied {
    regs: Vec<BTreeMap<(u32, u8), (u32, Holder)>>,
}

/// Reservations and ranges are kept apart, so that a range may start where its own reservation does.
fn lane(holder: Holder) -> u8 {
    match holder {
        Holder::Range(_) => 0,
        Holder::Moment(_) => 1,
        Holder::Machine => 2,
        Holder::Owned(_) => 3,
    }
}

/// No reservation of an instruction, and no other holder, is longer than this before a position that it covers.
const LANES: u8 = 4;

impl Occupied {
    pub(super) fn clear(&mut self) {
        self.regs.resize_with(64, BTreeMap::new);
        for taken in &mut self.regs {
            taken.clear();
        }
    }

    pub(super) fn insert(&mut self, reg: Reg, segment: Segment, holder: Holder) {
        let key = (segment.start, lane(holder));
        let taken = &mut self.regs[reg.0 as usize];
        let old = taken.insert(key, (segment.end, holder));
        debug_assert!(
            old.is_none_or(|(_, old)| old == holder),
            "{reg:?} is taken twice at {}",
            segment.start
        );
    }

    pub(super) fn remove(&mut self, reg: Reg, segment: Segment) {
        self.regs[reg.0 as usize].remove(&(segment.start, 0));
    }

    /// Everyone who has the register at some position of the segment.
    pub(super) fn conflicts(&self, reg: Reg, segment: Segment, out: &mut Vec<Holder>) {
        let taken = &self.regs[reg.0 as usize];
        let starting = taken.range((segment.start, 0)..(segment.end, 0));
        out.extend(starting.map(|(_, (_, holder))| *holder));
        // In each lane holders are disjoint, so the last one before tells; reservations are short.
        let mut lanes_left = (1u8 << LANES) - 1;
        for (&(start, lane), &(end, holder)) in taken.range(..(segment.start, 0)).rev() {
            if lanes_left & 1 << lane != 0 {
                lanes_left &= !(1 << lane);
                if end > segment.start {
                    out.push(holder);
                }
            }
            // All but ranges end with their instruction.
            if start + crate::ir::ranges::STEP < segment.start {
                lanes_left &= 1;
            }
            if lanes_left == 0 {
                break;
            }
        }
    }
}
