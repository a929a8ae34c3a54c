//! Link a whole function: the templates of all its bytecodes in order.
//!
//! In: the bytecode of a function. Out: its graph, with the values of registers carried along every edge. A block starts at
//! each jump target, and after each exit that is not part of a template.

use super::call_entry::MOVED_ON;
use super::cursor::Cursor;
use super::link::Linker;
use super::values::{Needs, ValueOperands};
use super::{FunctionScratch, FunctionSource};
use crate::ir::bytecode::{OperandKind, run_of};
use crate::ir::graph::{Graph, Heat, Pred};
use crate::ir::index::Block;
use crate::ir::template::{Resume, Step};
use crate::pass::chaos::Chaos;
use crate::vocab::{Op, Sig, Type};

/// Finds the blocks' starts, the written registers, and each register's home type. Adds the blocks.
pub(super) fn scan(
    scratch: &mut FunctionScratch,
    source: &FunctionSource<'_>,
    graph: &mut Graph,
    chaos: &Chaos,
) {
    let n_code = scratch.code.plan.len(source);
    scratch.leaders.clear();
    scratch.leaders.resize(n_code, Block::NONE);
    scratch.last_jump.clear();
    scratch.last_jump.resize(n_code, 0);
    scratch.dead_loops.start(n_code);
    scratch.registers.clear(scratch.code.plan.slots(), !source.functions.only_read);
    scratch.known_kinds.clear();
    scratch.code.clear();
    let entry = graph.add_block();
    debug_assert_eq!(entry, Graph::ENTRY);
    let first = scratch.code.plan.place_of(source.entry as usize);
    scratch.leaders[first] = graph.add_block();
    for at in 0..n_code {
        scan_bytecode(scratch, source, graph, at);
    }
    if let Some(last) = scratch.code.plan.last_repeat() {
        scratch.last_jump[0] = scratch.last_jump[0].max(last);
    }
    lead_inlined(scratch, graph);
    keep_arguments_whole(scratch, source);
    let FunctionScratch { registers, flushes, .. } = &mut *scratch;
    registers.settle(if source.call_entry.is_some() { 0 } else { source.slots }, source.captured);
    flushes.clear();
    flushes.extend((0..source.slots).filter(|register| registers.is_dirty(*register)));
    let is_jumped_to_first = scratch.is_jumped_to(source, 0);
    let FunctionScratch { liveness, code, registers, leaders, last_jump, guards, .. } = scratch;
    let last_jump_to = |at: usize| {
        let is_jumped_to = if at == 0 { is_jumped_to_first } else { leaders[at].is_some() };
        is_jumped_to.then(|| last_jump[at])
    };
    let mut kinds = (0..n_code).map(|at| source.templates[code.opcode(at)].kinds);
    graph.kinds = kinds.find(|kinds| !kinds.is_empty()).unwrap_or_default();
    guards.find(source, n_code, !graph.kinds.is_empty(), last_jump_to);
    // Chaos may exit anywhere, and its exits store everything.
    liveness.find(source, code, last_jump_to, registers, chaos.is_some());
}

/// Notes the types as which a bytecode uses registers, and its jump targets.
#[inline]
fn scan_bytecode(scratch: &mut FunctionScratch, source: &FunctionSource<'_>, graph: &mut Graph, at: usize) {
    let FunctionScratch { code, registers, leaders, last_jump, .. } = scratch;
    let mut lead = |to: usize| {
        if !leaders[to].is_some() {
            leaders[to] = graph.add_block();
        }
        last_jump[to] = last_jump[to].max(at as u32);
    };
    let (owner, of_owner) = code.plan.owner(source, at);
    let (opcode, raw) = owner.code.get(of_owner);
    let operands = source.opcodes[opcode].operands;
    let (raws, labels) = code.push(source, opcode, &raw[..operands.len()]);
    for (info, &raw) in core::iter::zip(operands, raws) {
        let ty = || info.scalar.map_or(Type::I64, |scalar| scalar.ty());
        match info.kind {
            OperandKind::In | OperandKind::Pop => registers.note(raw as u32, ty(), false),
            OperandKind::Out | OperandKind::InOut | OperandKind::Push => {
                registers.note(raw as u32, ty(), true);
            }
            OperandKind::Label => lead(raw as usize),
            OperandKind::Labels => labels[run_of(raw)].iter().for_each(|&to| lead(to as usize)),
            OperandKind::Regs | OperandKind::RegsMut => {
                let written = info.kind == OperandKind::RegsMut;
                run_of(raw).for_each(|register| registers.note(register as u32, Type::I64, written));
            }
            OperandKind::Imm | OperandKind::Site => {}
        }
    }
}

