//! Put moves that happen at once into an order.
//!
//! In: groups of moves, each group as if all its sources were read before any destination is written. Out: one
//! list in the order in which they are done. A destination is written once nobody needs what was there; a circle
//! is broken by way of a register that is free there, or else of a spill slot. Cost: linear in moves and instructions.

use crate::ir::assignment::{Loc, Move, Source};
use crate::ir::index::{InstId, Slot, index};
use crate::target::{Reg, RegSet};
use crate::vocab::{Class, Type};

/// When moves before one instruction happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// Results of the instruction before go elsewhere.
    After,
    /// What is elsewhere in the block that was come from.
    Enter,
    /// A range is cut here.
    Cut,
    /// What is elsewhere in the block that is jumped to, its parameters among it.
    Leave,
    /// Operands of the instruction go where it wants them.
    Before,
}

/// Moves in groups.
#[derive(Debug, Default)]
pub(super) struct Moves {
    all: Vec<(InstId, Phase, Source, Loc, Type)>,
    /// By instruction: the first of the moves before it, and for each move the one that was pushed next.
    first: Vec<Pushed>,
    next: Vec<Pushed>,
    /// The moves before one instruction, by phase.
    here: Vec<Pushed>,
    pending: Vec<PendingData>,
    ready: Vec<Pending>,
    /// For each place (see [`number`]) how many pending moves read it, and which one writes it.
    places: Vec<(u32, Pending)>,
}

index! {
    /// A move, by the order in which they were pushed.
    Pushed, "move"
}
index! {
    /// A move of the group that is being ordered.
    Pending, "pending"
}

/// What is known of such a move.
#[derive(Clone, Copy, Debug)]
struct PendingData {
    from: Source,
    to: Loc,
    ty: Type,
    done: bool,
}

/// A place that can be read as an index.
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

    /// Orders everything before so many instructions. `free` finds a register of a class that nobody has before an
    /// instruction and that is not in the set.
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

    /// Makes a group of moves pending; one that is there twice counts once.
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
        // The first that is ready goes first; outgoing arguments before all, since they free registers.
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
            // What is left are circles.
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

    /// One reader less: whoever writes there may be ready.
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

    /// What a register or slot holds after a group of moves that happen at once: what another one held before.
    type Group = Vec<(Loc, Loc)>;

    /// The registers that moves may use, of the two classes: five, and others that nobody has.
    const FEW: u8 = 5;

    fn ty(loc: Loc) -> Type {
        match loc {
            Loc::Reg(reg) if reg.class() == Class::Float => Type::F64,
            _ => Type::I64,
        }
    }

    /// Orders a group, with so many free registers of each class, and does the moves one after another.
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
        // Each place holds its own name before.
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
        // Two that swap, three in a circle, two floats, two slots; one place that leads into a circle's values, and a chain.
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
            // One more for each circle, and perhaps for what goes from slot to slot by way of a register.
            let at_least = group.len() + circles.len();
            assert!((at_least..=at_least + 1).contains(&n_moves), "{n_moves} moves");
        }
    }

    /// Any group: circles, chains, trees, places that keep what they have.
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
                // Values never go to registers of the other class.
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
