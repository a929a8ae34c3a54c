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
//! A loop is the code from a target of back edges to the last back edge, extended until no later code jumps into it. A
//! register that nothing in the loop writes keeps its value all the way around, if control enters the loop only at its
//! first bytecode. [`super::registers`] checks that.

use super::FunctionSource;
use super::decode::Decoded;
use super::registers::RegisterValues;
use crate::ir::bytecode::{OpcodeInfo, OperandKind, run_of};
use crate::ir::graph::Effect;
use crate::ir::template::{Arguments, Resume, Step, Template};
use crate::verify::Shape;
use crate::vocab::Op;

/// After this many rounds, liveness assumes that every register is live everywhere. As many rounds as loops are nested
/// suffice, unless jumps lead back and forth.
const MAX_ROUNDS: usize = 12;

const NONE: u32 = u32::MAX;

/// The effect of a template on the registers that its operands name; a bit for each operand.
#[derive(Clone, Copy, Debug, Default)]
struct TemplateAccess {
    /// Read, and not definitely written before.
    reads: u16,
    /// Definitely written when control falls through to the next bytecode.
    kills: u16,
    /// Written on some path.
    writes: u16,
    /// Whether it stores and reloads all registers, because code outside it may access them.
    stores_all: bool,
    /// Whether control may fall through to the next bytecode, here or in the interpreter.
    falls_through: bool,
    has_labels: bool,
    /// Whether some operands name runs of registers.
    has_runs: bool,
    /// Whether it is a basic block of its own.
    is_split: bool,
    /// Whether the template has been analyzed.
    is_known: bool,
}

impl TemplateAccess {
    fn of(template: &Template, opcode: &OpcodeInfo) -> TemplateAccess {
        let is_label = |kind: OperandKind| matches!(kind, OperandKind::Label | OperandKind::Labels);
        let mut access = TemplateAccess { kills: u16::MAX, is_known: true, ..TemplateAccess::default() };
        let at_end = template.follow_writes(|step, written| match *step {
            Step::Read { operand, .. } if written.is_some_and(|known| known & 1 << operand == 0) => {
                access.reads |= 1 << operand;
            }
            Step::Next => access.fall_through(written),
            // The interpreter needs only the registers that are live where it resumes.
            Step::Exit { to: Resume::Next } => access.fall_through(written),
            Step::Tail { args, .. } => access.read_run(args),
            Step::Call { effect: Effect::Observes, .. } => access.stores_all = true,
            Step::Invoke { effect, args, .. } => {
                access.stores_all |= effect == Effect::Observes;
                access.read_run(args);
            }
            Step::Node { op: Op::LOCAL, .. } => access.stores_all = true,
            _ => {}
        });
        access.fall_through(at_end);
        for (operand, info) in opcode.operands.iter().enumerate() {
            access.has_labels |= is_label(info.kind);
            access.has_runs |= matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut);
            if matches!(info.kind, OperandKind::Out | OperandKind::InOut | OperandKind::Push) {
                access.writes |= 1 << operand;
            }
        }
        // It may jump before it writes.
        access.kills &= if access.has_labels { 0 } else { access.writes };
        let exits = template.steps.iter().any(|step| matches!(step, Step::Exit { .. }));
        access.is_split = template.blocks > 1 || access.has_labels || exits || !access.falls_through;
        access
    }

    fn read_run(&mut self, args: Arguments) {
        if let Arguments::Run(operand) = args {
            self.reads |= 1 << operand;
        }
    }

    fn fall_through(&mut self, written: Option<u16>) {
        if let Some(written) = written {
            self.kills &= written;
            self.falls_through = true;
        }
    }
}

