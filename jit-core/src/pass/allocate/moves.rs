//! Put moves that happen at once into an order.
//!
//! In: groups of moves, each group as if all its sources were read before any destination is written. Out: one
//! list in the order in which they are done. A destination is written once nobody needs what was there; a circle
//! is broken by way of a register that nobody of the group uses, or of a spill slot.

use crate::ir::assignment::{Loc, Move, Source};
use crate::target::RegisterFile;
use crate::vocab::Type;

/// When moves before one instruction happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// Results of the instruction before go elsewhere.
    After,
    /// Arguments of the block that is jumped to.
    Edge,
    /// Operands of the instruction go where it wants them.
    Before,
}

/// Moves in groups.
#[derive(Debug, Default)]
pub(super) struct Moves {
    all: Vec<(u32, Phase, Source, Loc, Type)>,
    pending: Vec<(Source, Loc, Type)>,
}

impl Moves {
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn push(&mut self, before: u32, phase: Phase, from: Source, to: Loc, ty: Type) {
        if from != Source::Loc(to) {
            self.all.push((before, phase, from, to, ty));
        }
    }

    /// Orders everything.
    pub(super) fn finish(&mut self, _regs: &RegisterFile, slots: &mut u32, out: &mut Vec<Move>) {
        self.all.sort_by_key(|(before, phase, ..)| (*before, *phase));
        let mut circle_slot = None;
        let mut at = 0;
        while at < self.all.len() {
            let (before, phase, ..) = self.all[at];
            self.pending.clear();
            while let Some((b, p, from, to, ty)) = self.all.get(at).copied()
                && (b, p) == (before, phase)
            {
                let again = self.pending.iter().any(|moved| moved.0 == from && moved.1 == to);
                if !again {
                    self.pending.push((from, to, ty));
                }
                at += 1;
            }
            self.order(before, slots, &mut circle_slot, out);
        }
    }

    fn order(&mut self, before: u32, slots: &mut u32, circle_slot: &mut Option<u32>, out: &mut Vec<Move>) {
        let pending = &mut self.pending;
        let emit = |from, to, ty, out: &mut Vec<Move>| out.push(Move { before, from, to, ty });
        // Outgoing arguments first: nobody reads them, and they free registers.
        pending.sort_by_key(|(_, to, _)| !matches!(to, Loc::OutArg(_)));
        while !pending.is_empty() {
            let free = pending.iter().position(|(_, to, _)| {
                pending.iter().all(|(from, other, _)| *from != Source::Loc(*to) || other == to)
            });
            match free {
                Some(at) => {
                    let (from, to, ty) = pending.remove(at);
                    emit(from, to, ty, out);
                }
                None => {
                    // Everything left is in circles: one value waits in a slot.
                    let slot = *circle_slot.get_or_insert_with(|| {
                        *slots += 1;
                        *slots - 1
                    });
                    let (from, _, ty) = pending[0];
                    emit(from, Loc::Slot(slot), ty, out);
                    for moved in pending.iter_mut().filter(|moved| moved.0 == from) {
                        moved.0 = Source::Loc(Loc::Slot(slot));
                    }
                }
            }
        }
    }
}
