//! Judge of assignments: follows every value through every way and looks whether each instruction finds what it
//! reads where it looks.
//!
//! In: a tile list and an assignment. Out: violations. Knows nothing of live ranges or of how places were chosen:
//! at each point it has, for each register, spill slot and outgoing argument, the set of values it is sure to hold.
//! Instructions and moves change that; where ways meet, only what all of them agree on is left. It goes around
//! loops until nothing changes. (The idea is that of regalloc2's checker.)

use super::Violation;
use crate::ir::assignment::{Assignment, Loc, Source};
use crate::ir::index::Vreg;
use crate::ir::tiles::{Constraint, Operand, Remat, Role, TileBlock, TileList};
use std::collections::{BTreeMap, BTreeSet};

/// What places are sure to hold.
type Held = BTreeMap<Loc, BTreeSet<u32>>;

/// All that is wrong with an assignment.
pub fn assignment(tiles: &TileList, assignment: &Assignment) -> Vec<Violation> {
    let mut judge = Judge { tiles, assignment, violations: Vec::new() };
    if assignment.locs.len() != tiles.operands.len() {
        judge.report("list".into(), "not every operand has a place");
        return judge.violations;
    }
    if !assignment.moves.is_sorted_by_key(|moved| moved.before) {
        judge.report("moves".into(), "are not in the order of the instructions");
        return judge.violations;
    }
    let mut entries: Vec<Option<Held>> = vec![None; tiles.blocks.len()];
    entries[0] = Some(Held::new());
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let block = &tiles.blocks[at];
        let held = entries[at].clone().expect("an open block was reached");
        let exit = judge.block(block, held, false);
        for edge in tiles.edges(block) {
            let to = tiles.position[edge.to.at()] as usize;
            let mut arriving = exit.clone();
            judge.rename(edge, &mut arriving);
            let joined = match &entries[to] {
                None => arriving,
                Some(known) => meet(known, &arriving),
            };
            if entries[to].as_ref() != Some(&joined) {
                entries[to] = Some(joined);
                open.push(to);
            }
        }
    }
    for (block, entry) in core::iter::zip(&tiles.blocks, entries) {
        if let Some(held) = entry {
            judge.block(block, held, true);
        }
    }
    judge.violations
}

fn meet(a: &Held, b: &Held) -> Held {
    let shared = a.iter().filter_map(|(loc, in_a)| {
        let both: BTreeSet<u32> = in_a.intersection(b.get(loc)?).copied().collect();
        (!both.is_empty()).then_some((*loc, both))
    });
    shared.collect()
}

struct Judge<'a> {
    tiles: &'a TileList,
    assignment: &'a Assignment,
    violations: Vec<Violation>,
}

