//! Liveness of VM registers, and the registers that loops write.
//!
//! In: decoded bytecode. Out: for each *basic block* of bytecode the registers that are live at its start, so that a
//! graph's block gets parameters for no others. Cost: linear, with one word for 64 registers in each basic block.
//!
//! A basic block starts at each jump target. A bytecode whose template has blocks of its own, or does not simply fall
//! through to the next bytecode, is a basic block of its own. The registers that a template reads, and those that it has
//! definitely written when it falls through, are found once for each opcode. The result is conservative: it may contain
//! registers that are dead, but lacks none that is live.
//!
//! A bytecode that lets other code see registers in their slots is a basic block of its own, too: at its calls the registers are in their
//! slots that are live behind them, and no others. Only code with the frame's address sees them all.
//!
//! A loop is the code from a target of back edges to the last back edge, extended until no later code jumps into it. A
//! register that nothing in the loop writes keeps its value all the way around, if control enters the loop only at its
//! first bytecode. [`super::registers`] checks that.

use super::FunctionSource;
use super::calls::{self, QuickAndSlow};
use super::decode::Decoded;
use super::effects::{ByOpcode, Effects};
use super::known_steps::steps_of_bytecode;
use super::onward::{NamedOperands, Onward, OperandUse, Way, bits};
use super::registers::{LoopWrites, RegisterValues};
use crate::ir::bits::{BitSet, BitSets, Bits};
use crate::ir::bytecode::{OpcodeInfo, OperandKind, run_of};
use crate::ir::grouped::Grouped;
use crate::ir::template::{Step, Template};
use crate::vocab::Vocabulary;

/// After this many rounds, liveness assumes that every register is live everywhere. As many rounds as loops are nested
/// suffice, unless jumps lead back and forth.
const MAX_ROUNDS: usize = 12;

const NONE: u32 = u32::MAX;

/// What a template does with registers, and who sees them meanwhile.
#[derive(Clone, Copy, Debug)]
struct TemplateAccess {
    effects: Effects,
    /// Where other code may see registers in their slots, and what the template does with its operands from there on; and if its slow path
    /// is left out.
    observing: QuickAndSlow,
    /// A site without whose cases that is so on the slow path only.
    observes_for: Option<u8>,
    observed: Onward,
    observed_quickly: Onward,
    /// Whether it is a basic block of its own.
    is_split: bool,
}

impl TemplateAccess {
    fn of(vocab: Vocabulary, template: &Template, opcode: &OpcodeInfo) -> TemplateAccess {
        let effects = Effects::of(template, opcode);
        let (mut observing, mut observes_for) = (QuickAndSlow::default(), None);
        let (mut observed, mut observed_quickly) = (Onward::default(), Onward::default());
        if template.observes() {
            observing = calls::observing(template);
            observes_for = observing.quick.then(|| calls::observes_for(vocab, template)).flatten();
            OperandUse { observed, observed_quickly, .. } = OperandUse::of(template);
        }
        let exits = template.steps.iter().any(|step| matches!(step, Step::Exit { .. }));
        let observes = observing != QuickAndSlow::default();
        let is_split =
            template.blocks > 1 || effects.has_labels || exits || observes || !effects.falls_through;
        TemplateAccess { effects, observing, observes_for, observed, observed_quickly, is_split }
    }
}

/// Whether code lets other code see registers in their slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Observed {
    #[default]
    Never,
    /// On slow paths only.
    Slowly,
    Quickly,
}

/// The liveness of registers; memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    access: ByOpcode<TemplateAccess>,
    /// The first bytecode of each basic block, and at the end the number of bytecodes.
    first: Vec<u32>,
    /// For each bytecode that starts a basic block the block's number.
    number: Vec<u32>,
    /// Sets of registers, one for each basic block: definitely written, written on some path, live at the start. The last of
    /// these is at first those that the block itself reads before it writes them.
    kills: BitSets,
    writes: BitSets,
    needed: BitSets,
    /// For each basic block whether its registers are seen.
    observed: Vec<Observed>,
    /// Whether some template in the function takes the frame's address. Whoever has that may look at all registers whenever a call
    /// observes.
    any_exposes: bool,
    /// For each basic block that is a loop's head, the index of the loop's set in `loop_writes`.
    loop_of: Vec<u32>,
    loop_writes: BitSets,
    loop_observed: Vec<Observed>,
    /// Loops that no other loop contains so far: first basic block, last basic block, set.
    outer_loops: Vec<(usize, usize, usize)>,
    /// All registers that are used, and those that are stored where the frame is observed.
    used: BitSet,
    stored: BitSet,
    /// For each frame, if functions are inlined: the registers that are used in it, or in those around it.
    visible: BitSets,
    /// The registers that may be carried between the blocks of the template being linked, and those that are alive behind its calls
    /// that observe.
    within: BitSet,
    shown: BitSet,
    /// Those that a template has written where it ends.
    killed: BitSet,
    /// For each basic block whether control may fall through to the next, and its other successors.
    falls_through: Vec<bool>,
    succs: Grouped<u32>,
    /// For each basic block whether a later one jumps back to it.
    is_head: BitSet,
}

