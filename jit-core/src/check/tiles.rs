//! Judge of tile lists.
//!
//! In: a tile list, the graph that it was made from, and the tile set. Out: all violations: operands that differ from the
//! description of their tile; a flag that the next instruction does not consume; a register that is read where it may not have
//! been written, is written twice, or has the wrong class; edges whose arguments do not fit; critical edges; a block that is
//! missing or occurs twice; an access that may fault and is done by no instruction, by several, or out of order with other
//! effects.
//!
//! The usual data-flow equations decide whether a register is written on every path to its use: the registers written before a
//! block are those written at the end of *all* its predecessors. The passes use dominance instead.

use super::Violation;
use crate::grammar::error::MAX_DEPTH;
use crate::grammar::pattern::Symbol;
use crate::grammar::{TileInfo, TileSet};
use crate::ir::bits::BitSet;
use crate::ir::graph::Graph;
use crate::ir::index::{Block, Vreg};
use crate::ir::state::SavedValue;
use crate::ir::tiles::{Constraint, Operand, Role, TileBlock, TileList};
use crate::vocab::Props;

/// All violations in the tiles of a graph.
pub fn tiles(graph: &Graph, list: &TileList, set: &TileSet) -> Vec<Violation> {
    let mut judge = Judge { graph, list, set, found: Vec::new() };
    judge.blocks();
    if judge.found.is_empty() {
        judge.insts();
        super::faults::faults(graph, list, &mut judge.found);
        if judge.edges_lead_somewhere() {
            judge.edges();
            judge.registers();
        }
    }
    judge.found
}

struct Judge<'a> {
    graph: &'a Graph,
    list: &'a TileList,
    set: &'a TileSet,
    found: Vec<Violation>,
}