/// The liveness of registers; memory kept between functions.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    /// By opcode; and the table of templates that this is valid for.
    access: Vec<TemplateAccess>,
    templates: (usize, usize),
    n_words: usize,
    /// The first bytecode of each basic block, and at the end the number of bytecodes.
    first: Vec<u32>,
    /// For each bytecode that starts a basic block the block's number.
    number: Vec<u32>,
    /// Sets of registers, one for each basic block: read before written, definitely written, written on some path, live at
    /// the start.
    reads: Vec<u64>,
    kills: Vec<u64>,
    writes: Vec<u64>,
    needed: Vec<u64>,
    /// For each basic block that is a loop's head, the index of the loop's set in `loop_writes`.
    loop_of: Vec<u32>,
    loop_writes: Vec<u64>,
    /// Loops that no other loop contains so far: first basic block, last basic block, set.
    outer_loops: Vec<(u32, u32, u32)>,
    /// All registers that are used, and those that are stored where the frame is observed.
    used: Vec<u64>,
    stored: Vec<u64>,
    /// The registers that may be carried between the blocks of the template being linked.
    within: Vec<u64>,
    /// For each basic block whether control may fall through to the next, and where its other successors start in `succs`.
    falls_through: Vec<bool>,
    first_succ: Vec<u32>,
    /// The successors of all basic blocks.
    succs: Vec<u32>,
    /// For each basic block whether a later one jumps back to it.
    is_head: Vec<bool>,
}

/// The members of a set of registers in order.
#[inline]
pub(super) fn members(set: &[u64]) -> Members<'_> {
    let (&bits, others) = set.split_first().unwrap_or((&0, &[]));
    Members { bits, word: 0, others }
}

/// See [`members`].
#[derive(Clone, Debug)]
pub(super) struct Members<'a> {
    /// The remaining bits of the current word.
    bits: u64,
    /// The index of the current word.
    word: u32,
    others: &'a [u64],
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        while self.bits == 0 {
            let (&bits, others) = self.others.split_first()?;
            (self.bits, self.others) = (bits, others);
            self.word += 1;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(self.word * u64::BITS + bit)
    }
}

fn insert(set: &mut [u64], register: u32) {
    set[(register / u64::BITS) as usize] |= 1 << (register % u64::BITS);
}

pub(super) fn has(set: &[u64], register: u32) -> bool {
    set[(register / u64::BITS) as usize] & 1 << (register % u64::BITS) != 0
}

fn insert_but(set: &mut [u64], others: &[u64], register: u32) {
    let word = (register / u64::BITS) as usize;
    set[word] |= 1 << (register % u64::BITS) & !others[word];
}

/// The positions of a word's set bits.
#[inline(always)]
fn bits(mut word: u16) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < u16::BITS as usize).then_some(bit)
    })
}