impl Liveness {
    /// Computes the liveness of a function. `last_jump_to` returns the last bytecode that jumps to one, if any does. If
    /// `all`, every register that is used is live everywhere.
    pub(super) fn find(
        &mut self,
        source: &FunctionSource<'_>,
        code: &Decoded,
        last_jump_to: impl Fn(usize) -> Option<u32>,
        registers: &RegisterValues,
        all: bool,
    ) {
        self.learn_templates(source, code);
        let n_registers = code.plan.slots() as usize;
        self.used.reset(n_registers);
        self.stored.reset(n_registers);
        let is_value = |register: &u32| registers.is_used(*register) && !registers.is_captured(*register);
        for register in (0..source.slots).filter(is_value) {
            self.used.insert(register as usize);
            if registers.is_dirty(register) {
                self.stored.insert(register as usize);
            }
        }
        self.find_visible(code, registers, n_registers);
        self.find_basic_blocks(source, code, &last_jump_to);
        if all || !self.find_needed(source, code) {
            for basic_block in 0..self.first.len() - 1 {
                let Liveness { first, needed, visible, used, .. } = &mut *self;
                let visible = match code.plan.is_empty() {
                    true => used.view(),
                    false => visible.set(code.plan.frame(first[basic_block] as usize) as usize),
                };
                needed.set_mut(basic_block).unite(&visible);
            }
        }
        for &register in source.captured {
            // They are no values that control carries along.
            let basic_blocks = 0..self.first.len() - 1;
            basic_blocks.for_each(|basic_block| self.needed.set_mut(basic_block).remove(register as usize));
        }
        self.find_loops(n_registers, &last_jump_to);
    }