impl Judge<'_> {
    fn wrong(&mut self, place: impl ToString, problem: impl Into<String>) {
        self.found.push(Violation { place: place.to_string(), problem: problem.into() });
    }

    fn info(&self, inst: usize) -> &'static TileInfo {
        &self.set.tiles[self.list.insts[inst].tile.0 as usize]
    }

    fn blocks(&mut self) {
        let list = self.list;
        if list.blocks.first().map(|block| block.block) != Some(Graph::ENTRY) {
            self.wrong(Graph::ENTRY, "does not stand first");
        }
        let mut next = 0;
        for (at, block) in list.blocks.iter().enumerate() {
            if list.position.get(block.block.at()) != Some(&(at as u32)) {
                self.wrong(block.block, "is not where `position` says");
            }
            if block.insts.start != next || block.insts.len == 0 {
                self.wrong(
                    block.block,
                    "has no instructions of its own, or not directly behind those before it",
                );
            }
            next = block.insts.start + block.insts.len;
            if block.insts.range().end > list.insts.len()
                || block.edges.range().end > list.edges.len()
                || block.params.range().end > list.args.len()
            {
                self.wrong(block.block, "reaches beyond a pool");
            }
            if at > 0 && list.blocks[at - 1].cold && !block.cold {
                self.wrong(block.block, "stands behind a cold block and is not cold");
            }
        }
        if next as usize != list.insts.len() {
            self.wrong("the list", "has instructions in no block");
        }
        for (at, inst) in list.insts.iter().enumerate() {
            if inst.tile.0 as usize >= self.set.tiles.len() {
                self.wrong(format!("instruction {at}"), "is of no tile");
            }
        }
    }

    fn edges_lead_somewhere(&mut self) -> bool {
        let list = self.list;
        let is_somewhere =
            |block: Block| list.position.get(block.at()).is_some_and(|at| (*at as usize) < list.blocks.len());
        let lost = list.edges.iter().filter(|edge| !is_somewhere(edge.to));
        let n_lost = lost.map(|edge| self.wrong(edge.to, "is gone to and stands nowhere")).count();
        n_lost == 0
    }

    fn edges(&mut self) {
        let list = self.list;
        let mut preds = vec![0; list.blocks.len()];
        list.edges.iter().for_each(|edge| preds[list.position[edge.to.at()] as usize] += 1);
        if preds[0] != 0 {
            self.wrong(Graph::ENTRY, "is gone to");
        }
        for block in &list.blocks {
            let edges = list.edges(block);
            for edge in edges {
                let target = list.block(edge.to);
                let params = &list.args[target.params.range()];
                let args = &list.args[edge.args.range()];
                let ty = |vreg: &Vreg| list.vregs[vreg.at()].ty;
                if !args.iter().map(ty).eq(params.iter().map(ty)) {
                    let problem = format!("the edge to {} brings {args:?} for {params:?}", edge.to);
                    self.wrong(block.block, problem);
                }
                let position = list.position[edge.to.at()] as usize;
                if edges.len() > 1 && (preds[position] > 1 || !params.is_empty()) {
                    self.wrong(block.block, format!("the edge to {} is critical", edge.to));
                }
            }
        }
    }

    fn insts(&mut self) {
        for block in &self.list.blocks {
            let mut flag = false;
            if !block.uses_frame && block.insts.range().any(|at| self.uses_frame(at)) {
                self.wrong(block.block, "uses the frame, and does not say so");
            }
            for at in block.insts.range() {
                let info = self.info(at);
                let place = || format!("{}: {at} {}", block.block, info.name);
                match (flag, info.takes_flag) {
                    (true, false) => self.wrong(place(), "does not consume the flag before it"),
                    (false, true) => self.wrong(place(), "has no flag before it"),
                    (true, true) if !self.is_fed(at) => {
                        self.wrong(place(), "is not fed by the flag before it")
                    }
                    _ => {}
                }
                flag = info.result == Symbol::Flag;
                self.operands(block, at, info);
                self.satisfiable(block, at, info);
            }
            if flag {
                self.wrong(block.block, "closes with a flag");
            }
        }
    }

    /// Whether an instruction needs the function's frame.
    fn uses_frame(&self, at: usize) -> bool {
        let node = self.list.insts[at].node;
        let comes_back = || {
            let op = self.graph.vocab.info(self.graph.node(node).op);
            op.is_call() && !op.props.contains(Props::ENDS)
        };
        self.info(at).framed
            || self.list.state(at).is_some()
            || self.list.faults.iter().any(|fault| fault.inst.at() == at)
            || node.is_some() && comes_back()
    }

    /// Compares an instruction's operands with the description of its tile.
    fn operands(&mut self, block: &TileBlock, at: usize, info: &TileInfo) {
        let inst = &self.list.insts[at];
        let place = || format!("{}: {at} {}", block.block, info.name);
        let operands = self.list.operands(at);
        let imms = self.list.imms(at).len();
        if imms != info.imms as usize {
            self.wrong(place(), format!("has {imms} constants, its tile takes {}", info.imms));
        }
        if info.entry {
            // One instruction defines all values that exist at entry.
            let first = block.block == Graph::ENTRY && at == block.insts.range().start;
            let fixed = |operand: &Operand| {
                operand.role == Role::Def && matches!(operand.constraint, Constraint::Fixed(_))
            };
            if !first || !operands.iter().all(fixed) {
                self.wrong(
                    place(),
                    "is there at entry, but not as results in fixed registers before all else",
                );
            }
            return;
        }
        let call = inst.node.is_some() && self.graph.call(inst.node).is_some();
        let state = if inst.node.is_some() { self.graph.state(inst.node) } else { None };
        let second = operands.get(1).filter(|operand| call && operand.role == Role::Def);
        let results = info.result.class().is_some() as usize + second.is_some() as usize;
        let described = results + info.uses.len() + info.temps.len();
        if operands.len() < described || operands.len() > described && !call && state.is_none() {
            self.wrong(place(), format!("has {} operands, its tile describes {described}", operands.len()));
            return;
        }
        let (out, rest) = operands.split_at(results);
        let (uses, rest) = rest.split_at(info.uses.len());
        let (arguments, temps) = rest.split_at(rest.len() - info.temps.len());
        let class = |operand: &Operand| self.list.vregs[operand.vreg.at()].ty.class();
        let mut problems = Vec::new();
        if second.is_some_and(|second| !matches!(second.constraint, Constraint::Fixed(_))) {
            problems.push("its second result is in no fixed register".to_string());
        }
        if let [out, ..] = out {
            let placed = out.constraint == info.out || call && matches!(out.constraint, Constraint::Fixed(_));
            if out.role != info.role || !placed || Some(class(out)) != info.result.class() {
                problems.push("its result is not as described".to_string());
            }
        }
        for (n, (operand, described)) in uses.iter().zip(info.uses).enumerate() {
            let same = operand.role == described.role && operand.constraint == described.constraint;
            if !same || class(operand) != described.class {
                problems.push(format!("operand {n} is not as described"));
            }
        }
        if let Some((state, registers)) = state {
            let kept = self.list.states.get(self.graph.node(inst.node).imm as usize);
            let saved = kept.map_or(&[][..], |kept| &self.list.saved[kept.saved.range()]);
            let of_operands = saved.iter().filter(|saved| saved.value == SavedValue::Operand).count();
            let is_told = kept.is_some_and(|kept| kept.to == state.to)
                && saved.iter().map(|saved| saved.to).eq(registers.iter().copied());
            if !is_told || arguments.len() != of_operands + 1 {
                problems.push("its state is not that of its node".to_string());
            }
        }
        for argument in arguments {
            let outside = |unit: u16| unit >= self.list.out_args;
            match argument.constraint {
                Constraint::Fixed(reg) if call && reg.class() == class(argument) => {}
                Constraint::OutArg(unit) if call && !outside(unit.number()) => {}
                Constraint::Anywhere if state.is_some() => {}
                _ => problems.push(format!("argument {} is not where conventions put one", argument.vreg)),
            }
        }
        for (temp, described) in temps.iter().zip(info.temps) {
            let used = self.list.operands.iter().filter(|operand| operand.vreg == temp.vreg).count();
            if temp.role != Role::Temp || class(temp) != *described || used != 1 {
                problems.push(format!("scratch {} is not as described", temp.vreg));
            }
        }
        problems.into_iter().for_each(|problem| self.wrong(place(), problem));
    }

    /// Whether, in the graph, an instruction consumes the flag that the instruction before it produces.
    fn is_fed(&self, at: usize) -> bool {
        let (maker, user) = (self.list.insts[at - 1].node, self.list.insts[at].node);
        // The consumer's pattern covers the nodes in between.
        let mut below = vec![user];
        for _ in 0..=MAX_DEPTH {
            below = below.iter().flat_map(|node| self.graph.inputs(*node)).copied().collect();
            below.sort_unstable();
            below.dedup();
            if below.contains(&maker) {
                return true;
            }
        }
        false
    }

    /// Checks that some choice of registers meets the constraints: fixed registers have the operand's class, belong to no
    /// other operand at the same time, and are not clobbered while they are needed.
    fn satisfiable(&mut self, block: &TileBlock, at: usize, info: &TileInfo) {
        let operands = self.list.operands(at);
        let clobbers = self.list.insts[at].clobbers;
        let place = || format!("{}: {at} {}", block.block, info.name);
        if !info.clobbers.without(clobbers).is_empty() {
            self.wrong(place(), "keeps what its tile destroys");
        }
        for (number, operand) in operands.iter().enumerate() {
            let class = self.list.vregs[operand.vreg.at()].ty.class();
            match operand.constraint {
                Constraint::Fixed(reg) => {
                    if reg.class() != class {
                        self.wrong(
                            place(),
                            format!("{} is fixed in a register of another class", operand.vreg),
                        );
                    }
                    if clobbers.contains(reg) && is_late(operand.role) && !is_def(operand) {
                        self.wrong(place(), format!("{} is fixed in what is destroyed", operand.vreg));
                    }
                    let collides = |other: &&Operand| {
                        let same_value = other.vreg == operand.vreg && !is_def(other) && !is_def(operand);
                        other.constraint == operand.constraint
                            && !same_value
                            && overlap(other.role, operand.role)
                    };
                    // A value that exists at entry may be in several virtual registers.
                    if !info.entry && operands[number + 1..].iter().any(|other| collides(&other)) {
                        self.wrong(place(), format!("{} is fixed where another operand is", operand.vreg));
                    }
                }
                Constraint::Tied(to) => {
                    let to = operands.get(to as usize).filter(|to| to.role == Role::Use);
                    let ty = to.map(|to| self.list.vregs[to.vreg.at()].ty.class());
                    if ty != Some(class) || !is_def(operand) {
                        self.wrong(place(), format!("{} is tied to what it cannot be tied to", operand.vreg));
                    }
                }
                Constraint::Reg | Constraint::Any | Constraint::Anywhere | Constraint::OutArg(_) => {}
            }
        }
    }

    /// Checks that each virtual register is written once, and before each use on every path to it.
    fn registers(&mut self) {
        let list = self.list;
        let (n_vregs, n_blocks) = (list.vregs.len(), list.blocks.len());
        let mut written = vec![BitSet::new(n_vregs); n_blocks];
        let mut ever = BitSet::new(n_vregs);
        for (at, block) in list.blocks.iter().enumerate() {
            let params = list.args[block.params.range()].iter().copied();
            let operands = block.insts.range().flat_map(|inst| list.operands(inst));
            let defs = operands.filter(|operand| is_def(operand)).map(|operand| operand.vreg);
            for vreg in params.chain(defs) {
                if !ever.insert(vreg.at()) {
                    self.wrong(block.block, format!("writes {vreg} again"));
                }
                written[at].insert(vreg.at());
            }
        }
        let mut before = vec![BitSet::full(n_vregs); n_blocks];
        before[0].clear();
        let mut changed = true;
        while core::mem::take(&mut changed) {
            for (at, block) in list.blocks.iter().enumerate() {
                let mut after = before[at].clone();
                after.unite(&written[at]);
                for edge in list.edges(block) {
                    changed |= before[list.position[edge.to.at()] as usize].intersect(&after);
                }
            }
        }
        for (at, block) in list.blocks.iter().enumerate() {
            self.uses(block, before[at].clone());
        }
    }

    fn uses(&mut self, block: &TileBlock, mut written: BitSet) {
        let list = self.list;
        for param in &list.args[block.params.range()] {
            written.insert(param.at());
        }
        let mut unwritten: Vec<(Block, Vreg)> = Vec::new();
        for inst in block.insts.range() {
            for operand in list.operands(inst) {
                if matches!(operand.role, Role::Use | Role::LateUse) && !written.contains(operand.vreg.at()) {
                    unwritten.push((block.block, operand.vreg));
                }
            }
            for operand in list.operands(inst).iter().filter(|operand| is_def(operand)) {
                written.insert(operand.vreg.at());
            }
        }
        for edge in list.edges(block) {
            let args = list.args[edge.args.range()].iter();
            unwritten.extend(args.filter(|arg| !written.contains(arg.at())).map(|arg| (edge.to, *arg)));
        }
        for (place, vreg) in unwritten {
            self.wrong(place, format!("{vreg} is read and may not have been written"));
        }
    }
}

/// Whether an operand is in its register when results are written.
fn is_late(role: Role) -> bool {
    role != Role::Use
}

/// Whether two operands of one instruction are in registers at the same time.
fn overlap(a: Role, b: Role) -> bool {
    let is_early = |role| role != Role::Def;
    is_early(a) && is_early(b) || is_late(a) && is_late(b)
}

fn is_def(operand: &Operand) -> bool {
    matches!(operand.role, Role::Def | Role::EarlyDef)
}
