//! Judge of assignments: follows every value along every path and checks that each instruction finds its operands in the
//! places that it reads.
//!
//! In: a tile list and an assignment. Out: violations. The judge knows nothing of live ranges or of the reasons for places. At
//! each point it knows, for each register, spill slot and outgoing argument, the set of values that the place certainly holds.
//! Instructions and moves change the sets. Where paths meet, the sets are intersected. Loops are iterated to a fixed point.
//! (The idea is that of regalloc2's checker.)

use super::Violation;
use crate::ir::assignment::{Assignment, Loc, Source};
use crate::ir::index::Vreg;
use crate::ir::tiles::{Constraint, Edge, Operand, Role, TileBlock, TileList};
use crate::target::Reg;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The set of values that each place certainly holds, by [`Judge::number`]; an entry is a set in [`Sets`].
type Held = Vec<Set>;

/// The number of a set of values. Most places hold one value or none, and the same few sets recur.
type Set = u32;

/// The empty set.
const NOTHING: Set = 0;

/// Every set that has occurred: the empty one, then one for each single value, then others.
struct Sets {
    lists: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, Set>,
    shared: HashMap<(Set, Set), Set>,
}

impl Sets {
    fn new(n_values: usize) -> Sets {
        let alone = (0..n_values as u32).map(|value| Box::from([value]));
        let lists = core::iter::once(Box::default()).chain(alone).collect();
        Sets { lists, numbers: HashMap::new(), shared: HashMap::new() }
    }

    fn alone(value: Vreg) -> Set {
        value.0 + 1
    }

    /// The set of these values, which must be sorted.
    fn of(&mut self, values: &[u32]) -> Set {
        debug_assert!(values.is_sorted());
        match values {
            [] => NOTHING,
            [value] => Sets::alone(Vreg(*value)),
            _ => {
                let next = self.lists.len() as Set;
                *self.numbers.entry(values.into()).or_insert_with_key(|list| {
                    self.lists.push(list.clone());
                    next
                })
            }
        }
    }

    fn values(&self, set: Set) -> &[u32] {
        &self.lists[set as usize]
    }

    fn has(&self, set: Set, value: Vreg) -> bool {
        self.values(set).binary_search(&value.0).is_ok()
    }

    /// The values that are in both sets.
    fn intersection(&mut self, a: Set, b: Set) -> Set {
        if a == b || a == NOTHING {
            return a;
        }
        if let Some(known) = self.shared.get(&(a, b)) {
            return *known;
        }
        let both: Vec<u32> =
            self.values(a).iter().copied().filter(|value| self.has(b, Vreg(*value))).collect();
        let both = self.of(&both);
        self.shared.insert((a, b), both);
        both
    }
}