    /// The registers that are live at a bytecode that starts a basic block.
    pub(super) fn needed(&self, at: usize) -> Bits<'_> {
        self.needed.set(self.number[at] as usize)
    }

    /// Whether a register is live at a bytecode that starts a basic block.
    pub(super) fn is_needed(&self, register: u32, at: usize) -> bool {
        self.needed(at).contains(register as usize)
    }

    /// All registers that are used in the function that a bytecode belongs to, and in those in which it is inlined.
    pub(super) fn visible(&self, code: &Decoded, at: usize) -> Bits<'_> {
        match code.plan.is_empty() {
            true => self.used.view(),
            false => self.visible.set(code.plan.frame(at) as usize),
        }
    }

    fn find_visible(&mut self, code: &Decoded, registers: &RegisterValues, n_registers: usize) {
        let Liveness { visible, used, .. } = self;
        visible.reset(n_registers);
        for (frame, data) in code.plan.inlining.frames.iter().enumerate() {
            let set = visible.add();
            if frame == 0 {
                visible.set_mut(set).unite(used);
                continue;
            }
            visible.unite_but(set, core::iter::once(data.caller as usize), Bits::default());
            for register in code.plan.registers(frame as u32).filter(|at| registers.is_used(*at)) {
                visible.set_mut(set).insert(register as usize);
            }
        }
    }

    /// What the loop whose head is this bytecode does with registers.
    pub(super) fn written_in_loop(&self, at: usize) -> LoopWrites<'_> {
        let set = self.loop_of[self.number[at] as usize] as usize;
        LoopWrites { registers: self.loop_writes.set(set), observed: self.loop_observed[set] }
    }

    /// What a bytecode with blocks of its own does with registers.
    pub(super) fn written_by(&self, at: usize) -> LoopWrites<'_> {
        let basic_block = self.number[at] as usize;
        LoopWrites { registers: self.writes.set(basic_block), observed: self.observed[basic_block] }
    }

    /// Whether a bytecode lets other code see registers in their slots.
    pub(super) fn is_observed(&self, at: usize) -> bool {
        let basic_block = self.number[at];
        basic_block != NONE && self.observed[basic_block as usize] != Observed::Never
    }

    /// Whether all registers have to be in their slots while a bytecode [is observed](Self::is_observed).
    pub(super) fn shows_all(&self, at: usize) -> bool {
        self.any_exposes && self.is_observed(at)
    }

    /// Finds the registers that may have to be carried between the blocks of a bytecode's template.
    #[inline]
    pub(super) fn find_within(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize) {
        let access = *self.access.known(code.opcode(at));
        let Liveness { within, needed, writes, number, .. } = self;
        let basic_block = number[at] as usize;
        within.reset(code.plan.slots() as usize);
        within.unite(&needed.set(basic_block));
        within.unite(&writes.set(basic_block));
        if access.effects.falls_through {
            within.unite(&needed.set(number[code.plan.next(at)] as usize));
        }
        for to in code.targets(source, at) {
            within.unite(&needed.set(number[to] as usize));
        }
    }

    /// Finds the registers that are alive behind the calls of a bytecode that observe.
    pub(super) fn find_shown(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize) -> Bits<'_> {
        let Liveness { access, shown, killed, needed, number, .. } = self;
        for set in [&mut *shown, &mut *killed] {
            set.reset(code.plan.slots() as usize);
        }
        let alive_at = |way| {
            let place = match way {
                Way::Next => code.plan.next(at),
                Way::Here => at,
                Way::To(to) => to as usize,
            };
            Some(needed.set(number[place] as usize))
        };
        let operands = NamedOperands::of(source, code, at);
        let access = access.known(code.opcode(at));
        let onward = match code.plan.lacks_slow_path(at) {
            Some(true) => &access.observed_quickly,
            _ => &access.observed,
        };
        onward.add_alive(&operands, alive_at, (shown, killed));
        // Each caller waits for its result, even if its callee turns out never to return.
        for (to, result) in ways_back(code, at) {
            killed.clear();
            if let Some(result) = result {
                killed.insert(result);
            }
            shown.unite_but(&needed.set(number[to] as usize), killed);
        }
        shown.view()
    }

    /// Whether bytecodes with this opcode have labels as operands.
    pub(super) fn may_jump(&self, opcode: usize) -> bool {
        self.access.known(opcode).effects.has_labels
    }

    /// The last result of [`find_within`](Self::find_within).
    pub(super) fn within(&self) -> Bits<'_> {
        self.within.view()
    }

    fn learn_templates(&mut self, source: &FunctionSource<'_>, code: &Decoded) {
        self.any_exposes = false;
        for opcode in (0..code.len()).map(|at| code.opcode(at)) {
            let find = |template: &_, info: &_| TemplateAccess::of(source.vocab, template, info);
            self.any_exposes |= self.access.of(source, opcode, find).effects.exposes;
        }
    }

    fn find_basic_blocks(
        &mut self,
        source: &FunctionSource<'_>,
        code: &Decoded,
        last_jump_to: &impl Fn(usize) -> Option<u32>,
    ) {
        let n_code = code.len();
        self.first.clear();
        for sets in [&mut self.kills, &mut self.writes, &mut self.needed] {
            sets.reset(code.plan.slots() as usize);
        }
        self.observed.clear();
        self.number.clear();
        self.number.resize(n_code, NONE);
        let mut starts = true;
        for at in 0..n_code {
            let access = *self.access.known(code.opcode(at));
            if starts || access.is_split || last_jump_to(at).is_some() {
                self.number[at] = self.first.len() as u32;
                self.first.push(at as u32);
                self.observed.push(Observed::Never);
                for sets in [&mut self.kills, &mut self.writes, &mut self.needed] {
                    sets.add();
                }
            }
            starts = access.is_split || code.plan.has_calls(at);
            // The operands of unreachable bytecode may name no registers.
            if !code.plan.is_unreached(source, at) {
                self.add(source, code, at, access);
            }
        }
        self.first.push(n_code as u32);
        // No register is live after the last basic block.
        self.needed.add();
    }

    /// Adds the effects of a bytecode to the sets of the last basic block.
    fn add(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize, access: TemplateAccess) {
        let raws = code.operands(at);
        if access.effects.has_runs {
            self.add_runs(source, code, at, access);
        }
        let (mut reads, mut kills) = (self.needed.last_mut(), self.kills.last_mut());
        let mut writes = self.writes.last_mut();
        let lacks_slow_path = code.plan.lacks_slow_path(at).unwrap_or(false);
        let owner = code.plan.owner(source, at).0;
        let has_cases = |operand: u8| owner.n_cases(raws[operand as usize]) != Some(0);
        let observing = if lacks_slow_path && !access.observes_for.is_none_or(has_cases) {
            QuickAndSlow::default()
        } else if access.observing.quick && (code.plan.has_calls(at) || code.plan.frame(at) > 0) {
            // What the sites of a bytecode rule out is not there: the plan has no frame for what such calls would show.
            let calls = code.plan.templates.known(code.opcode(at));
            let reached = steps_of_bytecode(owner, (code.opcode(at), calls), raws, lacks_slow_path);
            calls.observing(|step| !reached.contains(step) || code.plan.call_of(at, step).is_some())
        } else {
            access.observing
        };
        let observed = match observing {
            QuickAndSlow { quick: true, .. } => Observed::Quickly,
            observing if observing.remains(lacks_slow_path) => Observed::Slowly,
            _ => Observed::Never,
        };
        *self.observed.last_mut().expect("it is in a basic block") = observed;
        if self.any_exposes && observed != Observed::Never {
            // They are reloaded as well.
            reads.unite_but(&self.stored, &kills);
            writes.unite(&self.used);
        }
        if code.plan.repeats(at) {
            // The arguments, and whatever a call sets the other registers to.
            writes.unite(&self.used);
        }
        if !access.effects.has_runs {
            for operand in bits(access.effects.reads) {
                reads.insert_but(raws[operand] as usize, &kills);
            }
        }
        for operand in bits(access.effects.writes) {
            writes.insert(raws[operand] as usize);
        }
        for operand in bits(access.effects.kills) {
            kills.insert(raws[operand] as usize);
        }
        if !code.plan.is_empty() {
            self.add_inlined(code, at, access);
        }
    }

    /// Adds what happens where an inlined function starts, whose registers all get values, and where it returns.
    fn add_inlined(&mut self, code: &Decoded, at: usize, access: TemplateAccess) {
        let mut kills = self.kills.last_mut();
        for register in code.plan.calls(at).flat_map(|call| code.plan.registers(call)) {
            kills.insert(register as usize);
        }
        // Where control comes back to a caller its result has been written.
        let is_seen = self.observed.last().is_some_and(|observed| *observed != Observed::Never);
        if access.effects.returns || is_seen {
            for result in ways_back(code, at).filter_map(|(_, result)| result) {
                kills.insert(result);
            }
        }
    }

    /// Adds the reads of a bytecode with runs of registers, and its writes to those runs.
    fn add_runs(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize, access: TemplateAccess) {
        let (mut reads, kills) = (self.needed.last_mut(), self.kills.last_mut());
        let mut writes = self.writes.last_mut();
        let infos = source.opcodes[code.opcode(at)].operands;
        let raws = code.operands(at);
        for (operand, (info, &raw)) in core::iter::zip(infos, raws).enumerate() {
            let is_read = access.effects.reads & 1 << operand != 0;
            if !matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut) {
                if is_read {
                    reads.insert_but(raw as usize, &kills);
                }
            } else {
                for register in run_of(raw) {
                    if is_read || self.stored.contains(register) {
                        reads.insert_but(register, &kills);
                    }
                    if info.kind == OperandKind::RegsMut {
                        writes.insert(register);
                    }
                }
            }
        }
    }

    /// Finds the registers that are live at the start of each basic block. Returns false if that takes too many rounds.
    fn find_needed(&mut self, source: &FunctionSource<'_>, code: &Decoded) -> bool {
        self.find_succs(source, code);
        let Liveness { needed, kills, succs, is_head, falls_through, .. } = self;
        for _ in 0..MAX_ROUNDS {
            // Only a loop's head has predecessors that are visited before it in a round.
            let mut head_changed = false;
            for basic_block in (0..falls_through.len()).rev() {
                let next = falls_through[basic_block].then_some(basic_block + 1);
                let others = succs.group(basic_block).iter().map(|to| *to as usize);
                let all = next.into_iter().chain(others);
                let changed = needed.unite_but(basic_block, all, kills.set(basic_block));
                head_changed |= changed && is_head.contains(basic_block);
            }
            if !head_changed {
                return true;
            }
        }
        false
    }

    /// Finds the successors of each basic block.
    fn find_succs(&mut self, source: &FunctionSource<'_>, code: &Decoded) {
        let Liveness { access, first, number, succs, is_head, falls_through, observed, .. } = self;
        let n_basic_blocks = first.len() - 1;
        succs.start(0);
        falls_through.clear();
        is_head.reset(n_basic_blocks);
        for basic_block in 0..n_basic_blocks {
            let last = first[basic_block + 1] as usize - 1;
            let access = access.known(code.opcode(last));
            let is_next = code.plan.next(last) == last + 1;
            falls_through.push(access.effects.falls_through && is_next);
            let jumps = access.effects.has_labels.then(|| code.targets(source, last)).into_iter().flatten();
            let jumps = jumps.map(|to| number[to]);
            match code.plan.is_empty() {
                true => succs.add_group(jumps),
                false => {
                    let inlined = ways_of_inlined(code, last, access);
                    // A call that observes sees what its callers read when control comes back, even if that never happens.
                    let is_seen = observed[basic_block] != Observed::Never;
                    let seen = is_seen.then(|| ways_back(code, last)).into_iter().flatten();
                    let inlined = inlined.chain(seen.map(|(to, _)| to));
                    succs.add_group(jumps.chain(inlined.map(|to| number[to])))
                }
            }
            for &to in succs.group(basic_block) {
                if to as usize <= basic_block {
                    is_head.insert(to as usize);
                }
            }
        }
    }

    /// Finds the registers that loops write, the loops that begin last first: a loop includes the loops inside it, and
    /// those that it overlaps.
    fn find_loops(&mut self, n_registers: usize, last_jump_to: &impl Fn(usize) -> Option<u32>) {
        let Liveness { first, writes, observed, loop_of, loop_writes, loop_observed, outer_loops, .. } = self;
        let n_basic_blocks = first.len() - 1;
        loop_of.clear();
        loop_of.resize(n_basic_blocks, NONE);
        loop_writes.reset(n_registers);
        loop_observed.clear();
        outer_loops.clear();
        for basic_block in (0..n_basic_blocks).rev() {
            let at = first[basic_block];
            let Some(from) = last_jump_to(at as usize).filter(|from| *from >= at) else { continue };
            let set = loop_writes.add();
            let mut seen = Observed::Never;
            loop_of[basic_block] = set as u32;
            // A bytecode that jumps ends a basic block, or is one.
            let mut last = first.partition_point(|first| *first <= from) - 1;
            let mut next = basic_block;
            while next <= last {
                if let Some((_, end, inner)) = outer_loops.pop_if(|(first, ..)| *first <= next) {
                    last = last.max(end);
                    next = next.max(end + 1);
                    loop_writes.unite_but(set, core::iter::once(inner), Bits::default());
                    seen = seen.max(loop_observed[inner]);
                } else {
                    loop_writes.set_mut(set).unite(&writes.set(next));
                    seen = seen.max(observed[next]);
                    next += 1;
                }
            }
            loop_observed.push(seen);
            outer_loops.push((basic_block, last, set));
        }
    }
}

/// Where the callers around an inlined function go on, each with the register that has its result then.
fn ways_back(code: &Decoded, at: usize) -> impl Iterator<Item = (usize, Option<usize>)> + use<'_> {
    let ways = code.plan.inlining.numbers_around(code.plan.frame(at)).map(|frame| code.plan.way_back(frame));
    ways.map(|(to, result)| (to, result.map(|(register, _)| register as usize)))
}

/// Where control goes from a bytecode besides its labels and the next one in the list, where functions are inlined.
fn ways_of_inlined<'a>(
    code: &'a Decoded,
    at: usize,
    access: &TemplateAccess,
) -> impl Iterator<Item = usize> + use<'a> {
    let frame = code.plan.frame(at);
    let back = (access.effects.returns && frame > 0).then(|| code.plan.way_back(frame).0);
    let next = code.plan.next(at);
    let behind = (access.effects.falls_through && next != at + 1).then_some(next);
    let inside = code.plan.calls(at).map(|call| code.plan.first(call));
    back.into_iter().chain(behind).chain(inside)
}
