//! Order parallel moves.
//!
//! In: groups of moves; all sources of a group are read before any destination is written. Out: one list of sequential
//! moves. A destination is written once its old value has no readers left. A cycle is broken through a free register, or
//! else through a spill slot. Cost: linear in moves and instructions.

use crate::ir::assignment::{Loc, Move, Source};
use crate::ir::index::{InstId, Slot, index};
use crate::target::{Reg, RegSet};
use crate::vocab::{Class, Type};

/// The groups of moves before one instruction, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// Moves results of the previous instruction to their homes.
    After,
    /// Moves ranges that have different places in this block and in its predecessor.
    Enter,
    /// Moves a range that is cut here.
    Cut,
    /// Moves arguments, and ranges that have different places in this block and in its successor.
    Leave,
    /// Moves operands to the places that the instruction requires.
    Before,
}

/// Moves in groups.
#[derive(Debug, Default)]
pub(super) struct Moves {
    all: Vec<(InstId, Phase, Source, Loc, Type)>,
    /// For each instruction the first of the moves before it; for each move the next one before the same instruction.
    first: Vec<Pushed>,
    next: Vec<Pushed>,
    /// The moves before one instruction, by phase.
    here: Vec<Pushed>,
    pending: Vec<PendingData>,
    ready: Vec<Pending>,
    /// For each place (see [`number`]) how many pending moves read it, and the one that writes it.
    places: Vec<(u32, Pending)>,
}

index! {
    /// A move, numbered in the order of pushes.
    Pushed, "move"
}
index! {
    /// A move of the group that is being ordered.
    Pending, "pending"
}

/// A pending move's data.
#[derive(Clone, Copy, Debug)]
struct PendingData {
    from: Source,
    to: Loc,
    ty: Type,
    done: bool,
}

/// The index of a place that can be read.
fn number(loc: Loc) -> Option<usize> {
    match loc {
        Loc::Reg(reg) => Some(reg.0 as usize),
        Loc::Slot(slot) => Some(Reg::COUNT + slot.at()),
        Loc::OutArg(_) => None,
    }
}

fn number_of_source(source: Source) -> Option<usize> {
    match source {
        Source::Loc(loc) => number(loc),
        Source::Const(_) => None,
    }
}

impl Moves {
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    pub(super) fn push(&mut self, before: InstId, phase: Phase, from: Source, to: Loc, ty: Type) {
        if from != Source::Loc(to) {
            self.all.push((before, phase, from, to, ty));
        }
    }

    /// Orders the moves before each of `n_insts` instructions. `free` finds a register of a class that is free before an
    /// instruction and not in the given set.
    pub(super) fn finish(
        &mut self,
        n_insts: usize,
        free: impl Fn(InstId, Class, RegSet) -> Option<Reg>,
        slots: &mut u32,
        out: &mut Vec<Move>,
    ) {
        self.first.clear();
        self.first.resize(n_insts, Pushed::NONE);
        self.next.clear();
        self.next.resize(self.all.len(), Pushed::NONE);
        for (at, (before, ..)) in self.all.iter().enumerate().rev() {
            self.next[at] = core::mem::replace(&mut self.first[before.at()], Pushed::from(at));
        }
        self.places.clear();
        self.places.resize(Reg::COUNT + *slots as usize, (0, Pending::NONE));
        let mut circle_slot = None;
        for before in (0..n_insts).map(InstId::from) {
            let mut at = self.first[before.at()];
            if !at.is_some() {
                continue;
            }
            self.here.clear();
            while at.is_some() {
                let phase = self.all[at.at()].1;
                let later = self.here.iter().rev().take_while(|one| self.all[one.at()].1 > phase).count();
                self.here.insert(self.here.len() - later, at);
                at = self.next[at.at()];
            }
            let mut start = 0;
            while start < self.here.len() {
                let (_, phase, from, to, ty) = self.all[self.here[start].at()];
                let group = self.here[start..].iter().take_while(|at| self.all[at.at()].1 == phase);
                let end = start + group.count();
                if end == start + 1 && matches!((from, to), (Source::Const(_), _) | (_, Loc::Reg(_))) {
                    out.push(Move { before, from, to, ty });
                } else {
                    self.start(start, end);
                    self.order(before, &free, slots, &mut circle_slot, out);
                }
                start = end;
            }
        }
    }