impl Judge<'_> {
    fn report(&mut self, place: String, problem: &str) {
        self.violations.push(Violation { place, problem: problem.into() });
    }

    /// What is held at a block's end; what is wrong in it is reported in the last round only.
    fn block(&mut self, block: &TileBlock, mut held: Held, last_round: bool) -> Held {
        for inst in block.insts.range() {
            self.moves(inst, &mut held, last_round);
            self.inst(inst, &mut held, last_round);
        }
        held
    }

    fn moves(&mut self, inst: usize, held: &mut Held, last_round: bool) {
        let moves = &self.assignment.moves;
        let first = moves.partition_point(|moved| (moved.before as usize) < inst);
        for moved in moves[first..].iter().take_while(|moved| moved.before as usize == inst) {
            let values = match moved.from {
                Source::Loc(from) => held.get(&from).cloned().unwrap_or_default(),
                Source::Const(bits) => self.constants(bits),
            };
            if last_round {
                self.check_used(moved.to, inst);
                if values.is_empty() {
                    self.report(format!("before {inst}"), "a move takes what nothing is known of");
                }
            }
            held.insert(moved.to, values);
        }
    }

    /// The values that are this constant.
    fn constants(&self, bits: u64) -> BTreeSet<u32> {
        let all = self.tiles.vregs.iter().enumerate();
        all.filter(|(_, data)| data.remat == Remat::Const(bits)).map(|(vreg, _)| vreg as u32).collect()
    }

    fn inst(&mut self, inst: usize, held: &mut Held, last_round: bool) {
        let data = &self.tiles.insts[inst];
        let locs = &self.assignment.locs[data.operands.range()];
        let operands = self.tiles.operands(inst);
        if last_round {
            self.reads(inst, operands, locs, held);
            self.overlaps(inst, operands, locs);
        }
        for reg in data.clobbers.iter() {
            held.remove(&Loc::Reg(reg));
        }
        for (operand, loc) in core::iter::zip(operands, locs) {
            match operand.role {
                Role::Def | Role::EarlyDef => {
                    for values in held.values_mut() {
                        values.remove(&operand.vreg.0);
                    }
                    held.insert(*loc, BTreeSet::from([operand.vreg.0]));
                }
                Role::Temp => {
                    held.remove(loc);
                }
                Role::Use | Role::LateUse => {}
            }
        }
        if data.operands.len > 0 && operands.iter().any(|o| matches!(o.constraint, Constraint::OutArg(_))) {
            held.retain(|loc, _| !matches!(loc, Loc::OutArg(_)));
        }
    }

    /// Each operand is where its constraint wants it, and holds the value.
    fn reads(&mut self, inst: usize, operands: &[Operand], locs: &[Loc], held: &Held) {
        for (number, (operand, loc)) in core::iter::zip(operands, locs).enumerate() {
            let place = format!("operand {number} of {inst}");
            let is_right = match (operand.constraint, loc) {
                (Constraint::Reg | Constraint::Any, Loc::Reg(_)) => true,
                (Constraint::Any, Loc::Slot(_)) => matches!(operand.role, Role::Use | Role::LateUse),
                (Constraint::Fixed(reg), loc) => *loc == Loc::Reg(reg),
                (Constraint::Tied(to), loc) => {
                    locs.get(to as usize) == Some(loc) && matches!(loc, Loc::Reg(_))
                }
                (Constraint::OutArg(at), loc) => *loc == Loc::OutArg(at),
                _ => false,
            };
            if !is_right {
                self.report(place.clone(), "is not where it must be");
            }
            if let Loc::Reg(reg) = loc
                && reg.class() != self.tiles.vregs[operand.vreg.at()].ty.class()
            {
                self.report(place.clone(), "is in a register of the other class");
            }
            match operand.role {
                Role::Use | Role::LateUse => {
                    if !held.get(loc).is_some_and(|values| values.contains(&operand.vreg.0)) {
                        self.report(place, "reads a place that does not hold the value");
                    }
                }
                Role::Def | Role::EarlyDef | Role::Temp => self.check_used(*loc, inst),
            }
        }
    }

    fn check_used(&mut self, loc: Loc, inst: usize) {
        match loc {
            Loc::Reg(reg) if !self.assignment.used.contains(reg) => {
                self.report(format!("{inst}"), "writes a register that is not said to be used");
            }
            Loc::Slot(slot) if slot >= self.assignment.slots => {
                self.report(format!("{inst}"), "writes a spill slot that there is not");
            }
            _ => {}
        }
    }

    /// No two operands that are in use at once share a register, unless they are the same value read.
    fn overlaps(&mut self, inst: usize, operands: &[Operand], locs: &[Loc]) {
        let clobbers = self.tiles.insts[inst].clobbers;
        for (number, operand) in operands.iter().enumerate() {
            if let Loc::Reg(reg) = locs[number]
                && clobbers.contains(reg)
                && matches!(operand.role, Role::LateUse | Role::Temp)
            {
                self.report(format!("operand {number} of {inst}"), "is overwritten while it is needed");
            }
            for (other_number, other) in operands.iter().enumerate().skip(number + 1) {
                if locs[number] != locs[other_number] || !matches!(locs[number], Loc::Reg(_)) {
                    continue;
                }
                let is_read = |operand: &Operand| matches!(operand.role, Role::Use | Role::LateUse);
                let is_tied = |a: &Operand, to: usize| a.constraint == Constraint::Tied(to as u8);
                let same_value = is_read(operand) && is_read(other) && operand.vreg == other.vreg;
                let handed_over = match (operand.role, other.role) {
                    (Role::Use, Role::Def) | (Role::Def, Role::Use) => true,
                    _ => is_tied(operand, other_number) || is_tied(other, number),
                };
                if !same_value && !handed_over {
                    let place = format!("operands {number} and {other_number} of {inst}");
                    self.report(place, "share a register at once");
                }
            }
        }
    }

    /// Over an edge arguments become parameters.
    fn rename(&mut self, edge: &crate::ir::tiles::Edge, held: &mut Held) {
        let params: &[Vreg] = &self.tiles.args[self.tiles.block(edge.to).params.range()];
        let args: &[Vreg] = &self.tiles.args[edge.args.range()];
        for values in held.values_mut() {
            let mut renamed: BTreeSet<u32> =
                values.iter().copied().filter(|value| !params.contains(&Vreg(*value))).collect();
            for (arg, param) in core::iter::zip(args, params) {
                if values.contains(&arg.0) {
                    renamed.insert(param.0);
                }
            }
            *values = renamed;
        }
        held.retain(|_, values| !values.is_empty());
    }
}