fn add_all(set: &mut [u64], others: &[u64]) {
    core::iter::zip(set, others).for_each(|(word, other)| *word |= other);
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
        self.n_words = (source.slots as usize).div_ceil(u64::BITS as usize).max(1);
        for set in [&mut self.used, &mut self.stored] {
            set.clear();
            set.resize(self.n_words, 0);
        }
        for register in (0..source.slots).filter(|register| registers.is_used(*register)) {
            insert(&mut self.used, register);
            if registers.is_dirty(register) {
                insert(&mut self.stored, register);
            }
        }
        self.find_basic_blocks(source, code, &last_jump_to);
        self.needed.clear();
        // No register is live after the last basic block.
        self.needed.resize(self.first.len() * self.n_words, 0);
        if all || !self.find_needed(source, code) {
            let last = self.needed.len() - self.n_words;
            let needed = self.needed[..last].chunks_exact_mut(self.n_words);
            needed.for_each(|needed| needed.copy_from_slice(&self.used));
        }
        self.find_loops(&last_jump_to);
    }

    /// The registers that are live at a bytecode that starts a basic block.
    pub(super) fn needed(&self, at: usize) -> &[u64] {
        row(&self.needed, self.n_words, self.number[at])
    }

    /// Whether a register is live at a bytecode that starts a basic block.
    pub(super) fn is_needed(&self, register: u32, at: usize) -> bool {
        has(self.needed(at), register)
    }

    /// All registers that are used.
    pub(super) fn used(&self) -> &[u64] {
        &self.used
    }

    /// The registers that are written in the loop whose head is this bytecode.
    pub(super) fn written_in_loop(&self, at: usize) -> &[u64] {
        row(&self.loop_writes, self.n_words, self.loop_of[self.number[at] as usize])
    }

    /// The registers that a bytecode with blocks of its own writes.
    pub(super) fn written_by(&self, at: usize) -> &[u64] {
        row(&self.writes, self.n_words, self.number[at])
    }

    /// Finds the registers that may have to be carried between the blocks of a bytecode's template.
    pub(super) fn find_within(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize) {
        let access = self.access[code.opcode(at)];
        let Liveness { within, needed, writes, n_words, number, .. } = self;
        let basic_block = number[at];
        within.clear();
        within.extend_from_slice(row(needed, *n_words, basic_block));
        add_all(within, row(writes, *n_words, basic_block));
        if access.falls_through {
            add_all(within, row(needed, *n_words, basic_block + 1));
        }
        for to in code.targets(source, at) {
            add_all(within, row(needed, *n_words, number[to]));
        }
    }

    /// Whether bytecodes with this opcode have labels as operands.
    pub(super) fn may_jump(&self, opcode: usize) -> bool {
        self.access[opcode].has_labels
    }

    /// The last result of [`find_within`](Self::find_within).
    pub(super) fn within(&self) -> &[u64] {
        &self.within
    }

    fn learn_templates(&mut self, source: &FunctionSource<'_>, code: &Decoded) {
        let templates = (source.templates.as_ptr() as usize, source.templates.len());
        if self.templates != templates || self.access.is_empty() {
            self.templates = templates;
            self.access.clear();
            self.access.resize(source.templates.len(), TemplateAccess::default());
        }
        for opcode in (0..code.len()).map(|at| code.opcode(at)) {
            if !self.access[opcode].is_known {
                self.access[opcode] = TemplateAccess::of(source.templates[opcode], &source.opcodes[opcode]);
            }
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
        for set in [&mut self.reads, &mut self.kills, &mut self.writes, &mut self.needed] {
            set.clear();
        }
        self.number.clear();
        self.number.resize(n_code, NONE);
        let mut starts = true;
        for at in 0..n_code {
            let access = self.access[code.opcode(at)];
            if starts || access.is_split || last_jump_to(at).is_some() {
                self.number[at] = self.first.len() as u32;
                self.first.push(at as u32);
                for set in [&mut self.reads, &mut self.kills, &mut self.writes] {
                    set.resize(self.first.len() * self.n_words, 0);
                }
            }
            starts = access.is_split;
            // The operands of unreachable bytecode may name no registers.
            if source.depths.get(at) != Some(&Shape::UNREACHED) {
                self.add(source, code, at, access);
            }
        }
        self.first.push(n_code as u32);
    }

    /// Adds the effects of a bytecode to the sets of the last basic block.
    fn add(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize, access: TemplateAccess) {
        let start = self.reads.len() - self.n_words;
        let (reads, kills) = (&mut self.reads[start..], &mut self.kills[start..]);
        let writes = &mut self.writes[start..];
        if access.stores_all {
            // They are reloaded as well.
            core::iter::zip(&mut *reads, core::iter::zip(&self.stored, &*kills))
                .for_each(|(reads, (written, kills))| *reads |= written & !kills);
            writes.copy_from_slice(&self.used);
        }
        let raws = code.operands(at);
        if access.has_runs {
            self.add_runs(source, code, at, access);
        } else {
            for operand in bits(access.reads) {
                insert_but(reads, kills, raws[operand] as u32);
            }
        }
        let (kills, writes) = (&mut self.kills[start..], &mut self.writes[start..]);
        for operand in bits(access.writes) {
            insert(writes, raws[operand] as u32);
        }
        for operand in bits(access.kills) {
            insert(kills, raws[operand] as u32);
        }
    }

    /// Adds the reads of a bytecode with runs of registers, and its writes to those runs.
    fn add_runs(&mut self, source: &FunctionSource<'_>, code: &Decoded, at: usize, access: TemplateAccess) {
        let start = self.reads.len() - self.n_words;
        let (reads, kills) = (&mut self.reads[start..], &self.kills[start..]);
        let writes = &mut self.writes[start..];
        let infos = source.opcodes[code.opcode(at)].operands;
        let raws = code.operands(at);
        for (operand, (info, &raw)) in core::iter::zip(infos, raws).enumerate() {
            let is_read = access.reads & 1 << operand != 0;
            if !matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut) {
                if is_read && !has(kills, raw as u32) {
                    insert(reads, raw as u32);
                }
            } else {
                for register in run_of(raw) {
                    let is_read = is_read || has(&self.stored, register as u32);
                    if is_read && !has(kills, register as u32) {
                        insert(reads, register as u32);
                    }
                    if info.kind == OperandKind::RegsMut {
                        insert(writes, register as u32);
                    }
                }
            }
        }
    }

    /// Finds the registers that are live at the start of each basic block. Returns false if that takes too many rounds.
    fn find_needed(&mut self, source: &FunctionSource<'_>, code: &Decoded) -> bool {
        let n_words = self.n_words;
        self.find_succs(source, code);
        let Liveness { needed, kills, reads, succs, first_succ, is_head, falls_through, .. } = self;
        for _ in 0..MAX_ROUNDS {
            // Only a loop's head has predecessors that are visited before it in a round.
            let mut changed = false;
            for basic_block in (0..falls_through.len()).rev() {
                let succs = &succs[first_succ[basic_block] as usize..first_succ[basic_block + 1] as usize];
                for word in 0..n_words {
                    let place = basic_block * n_words + word;
                    let mut all = if falls_through[basic_block] { needed[place + n_words] } else { 0 };
                    for &to in succs {
                        all |= needed[to as usize * n_words + word];
                    }
                    let all = all & !kills[place] | reads[place];
                    let before = core::mem::replace(&mut needed[place], all);
                    changed |= is_head[basic_block] && before != all;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// Finds the successors of each basic block.
    fn find_succs(&mut self, source: &FunctionSource<'_>, code: &Decoded) {
        let Liveness { access, first, number, succs, first_succ, is_head, falls_through, .. } = self;
        let n_basic_blocks = first.len() - 1;
        succs.clear();
        first_succ.clear();
        falls_through.clear();
        is_head.clear();
        is_head.resize(n_basic_blocks, false);
        for basic_block in 0..n_basic_blocks {
            let last = first[basic_block + 1] as usize - 1;
            let access = &access[code.opcode(last)];
            falls_through.push(access.falls_through);
            first_succ.push(succs.len() as u32);
            if access.has_labels {
                for to in code.targets(source, last) {
                    succs.push(number[to]);
                    if number[to] as usize <= basic_block {
                        is_head[number[to] as usize] = true;
                    }
                }
            }
        }
        first_succ.push(succs.len() as u32);
    }

    /// Finds the registers that loops write, the loops that begin last first: a loop includes the loops inside it, and
    /// those that it overlaps.
    fn find_loops(&mut self, last_jump_to: &impl Fn(usize) -> Option<u32>) {
        let n_words = self.n_words;
        self.loop_of.clear();
        self.loop_of.resize(self.first.len(), NONE);
        self.loop_writes.clear();
        self.outer_loops.clear();
        for basic_block in (0..self.first.len() as u32 - 1).rev() {
            let at = self.first[basic_block as usize];
            let Some(from) = last_jump_to(at as usize).filter(|from| *from >= at) else { continue };
            let set = (self.loop_writes.len() / n_words) as u32;
            self.loop_of[basic_block as usize] = set;
            self.loop_writes.resize(self.loop_writes.len() + n_words, 0);
            // A bytecode that jumps ends a basic block, or is one.
            let mut last = self.first.partition_point(|first| *first <= from) as u32 - 1;
            let mut next = basic_block;
            while next <= last {
                let (is_loop, of) = match self.outer_loops.last() {
                    Some(&(first, end, inner)) if first <= next => {
                        self.outer_loops.pop();
                        last = last.max(end);
                        next = next.max(end + 1);
                        (true, inner)
                    }
                    _ => {
                        next += 1;
                        (false, next - 1)
                    }
                };
                for word in 0..n_words {
                    let place = of as usize * n_words + word;
                    let written = if is_loop { self.loop_writes[place] } else { self.writes[place] };
                    self.loop_writes[set as usize * n_words + word] |= written;
                }
            }
            self.outer_loops.push((basic_block, last, set));
        }
    }
}

fn row(sets: &[u64], n_words: usize, basic_block: u32) -> &[u64] {
    &sets[basic_block as usize * n_words..][..n_words]
}