    /// Makes a group of moves pending; drops duplicates.
    fn start(&mut self, start: usize, end: usize) {
        self.pending.clear();
        self.ready.clear();
        for &at in &self.here[start..end] {
            let (_, _, from, to, ty) = self.all[at.at()];
            if let Some(place) = number(to) {
                let writer = &mut self.places[place].1;
                if writer.is_some() {
                    debug_assert_eq!(self.pending[writer.at()].from, from, "{to:?}");
                    continue;
                }
                *writer = Pending::from(self.pending.len());
            }
            if let Some(place) = number_of_source(from) {
                self.places[place].0 += 1;
            }
            self.pending.push(PendingData { from, to, ty, done: false });
        }
    }

    fn order(
        &mut self,
        before: InstId,
        free: &impl Fn(InstId, Class, RegSet) -> Option<Reg>,
        slots: &mut u32,
        circle_slot: &mut Option<Slot>,
        out: &mut Vec<Move>,
    ) {
        let mut used = RegSet::EMPTY;
        for PendingData { from, to, .. } in &self.pending {
            for loc in [Some(*to), if let Source::Loc(from) = from { Some(*from) } else { None }] {
                if let Some(Loc::Reg(reg)) = loc {
                    used.insert(reg);
                }
            }
        }
        let is_ready =
            |places: &[(u32, Pending)], to: Loc| number(to).is_none_or(|place| places[place].0 == 0);
        // Ready moves keep their order, except that outgoing arguments come first, since they free registers.
        let ready = (0..self.pending.len()).rev().map(Pending::from);
        let ready = ready.filter(|at| is_ready(&self.places, self.pending[at.at()].to));
        self.ready.extend(ready);
        self.ready.sort_by_key(|at| matches!(self.pending[at.at()].to, Loc::OutArg(_)));
        let mut left = 0;
        loop {
            while let Some(at) = self.ready.pop() {
                let PendingData { from, to, ty, .. } = self.pending[at.at()];
                self.pending[at.at()].done = true;
                let is_memory = |loc: Loc| !matches!(loc, Loc::Reg(_));
                match from {
                    Source::Loc(loc) if is_memory(loc) && is_memory(to) => {
                        match free(before, Class::Int, used) {
                            Some(by) => {
                                let by = Loc::Reg(by);
                                out.push(Move { before, from, to: by, ty: Type::I64 });
                                out.push(Move { before, from: Source::Loc(by), to, ty: Type::I64 });
                            }
                            None => out.push(Move { before, from, to, ty }),
                        }
                    }
                    _ => out.push(Move { before, from, to, ty }),
                }
                if let Some(place) = number(to) {
                    self.places[place].1 = Pending::NONE;
                }
                self.was_read(from);
            }
            // The remaining moves are cycles.
            while left < self.pending.len() && self.pending[left].done {
                left += 1;
            }
            let Some(&PendingData { from, ty, .. }) = self.pending.get(left) else { return };
            let by = match free(before, ty.class(), used) {
                Some(reg) => Loc::Reg(reg),
                None => Loc::Slot(*circle_slot.get_or_insert_with(|| {
                    *slots += 1;
                    self.places.push((0, Pending::NONE));
                    Slot(*slots - 1)
                })),
            };
            let whole = if ty.class() == Class::Int { Type::I64 } else { Type::F64 };
            out.push(Move { before, from, to: by, ty: whole });
            if let Loc::Reg(reg) = by {
                used.insert(reg);
            }
            self.pending[left].from = Source::Loc(by);
            self.places[number(by).expect("it can be read")].0 += 1;
            self.was_read(from);
        }
    }