/// Makes blocks start where inlined functions do, and where control goes on behind them.
fn lead_inlined(scratch: &mut FunctionScratch, graph: &mut Graph) {
    let FunctionScratch { code, leaders, .. } = scratch;
    if code.plan.is_empty() {
        return;
    }
    for at in 0..leaders.len() {
        for call in code.plan.calls(at) {
            // Control may go on behind a tail call that is not made.
            for to in [code.plan.first(call), code.plan.way_back(call).0, code.plan.next(at)] {
                if leaders.get(to).is_some_and(|leader| !leader.is_some()) {
                    leaders[to] = graph.add_block();
                }
            }
        }
    }
}

/// Where others may look at frames, gives homes for all their bits to registers with arguments, whatever the function reads of them.
fn keep_arguments_whole(scratch: &mut FunctionScratch, source: &FunctionSource<'_>) {
    let FunctionScratch { code, registers, leaders, .. } = scratch;
    let of_inlined = code.plan.all_calls().map(|call| {
        let start = code.plan.registers(call).start;
        start..start + code.plan.owner_of(source, call).most_arguments()
    });
    let arguments = core::iter::once(0..source.most_arguments()).chain(of_inlined).flatten();
    let is_narrow = |register: &u32| {
        let home = registers.home(*register);
        home != Type::Void && home.bits() < Type::I64.bits()
    };
    let narrow: Vec<u32> = arguments.filter(is_narrow).collect();
    if !narrow.is_empty() && (0..leaders.len()).any(|at| source.templates[code.opcode(at)].observes()) {
        narrow.into_iter().for_each(|register| registers.widen(register));
    }
}

impl FunctionScratch {
    /// Whether a bytecode jumps back to this one.
    pub(super) fn is_head(&self, source: &FunctionSource<'_>, at: usize) -> bool {
        let is_target = self.leaders[at].is_some();
        is_target && self.last_jump[at] as usize >= at && (at > 0 || self.is_jumped_to(source, 0))
    }

    /// Whether any bytecode jumps to this one; `last_jump` cannot tell a jump by bytecode 0 from none.
    fn is_jumped_to(&self, source: &FunctionSource<'_>, at: usize) -> bool {
        self.last_jump[at] > 0 || self.code.targets(source, 0).any(|to| to == at)
    }

    /// Whether the function is entered by calls only. Otherwise it may be entered at a jump target, or at a bytecode whose
    /// template has exited to be interpreted again.
    fn is_entered_by_calls(&self, source: &FunctionSource<'_>) -> bool {
        let template = source.templates[self.code.opcode(0)];
        let is_left = |step: &Step| matches!(step, Step::Exit { to: Resume::Here });
        source.entry == 0 && !self.is_jumped_to(source, 0) && !template.steps.iter().any(is_left)
    }
}

