//! Put moves that happen at once into an order.
//!
//! In: groups of moves, each group as if all its sources were read before any destination is written. Out: one
//! list in the order in which they are done. A destination is written once nobody needs what was there; a circle
//! is broken by way of a register that is free there, or else of a spill slot. Cost: linear in moves and instructions.

use crate::ir::assignment::{Loc, Move, Source};
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
    all: Vec<(u32, Phase, Source, Loc, Type)>,
    /// By instruction: the first of the moves before it, and for each move the one that was pushed next.
    first: Vec<u32>,
    next: Vec<u32>,
    /// The moves before one instruction, by phase.
    here: Vec<u32>,
    pending: Vec<Pending>,
    ready: Vec<u32>,
    /// For each place (see [`number`]) how many pending moves read it, and which one writes it.
    places: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    from: Source,
    to: Loc,
    ty: Type,
    done: bool,
}

const NOBODY: u32 = u32::MAX;

/// A place that can be read as an index.
fn number(loc: Loc) -> Option<usize> {
    match loc {
        Loc::Reg(reg) => Some(reg.0 as usize),
        Loc::Slot(slot) => Some(Reg::COUNT + slot as usize),
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

    pub(super) fn push(&mut self, before: u32, phase: Phase, from: Source, to: Loc, ty: Type) {
        if from != Source::Loc(to) {
            self.all.push((before, phase, from, to, ty));
        }
    }

    /// Orders everything before so many instructions. `free` finds a register of a class that nobody has before an
    /// instruction and that is not in the set.
    pub(super) fn finish(
        &mut self,
        n_insts: usize,
        free: impl Fn(u32, Class, RegSet) -> Option<Reg>,
        slots: &mut u32,
        out: &mut Vec<Move>,
    ) {
        self.first.clear();
        self.first.resize(n_insts, NOBODY);
        self.next.clear();
        self.next.resize(self.all.len(), NOBODY);
        for (at, (before, ..)) in self.all.iter().enumerate().rev() {
            self.next[at] = core::mem::replace(&mut self.first[*before as usize], at as u32);
        }
        self.places.clear();
        self.places.resize(Reg::COUNT + *slots as usize, (0, NOBODY));
        let mut circle_slot = None;
        for before in 0..n_insts as u32 {
            let mut at = self.first[before as usize];
            if at == NOBODY {
                continue;
            }
            self.here.clear();
            while at != NOBODY {
                let phase = self.all[at as usize].1;
                let later =
                    self.here.iter().rev().take_while(|one| self.all[**one as usize].1 > phase).count();
                self.here.insert(self.here.len() - later, at);
                at = self.next[at as usize];
            }
            let mut start = 0;
            while start < self.here.len() {
                let (_, phase, from, to, ty) = self.all[self.here[start] as usize];
                let group = self.here[start..].iter().take_while(|at| self.all[**at as usize].1 == phase);
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
            let (_, _, from, to, ty) = self.all[at as usize];
            if let Some(place) = number(to) {
                if self.places[place].1 != NOBODY {
                    debug_assert_eq!(self.pending[self.places[place].1 as usize].from, from, "{to:?}");
                    continue;
                }
                self.places[place].1 = self.pending.len() as u32;
            }
            if let Some(place) = number_of_source(from) {
                self.places[place].0 += 1;
            }
            self.pending.push(Pending { from, to, ty, done: false });
        }
    }

    fn order(
        &mut self,
        before: u32,
        free: &impl Fn(u32, Class, RegSet) -> Option<Reg>,
        slots: &mut u32,
        circle_slot: &mut Option<u32>,
        out: &mut Vec<Move>,
    ) {
        let mut used = RegSet::EMPTY;
        for Pending { from, to, .. } in &self.pending {
            for loc in [Some(*to), if let Source::Loc(from) = from { Some(*from) } else { None }] {
                if let Some(Loc::Reg(reg)) = loc {
                    used.insert(reg);
                }
            }
        }
        let is_ready = |places: &[(u32, u32)], to: Loc| number(to).is_none_or(|place| places[place].0 == 0);
        // The first that is ready goes first; outgoing arguments before all, since they free registers.
        let ready = (0..self.pending.len() as u32).rev();
        let ready = ready.filter(|at| is_ready(&self.places, self.pending[*at as usize].to));
        self.ready.extend(ready);
        self.ready.sort_by_key(|at| matches!(self.pending[*at as usize].to, Loc::OutArg(_)));
        let mut left = 0;
        loop {
            while let Some(at) = self.ready.pop() {
                let Pending { from, to, ty, .. } = self.pending[at as usize];
                self.pending[at as usize].done = true;
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
                    self.places[place].1 = NOBODY;
                }
                self.was_read(from);
            }
            // What is left are circles.
            while left < self.pending.len() && self.pending[left].done {
                left += 1;
            }
            let Some(&Pending { from, ty, .. }) = self.pending.get(left) else { return };
            let by = match free(before, ty.class(), used) {
                Some(reg) => Loc::Reg(reg),
                None => Loc::Slot(*circle_slot.get_or_insert_with(|| {
                    *slots += 1;
                    self.places.push((0, NOBODY));
                    *slots - 1
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
            if *readers == 0 && *writer != NOBODY {
                self.ready.push(*writer);
            }
        }
    }
}