    /// Notes that a source has one reader less; the move that writes there may become ready.
    fn was_read(&mut self, from: Source) {
        if let Some(place) = number_of_source(from) {
            let (readers, writer) = &mut self.places[place];
            *readers -= 1;
            if *readers == 0 && writer.is_some() {
                self.ready.push(*writer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::HashMap;

    /// A group of parallel moves: source and destination of each.
    type Group = Vec<(Loc, Loc)>;

    /// How many registers of each class the moves may use; the free ones come after these.
    const FEW: u8 = 5;

    fn ty(loc: Loc) -> Type {
        match loc {
            Loc::Reg(reg) if reg.class() == Class::Float => Type::F64,
            _ => Type::I64,
        }
    }

    /// Orders a group, with `n_free` free registers of each class, and simulates the sequential moves.
    fn do_all(group: &Group, n_free: u8, n_slots: u32) -> (HashMap<Loc, Loc>, usize) {
        let mut moves = Moves::default();
        group
            .iter()
            .for_each(|(from, to)| moves.push(InstId(0), Phase::Leave, Source::Loc(*from), *to, ty(*to)));
        let free = |_, class, used: RegSet| {
            let all = (FEW..FEW + n_free).map(|number| match class {
                Class::Int => Reg::int(number),
                Class::Float => Reg::float(number),
            });
            all.into_iter().find(|reg| !used.contains(*reg))
        };
        let (mut slots, mut out) = (n_slots, Vec::new());
        moves.finish(1, free, &mut slots, &mut out);
        // Initially each place holds its own name.
        let mut held = HashMap::new();
        for Move { from, to, .. } in &out {
            let Source::Loc(from) = *from else { unreachable!("there are no constants") };
            let value = *held.get(&from).unwrap_or(&from);
            held.insert(*to, value);
        }
        (held, out.len())
    }

    #[track_caller]
    fn is_done_at_once(group: &Group, n_free: u8, n_slots: u32) -> usize {
        let (held, n_moves) = do_all(group, n_free, n_slots);
        for (from, to) in group {
            assert_eq!(held.get(to).unwrap_or(to), from, "{to:?} of {group:?} with {n_free} free registers");
        }
        n_moves
    }

    #[test]
    fn several_circles_in_one_group() {
        let int = |number| Loc::Reg(Reg::int(number));
        let float = |number| Loc::Reg(Reg::float(number));
        // Two registers that swap, a cycle of three, two floats, two slots; a copy out of a cycle, and a chain.
        let circles = [
            vec![int(0), int(1)],
            vec![int(2), int(3), int(4)],
            vec![float(0), float(1)],
            vec![Loc::Slot(Slot(0)), Loc::Slot(Slot(1))],
        ];
        let mut group: Group = Vec::new();
        for circle in &circles {
            let next = circle.iter().cycle().skip(1);
            group.extend(circle.iter().copied().zip(next.copied()));
        }
        group.extend([(int(0), Loc::OutArg(0)), (float(1), float(2)), (float(2), float(3))]);
        for n_free in 0..3 {
            let n_moves = is_done_at_once(&group, n_free, 2);
            // One extra move for each cycle, and perhaps one for a slot that is moved through a register.
            let at_least = group.len() + circles.len();
            assert!((at_least..=at_least + 1).contains(&n_moves), "{n_moves} moves");
        }
    }

    /// Any group: cycles, chains, trees, places that keep their value.
    #[test]
    fn groups_are_done_at_once() {
        let mut with_circles = 0;
        let seeds = if cfg!(miri) { 40 } else { 2000 };
        for seed in 0..seeds {
            let random = &mut Random::new(seed);
            let n_slots = random.below(6) as u32;
            let registers = (0..FEW).flat_map(|number| [Reg::int(number), Reg::float(number)]).map(Loc::Reg);
            let places: Vec<Loc> = registers.chain((0..n_slots).map(Slot).map(Loc::Slot)).collect();
            let mut targets = places.clone();
            for at in (1..targets.len()).rev() {
                targets.swap(at, random.below(at + 1));
            }
            targets.truncate(random.below(places.len() + 1));
            let mut group = Group::new();
            let is_permutation = random.one_in(2);
            let mut left = targets.clone();
            for to in targets {
                // A value never moves to a register of the other class.
                let fits = |from: &Loc| ty(*from) == ty(to);
                let from = if is_permutation { &left } else { &places };
                let from: Vec<Loc> = from.iter().copied().filter(fits).collect();
                let Some(&from) = from.get(random.below(from.len().max(1))) else { continue };
                left.retain(|other| *other != from);
                if from != to {
                    group.push((from, to));
                }
            }
            let n_free = random.below(3) as u8;
            with_circles += (is_done_at_once(&group, n_free, n_slots) > group.len()) as u32;
        }
        assert!(with_circles > seeds as u32 / 4, "{with_circles} had circles, or moves between slots");
    }
}