impl Linker<'_, ValueOperands<'_>> {
    /// Links all bytecodes of a function that was [scanned](scan).
    pub(super) fn link_all(&mut self) {
        let source = self.operands.source;
        self.operands.enter(&mut self.cursor);
        let entry = self.operands.scratch.code.plan.place_of(source.entry as usize);
        for at in 0..self.operands.scratch.code.len() {
            let Linker { cursor, operands, .. } = &mut *self;
            cursor.at = at as u32;
            operands.start_bytecode();
            operands.enter_leader(cursor);
            if operands.scratch.code.plan.is_unreached(source, at) {
                cursor.block = Block::NONE;
            }
            if cursor.is_reached() && at < entry {
                operands.move_on(cursor);
            } else if cursor.is_reached() && operands.is_polled(at) {
                operands.poll(cursor);
            }
            if cursor.is_reached() {
                operands.leave_by_chance(cursor);
                self.link_bytecode();
            }
            let FunctionScratch { liveness, code, .. } = &*self.operands.scratch;
            if liveness.may_jump(code.opcode(at)) || code.plan.repeats(at) {
                self.operands.seal_loops(&mut self.cursor);
            }
        }
        debug_assert!(!self.cursor.is_reached(), "verified code does not fall off its end");
    }

    #[inline]
    fn link_bytecode(&mut self) {
        let source = self.operands.source;
        let at = self.cursor.at as usize;
        let template = source.templates[self.operands.scratch.code.opcode(at)];
        let FunctionScratch { liveness, code, registers, shown, .. } = &mut *self.operands.scratch;
        let is_observed = liveness.is_observed(at);
        if template.blocks > 1 || is_observed {
            liveness.find_within(source, code, at);
            registers.fill(self.cursor.graph, liveness.within(), liveness.needed(at), self.cursor.at);
        }
        if is_observed {
            let alive = liveness.find_shown(source, code, at).into_iter().map(|register| register as u32);
            shown.clear();
            shown.extend(alive.filter(|register| code.plan.shows(at, *register)));
        }
        if template.blocks > 1 {
            self.operands.store_shared(&mut self.cursor);
        }
        self.link(template);
        self.operands.finish_bytecode(&mut self.cursor);
    }
}