/// All violations in an assignment.
pub fn assignment(tiles: &TileList, assignment: &Assignment) -> Vec<Violation> {
    let mut judge = Judge::new(tiles, assignment);
    if assignment.locs.len() != tiles.operands.len() {
        judge.report("list".into(), "not every operand has a place");
        return judge.violations;
    }
    if !assignment.moves.is_sorted_by_key(|moved| moved.before) {
        judge.report("moves".into(), "are not in the order of the instructions");
        return judge.violations;
    }
    let mut entries: Vec<Option<Held>> = vec![None; tiles.blocks.len()];
    entries[0] = Some(vec![NOTHING; judge.n_places]);
    // Earlier blocks come first: most of a block's predecessors are settled before its turn.
    let mut open = BTreeSet::from([0]);
    while let Some(at) = open.pop_first() {
        let block = &tiles.blocks[at];
        let held = entries[at].clone().expect("an open block was reached");
        let exit = judge.block(block, held, false);
        for edge in tiles.edges(block) {
            let to = tiles.position[edge.to.at()] as usize;
            let mut joined = judge.rename(edge, &exit);
            if let Some(known) = &entries[to] {
                for (set, known) in core::iter::zip(&mut joined, known) {
                    *set = judge.sets.intersection(*known, *set);
                }
            }
            if entries[to].as_ref() != Some(&joined) {
                entries[to] = Some(joined);
                open.insert(to);
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

struct Judge<'a> {
    tiles: &'a TileList,
    assignment: &'a Assignment,
    violations: Vec<Violation>,
    sets: Sets,
    /// For each constant, the set of the values that are equal to it.
    constants: HashMap<u64, Set>,
    /// For each value, whether some place held it at the start of the current block.
    is_around: Vec<bool>,
    n_out_args: usize,
    n_places: usize,
}

impl<'a> Judge<'a> {
    fn new(tiles: &'a TileList, assignment: &'a Assignment) -> Judge<'a> {
        let mut sets = Sets::new(tiles.vregs.len());
        let mut constants: HashMap<u64, Vec<u32>> = HashMap::new();
        for vreg in 0..tiles.vregs.len() {
            if let Some(bits) = tiles.constant(Vreg::from(vreg)) {
                constants.entry(bits).or_default().push(vreg as u32);
            }
        }
        let constants = constants.into_iter().map(|(bits, values)| (bits, sets.of(&values))).collect();
        let moves = assignment.moves.iter();
        let places = moves.flat_map(|moved| match moved.from {
            Source::Loc(from) => [from, moved.to],
            Source::Const(_) => [moved.to; 2],
        });
        let (mut n_out_args, mut n_slots) = (0, 0);
        for place in places.chain(assignment.locs.iter().copied()) {
            match place {
                Loc::Reg(_) => {}
                Loc::Slot(slot) => n_slots = n_slots.max(slot.at() + 1),
                Loc::OutArg(at) => n_out_args = n_out_args.max(at as usize + 1),
            }
        }
        Judge {
            tiles,
            assignment,
            violations: Vec::new(),
            sets,
            constants,
            is_around: vec![false; tiles.vregs.len()],
            n_out_args,
            n_places: Reg::COUNT + n_out_args + n_slots,
        }
    }

    /// The index of a place in [`Held`].
    fn number(&self, loc: Loc) -> usize {
        match loc {
            Loc::Reg(reg) => reg.0 as usize,
            Loc::OutArg(at) => Reg::COUNT + at as usize,
            Loc::Slot(slot) => Reg::COUNT + self.n_out_args + slot.at(),
        }
    }

    fn report(&mut self, place: String, problem: &str) {
        self.violations.push(Violation { place, problem: problem.into() });
    }

    /// The values that each place holds at a block's end. Violations are reported in the last round only.
    fn block(&mut self, block: &TileBlock, mut held: Held, last_round: bool) -> Held {
        self.is_around.fill(false);
        for set in &held {
            self.sets.values(*set).iter().for_each(|value| self.is_around[*value as usize] = true);
        }
        for inst in block.insts.range() {
            self.moves(inst, &mut held, last_round);
            self.inst(inst, &mut held, last_round);
        }
        held
    }

    fn moves(&mut self, inst: usize, held: &mut Held, last_round: bool) {
        let moves = &self.assignment.moves;
        let first = moves.partition_point(|moved| moved.before.at() < inst);
        for moved in moves[first..].iter().take_while(|moved| moved.before.at() == inst) {
            let values = match moved.from {
                Source::Loc(from) => held[self.number(from)],
                Source::Const(bits) => self.constants.get(&bits).copied().unwrap_or(NOTHING),
            };
            if last_round {
                self.check_used(moved.to, inst);
                if values == NOTHING {
                    self.report(format!("before {inst}"), "a move takes what nothing is known of");
                }
            }
            held[self.number(moved.to)] = values;
        }
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
            held[self.number(Loc::Reg(reg))] = NOTHING;
        }
        for (operand, loc) in core::iter::zip(operands, locs) {
            match operand.role {
                Role::Def | Role::EarlyDef => {
                    // A value is defined once. So places that still hold it have it from an earlier iteration of a loop.
                    if self.is_around[operand.vreg.at()] {
                        self.forget(operand.vreg, held);
                    }
                    held[self.number(*loc)] = Sets::alone(operand.vreg);
                }
                Role::Temp => held[self.number(*loc)] = NOTHING,
                Role::Use | Role::LateUse => {}
            }
        }
        if data.operands.len > 0 && operands.iter().any(|o| matches!(o.constraint, Constraint::OutArg(_))) {
            held[Reg::COUNT..Reg::COUNT + self.n_out_args].fill(NOTHING);
        }
    }

    fn forget(&mut self, value: Vreg, held: &mut Held) {
        for set in held {
            if self.sets.has(*set, value) {
                let others: Vec<u32> =
                    self.sets.values(*set).iter().copied().filter(|other| *other != value.0).collect();
                *set = self.sets.of(&others);
            }
        }
    }

    /// Checks that each operand is in a place that its constraint allows, and that the place holds the value.
    fn reads(&mut self, inst: usize, operands: &[Operand], locs: &[Loc], held: &Held) {
        for (number, (operand, loc)) in core::iter::zip(operands, locs).enumerate() {
            let place = format!("operand {number} of {inst}");
            let is_right = match (operand.constraint, loc) {
                (Constraint::Reg | Constraint::Any | Constraint::Anywhere, Loc::Reg(_)) => true,
                (Constraint::Any | Constraint::Anywhere, Loc::Slot(_)) => {
                    matches!(operand.role, Role::Use | Role::LateUse)
                }
                (Constraint::Fixed(reg), loc) => *loc == Loc::Reg(reg),
                (Constraint::Tied(to), loc) => {
                    locs.get(to as usize) == Some(loc) && matches!(loc, Loc::Reg(_))
                }
                (Constraint::OutArg(unit), loc) => *loc == Loc::OutArg(unit.number()),
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
                    if !self.sets.has(held[self.number(*loc)], operand.vreg) {
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
            Loc::Slot(slot) if slot.0 >= self.assignment.slots => {
                self.report(format!("{inst}"), "writes a spill slot that there is not");
            }
            _ => {}
        }
    }

    /// Checks that no two operands that are live at the same time share a register, unless both read the same value.
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

    /// Renames arguments to parameters along an edge.
    fn rename(&mut self, edge: &Edge, held: &Held) -> Held {
        let params = &self.tiles.args[self.tiles.block(edge.to).params.range()];
        let args = &self.tiles.args[edge.args.range()];
        if params.is_empty() {
            return held.clone();
        }
        let is_param: HashSet<u32> = params.iter().map(|param| param.0).collect();
        let mut params_of: HashMap<u32, Vec<u32>> = HashMap::new();
        for (arg, param) in core::iter::zip(args, params) {
            params_of.entry(arg.0).or_default().push(param.0);
        }
        let mut renamed: HashMap<Set, Set> = HashMap::new();
        let mut rename = |set: Set| {
            if set == NOTHING {
                return NOTHING;
            }
            *renamed.entry(set).or_insert_with(|| {
                let values = self.sets.values(set);
                let mut new: Vec<u32> =
                    values.iter().copied().filter(|value| !is_param.contains(value)).collect();
                new.extend(values.iter().filter_map(|value| params_of.get(value)).flatten());
                new.sort_unstable();
                self.sets.of(&new)
            })
        };
        held.iter().map(|set| rename(*set)).collect()
    }
}