impl ValueOperands<'_> {
    /// Makes the entry lead to the bytecode where the function is entered. [`end_entry`] ends the entry, but this edge must
    /// come first.
    fn enter(&mut self, cursor: &mut Cursor<'_>) {
        let at = self.scratch.code.plan.place_of(self.source.entry as usize);
        let leader = self.scratch.leaders[at];
        let is_split = self.is_guarded(0, at) || self.enters_observed_loop(0, at);
        let first = if is_split { cursor.graph.add_block() } else { leader };
        cursor.graph.blocks[Graph::ENTRY.at()].succs.push(first);
        cursor.graph.blocks[first.at()].preds.push(Pred { block: Graph::ENTRY, succ: 0 });
        match self.source.call_entry {
            Some(call_entry) => self.take_arguments(cursor, call_entry),
            None => {
                let is_called = self.scratch.is_entered_by_calls(self.source);
                let first_zero = if is_called { self.source.arguments } else { None };
                let FunctionScratch { liveness, registers, .. } = &mut *self.scratch;
                registers.enter(cursor.graph, liveness.needed(at), first_zero);
            }
        }
        self.carry(cursor, first, Needs::At(at));
        if is_split {
            cursor.at = at as u32;
            self.start_split(cursor, first, Needs::At(at));
            self.prepare_loop(cursor, 0, at);
            self.jump(cursor, leader, Needs::At(at));
        }
    }

    /// Does, on an edge to a bytecode, what is done in front of the loop that it enters. All bytecodes before `first` are outside of the
    /// loop.
    pub(super) fn prepare_loop(&mut self, cursor: &mut Cursor<'_>, first: usize, to: usize) {
        self.guard_loop(cursor, first, to);
        self.store_for_loop(cursor, first, to);
    }

    /// Starts a block at a jump target.
    #[inline]
    fn enter_leader(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.at as usize;
        let leader = self.scratch.leaders[at];
        if !leader.is_some() {
            return;
        }
        if cursor.is_reached() {
            self.prepare_loop(cursor, at, at);
            self.jump(cursor, leader, Needs::At(at));
        }
        let is_loop = self.scratch.is_head(self.source, at);
        let has_edges = !cursor.graph.block(leader).preds.is_empty();
        if is_loop && !has_edges && self.scratch.is_dead_loop(cursor.graph, at) {
            self.may_be_unreached = true;
            return cursor.block = Block::NONE;
        }
        let FunctionScratch { liveness, registers, known_kinds, .. } = &mut *self.scratch;
        known_kinds.start(cursor.graph, leader, is_loop);
        if is_loop {
            self.may_be_unreached |= !has_edges;
            let written = liveness.written_in_loop(at);
            registers.start_loop(cursor.graph, leader, liveness.needed(at), written, cursor.at);
        } else if has_edges {
            registers.start_block(cursor.graph, leader, liveness.needed(at), cursor.at);
        }
        // If there is no edge, only unreachable code jumps here.
        cursor.block = if is_loop || has_edges { leader } else { Block::NONE };
    }

    /// Leaves a function that was entered in an inner loop, where control reaches an earlier bytecode. In this graph the
    /// heads of the outer loops have no edges from outside, so it does not have the outer loops' shape. The engine enters
    /// the function here again, with code that has that shape.
    fn move_on(&mut self, cursor: &mut Cursor<'_>) {
        cursor.graph.blocks[cursor.block.at()].heat = Heat::Cold;
        self.leave_at(cursor, MOVED_ON | cursor.at as u64, Needs::At(cursor.at as usize));
    }

    /// Whether a program may be stopped here: at loop heads, and at the function's start if the program runs on fuel.
    #[inline]
    fn is_polled(&self, at: usize) -> bool {
        let starts = || {
            let (frame, of_owner) = self.scratch.code.plan.inlining.place(at as u32);
            of_owner == 0 && (frame > 0 || self.source.entry == 0)
        };
        let is_start = self.source.functions.fuel.is_some() && starts();
        is_start || self.scratch.is_head(self.source, at)
    }

    /// Continues at the next bytecode, if control reaches the template's end or has jumped there.
    #[inline]
    fn finish_bytecode(&mut self, cursor: &mut Cursor<'_>) {
        let plan = &self.scratch.code.plan;
        let at = plan.next(cursor.at as usize);
        if cursor.is_reached() && plan.has_calls(cursor.at as usize) && !self.next.is_some() {
            // The bytecodes of an inlined function stand in between.
            self.next = self.scratch.leaders[at];
        }
        let next = core::mem::replace(&mut self.next, Block::NONE);
        if next.is_some() {
            let is_leader = self.scratch.leaders.get(at) == Some(&next);
            if cursor.is_reached() {
                if is_leader {
                    self.reload_written(cursor);
                }
                self.jump(cursor, next, Needs::At(at));
            }
            if !is_leader {
                let FunctionScratch { liveness, registers, known_kinds, .. } = &mut *self.scratch;
                if !cursor.reopen(next) {
                    known_kinds.start(cursor.graph, next, false);
                    cursor.block = next;
                }
                registers.start_block(cursor.graph, next, liveness.needed(at), cursor.at);
            }
        }
        if cursor.is_reached() {
            self.reload_written(cursor);
        }
    }

    /// Seals the loops whose last back edge is this bytecode's.
    #[inline]
    fn seal_loops(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.at as usize;
        let FunctionScratch { code, liveness, registers, leaders, last_jump, .. } = &mut *self.scratch;
        for head in code.targets(self.source, at) {
            if head <= at && last_jump[head] as usize == at {
                registers.seal(cursor.graph, leaders[head], liveness.needed(head));
            }
        }
    }
}

/// Ends the entry. Nodes have been added to it until now.
pub(super) fn end_entry(graph: &mut Graph) {
    let first = graph.block(Graph::ENTRY).succs[0];
    let end = graph.add(Op::JUMP, Sig { from: Type::Void, ty: Type::Void }, &[], 0, 0);
    graph.nodes[end.at()].block = Graph::ENTRY;
    graph.blocks[Graph::ENTRY.at()].end = end;
    debug_assert_eq!(graph.block(first).preds[0].block, Graph::ENTRY);
}
