//! Which VM registers are needed where, and which of them loops write.
//!
//! In: decoded bytecode. Out: for each *basic block* of bytecode the live registers at its start, so that a graph's block gets
//! parameters for no others. Cost: linear, with a word for 64 registers in each basic block.
//!
//! A basic block starts where other bytecodes jump to, and at and behind a bytecode whose template has blocks of its own or does not
//! simply go on at the next. What a template reads, and what it has surely written when it goes
//! on, is found once for each opcode. What is said to be needed may be too much, but never too little.
//!
//! A loop here is the code from a place that is jumped back to, to the last jump back, widened until nothing behind
//! jumps into it. Values of registers that nothing in there writes are the same all the way around, if control enters
//! only at its first bytecode; [`super::registers`] finds out whether that is so.

use super::Source;
use super::decode::Decoded;
use super::registers::Registers;
use crate::ir::bytecode::{OpcodeInfo, OperandKind, run_of};
use crate::ir::graph::Effect;
use crate::ir::template::{Arguments, Resume, Step, Template};
use crate::verify::Shape;
use crate::vocab::Op;

/// How often liveness goes around before it takes every register to be needed everywhere: as deep as loops are
/// nested is enough, unless jumps lead back and forth.
const MAX_ROUNDS: usize = 12;

const NONE: u32 = u32::MAX;

/// What a template does to the registers that its operands name; a bit for each operand.
#[derive(Clone, Copy, Debug, Default)]
struct Touches {
    /// Read, and not surely written before.
    reads: u16,
    /// Surely written when control goes on at the next bytecode.
    gives: u16,
    /// Written perhaps.
    writes: u16,
    /// It stores registers: every one that is written anywhere.
    stores_all: bool,
    /// Control may go on at the next bytecode, here or in the interpreter.
    goes_on: bool,
    has_labels: bool,
    /// Operands name runs of registers.
    has_runs: bool,
    /// It is a basic block of its own.
    is_split: bool,
    /// Nothing is known of an opcode until it is met.
    is_known: bool,
}

impl Touches {
    fn of(template: &Template, opcode: &OpcodeInfo) -> Touches {
        let is_label = |kind: OperandKind| matches!(kind, OperandKind::Label | OperandKind::Labels);
        let mut touches = Touches { gives: u16::MAX, is_known: true, ..Touches::default() };
        let at_end = template.follow_writes(|step, written| match *step {
            Step::Read { operand, .. } if written.is_some_and(|known| known & 1 << operand == 0) => {
                touches.reads |= 1 << operand;
            }
            Step::Next => touches.go_on(written),
            // The interpreter finds what is needed where it goes on, no more.
            Step::Exit { to: Resume::Next } => touches.go_on(written),
            Step::Tail { args, .. } => touches.read_run(args),
            Step::Call { effect: Effect::Observes, .. } => touches.stores_all = true,
            Step::Invoke { effect, args, .. } => {
                touches.stores_all |= effect == Effect::Observes;
                touches.read_run(args);
            }
            Step::Node { op: Op::LOCAL, .. } => touches.stores_all = true,
            _ => {}
        });
        touches.go_on(at_end);
        for (operand, info) in opcode.operands.iter().enumerate() {
            touches.has_labels |= is_label(info.kind);
            touches.has_runs |= matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut);
            if matches!(info.kind, OperandKind::Out | OperandKind::InOut | OperandKind::Push) {
                touches.writes |= 1 << operand;
            }
        }
        // Jumps may do so before it writes.
        touches.gives &= if touches.has_labels { 0 } else { touches.writes };
        let exits = template.steps.iter().any(|step| matches!(step, Step::Exit { .. }));
        touches.is_split = template.blocks > 1 || touches.has_labels || exits || !touches.goes_on;
        touches
    }

    fn read_run(&mut self, args: Arguments) {
        if let Arguments::Run(operand) = args {
            self.reads |= 1 << operand;
        }
    }

    fn go_on(&mut self, written: Option<u16>) {
        if let Some(written) = written {
            self.gives &= written;
            self.goes_on = true;
        }
    }
}

/// Where registers are needed; the memory is kept between functions.
#[derive(Debug, Default)]
pub(super) struct Alive {
    /// By opcode, and for which templates that is.
    touches: Vec<Touches>,
    templates: (usize, usize),
    n_words: usize,
    /// The first bytecode of each basic block, and at the end the number of bytecodes.
    first: Vec<u32>,
    /// For each bytecode that starts a basic block its number.
    number: Vec<u32>,
    /// Sets of registers, one for each basic block: read before written, surely written, written at all, needed.
    reads: Vec<u64>,
    gives: Vec<u64>,
    writes: Vec<u64>,
    needed: Vec<u64>,
    /// For each basic block at whose start a loop begins the set in `loop_writes`.
    loop_of: Vec<u32>,
    loop_writes: Vec<u64>,
    /// Loops that no other loop holds yet: first basic block, last basic block, set.
    open: Vec<(u32, u32, u32)>,
    /// Every register that is used, and every one that is stored where the frame is looked at.
    used: Vec<u64>,
    stored: Vec<u64>,
    /// What the blocks of the template at hand may carry.
    within: Vec<u64>,
    /// For each basic block whether control may go on at the next, and where its other ways are in `ways`.
    goes_on: Vec<bool>,
    first_way: Vec<u32>,
    /// Basic blocks that others jump to.
    ways: Vec<u32>,
    /// For each basic block whether control comes back to it from one behind.
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
    /// What is left of the word at hand.
    bits: u64,
    /// Which word that is.
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

/// The positions of a word's bits.
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

impl Alive {
    /// Finds what is needed in a function. `leads` says of a bytecode whether others jump to it, and which is the last
    /// that does. If `all`, every register that is used is needed everywhere.
    pub(super) fn find(
        &mut self,
        source: &Source<'_>,
        code: &Decoded,
        leads: impl Fn(usize) -> Option<u32>,
        registers: &Registers,
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
            if registers.is_elsewhere(register) {
                insert(&mut self.stored, register);
            }
        }
        self.find_basic_blocks(source, code, &leads);
        self.needed.clear();
        // Behind the last basic block nothing is needed.
        self.needed.resize(self.first.len() * self.n_words, 0);
        if all || !self.find_needed(source, code) {
            let last = self.needed.len() - self.n_words;
            let needed = self.needed[..last].chunks_exact_mut(self.n_words);
            needed.for_each(|needed| needed.copy_from_slice(&self.used));
        }
        self.find_loops(&leads);
    }

    /// The registers that are needed where a basic block starts.
    pub(super) fn needed(&self, at: usize) -> &[u64] {
        row(&self.needed, self.n_words, self.number[at])
    }

    /// Whether a register is needed at a bytecode that starts a basic block.
    pub(super) fn is_needed(&self, register: u32, at: usize) -> bool {
        has(self.needed(at), register)
    }

    /// Every register that is used.
    pub(super) fn used(&self) -> &[u64] {
        &self.used
    }

    /// The registers that are written in the loop that begins at a bytecode that is jumped back to.
    pub(super) fn written_in_loop(&self, at: usize) -> &[u64] {
        row(&self.loop_writes, self.n_words, self.loop_of[self.number[at] as usize])
    }

    /// The registers that a bytecode with blocks of its own writes.
    pub(super) fn written_by(&self, at: usize) -> &[u64] {
        row(&self.writes, self.n_words, self.number[at])
    }

    /// Finds the registers that may have to be carried between the blocks of a bytecode's own template.
    pub(super) fn find_within(&mut self, source: &Source<'_>, code: &Decoded, at: usize) {
        let touches = self.touches[code.opcode(at)];
        let Alive { within, needed, writes, n_words, number, .. } = self;
        let basic_block = number[at];
        within.clear();
        within.extend_from_slice(row(needed, *n_words, basic_block));
        add_all(within, row(writes, *n_words, basic_block));
        if touches.goes_on {
            add_all(within, row(needed, *n_words, basic_block + 1));
        }
        for to in code.targets(source, at) {
            add_all(within, row(needed, *n_words, number[to]));
        }
    }

    /// Whether bytecodes with this opcode name others that they may jump to.
    pub(super) fn may_jump(&self, opcode: usize) -> bool {
        self.touches[opcode].has_labels
    }

    /// What [`find_within`](Self::find_within) found last.
    pub(super) fn within(&self) -> &[u64] {
        &self.within
    }

    fn learn_templates(&mut self, source: &Source<'_>, code: &Decoded) {
        let templates = (source.templates.as_ptr() as usize, source.templates.len());
        if self.templates != templates || self.touches.is_empty() {
            self.templates = templates;
            self.touches.clear();
            self.touches.resize(source.templates.len(), Touches::default());
        }
        for opcode in (0..code.len()).map(|at| code.opcode(at)) {
            if !self.touches[opcode].is_known {
                self.touches[opcode] = Touches::of(source.templates[opcode], &source.opcodes[opcode]);
            }
        }
    }

    fn find_basic_blocks(
        &mut self,
        source: &Source<'_>,
        code: &Decoded,
        leads: &impl Fn(usize) -> Option<u32>,
    ) {
        let n_code = code.len();
        self.first.clear();
        for set in [&mut self.reads, &mut self.gives, &mut self.writes, &mut self.needed] {
            set.clear();
        }
        self.number.clear();
        self.number.resize(n_code, NONE);
        let mut starts = true;
        for at in 0..n_code {
            let touches = self.touches[code.opcode(at)];
            if starts || touches.is_split || leads(at).is_some() {
                self.number[at] = self.first.len() as u32;
                self.first.push(at as u32);
                for set in [&mut self.reads, &mut self.gives, &mut self.writes] {
                    set.resize(self.first.len() * self.n_words, 0);
                }
            }
            starts = touches.is_split;
            // What no way leads to names no registers.
            if source.depths.get(at) != Some(&Shape::UNREACHED) {
                self.add(source, code, at, touches);
            }
        }
        self.first.push(n_code as u32);
    }

    /// Adds what a bytecode does to the sets of the last basic block.
    fn add(&mut self, source: &Source<'_>, code: &Decoded, at: usize, touches: Touches) {
        let start = self.reads.len() - self.n_words;
        let (reads, gives) = (&mut self.reads[start..], &mut self.gives[start..]);
        let writes = &mut self.writes[start..];
        if touches.stores_all {
            // And they are loaded again.
            core::iter::zip(&mut *reads, core::iter::zip(&self.stored, &*gives))
                .for_each(|(reads, (written, gives))| *reads |= written & !gives);
            writes.copy_from_slice(&self.used);
        }
        let raws = code.operands(at);
        if touches.has_runs {
            self.add_reads(source, code, at, touches);
        } else {
            for operand in bits(touches.reads) {
                insert_but(reads, gives, raws[operand] as u32);
            }
        }
        let (gives, writes) = (&mut self.gives[start..], &mut self.writes[start..]);
        for operand in bits(touches.writes) {
            insert(writes, raws[operand] as u32);
        }
        for operand in bits(touches.gives) {
            insert(gives, raws[operand] as u32);
        }
    }

    /// Adds what a bytecode with runs of registers reads, and what it writes of those.
    fn add_reads(&mut self, source: &Source<'_>, code: &Decoded, at: usize, touches: Touches) {
        let start = self.reads.len() - self.n_words;
        let (reads, gives) = (&mut self.reads[start..], &self.gives[start..]);
        let writes = &mut self.writes[start..];
        let infos = source.opcodes[code.opcode(at)].operands;
        let raws = code.operands(at);
        for (operand, (info, &raw)) in core::iter::zip(infos, raws).enumerate() {
            let is_read = touches.reads & 1 << operand != 0;
            if !matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut) {
                if is_read && !has(gives, raw as u32) {
                    insert(reads, raw as u32);
                }
            } else {
                for register in run_of(raw) {
                    let is_read = is_read || has(&self.stored, register as u32);
                    if is_read && !has(gives, register as u32) {
                        insert(reads, register as u32);
                    }
                    if info.kind == OperandKind::RegsMut {
                        insert(writes, register as u32);
                    }
                }
            }
        }
    }

    /// Whether it was found in good time.
    fn find_needed(&mut self, source: &Source<'_>, code: &Decoded) -> bool {
        let n_words = self.n_words;
        self.find_ways(source, code);
        let Alive { needed, gives, reads, ways, first_way, is_head, goes_on, .. } = self;
        for _ in 0..MAX_ROUNDS {
            // Only what is needed at a loop's head can be news to those visited before it.
            let mut changed = false;
            for basic_block in (0..goes_on.len()).rev() {
                let ways = &ways[first_way[basic_block] as usize..first_way[basic_block + 1] as usize];
                for word in 0..n_words {
                    let place = basic_block * n_words + word;
                    let mut all = if goes_on[basic_block] { needed[place + n_words] } else { 0 };
                    for &to in ways {
                        all |= needed[to as usize * n_words + word];
                    }
                    let all = all & !gives[place] | reads[place];
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

    /// Finds where control goes from each basic block.
    fn find_ways(&mut self, source: &Source<'_>, code: &Decoded) {
        let Alive { touches, first, number, ways, first_way, is_head, goes_on, .. } = self;
        let n_basic_blocks = first.len() - 1;
        ways.clear();
        first_way.clear();
        goes_on.clear();
        is_head.clear();
        is_head.resize(n_basic_blocks, false);
        for basic_block in 0..n_basic_blocks {
            let last = first[basic_block + 1] as usize - 1;
            let touches = &touches[code.opcode(last)];
            goes_on.push(touches.goes_on);
            first_way.push(ways.len() as u32);
            if touches.has_labels {
                for to in code.targets(source, last) {
                    ways.push(number[to]);
                    if number[to] as usize <= basic_block {
                        is_head[number[to] as usize] = true;
                    }
                }
            }
        }
        first_way.push(ways.len() as u32);
    }

    /// Finds what loops write, those that begin last first: a loop takes in those inside it, and those it overlaps.
    fn find_loops(&mut self, leads: &impl Fn(usize) -> Option<u32>) {
        let n_words = self.n_words;
        self.loop_of.clear();
        self.loop_of.resize(self.first.len(), NONE);
        self.loop_writes.clear();
        self.open.clear();
        for basic_block in (0..self.first.len() as u32 - 1).rev() {
            let at = self.first[basic_block as usize];
            let Some(from) = leads(at as usize).filter(|from| *from >= at) else { continue };
            let set = (self.loop_writes.len() / n_words) as u32;
            self.loop_of[basic_block as usize] = set;
            self.loop_writes.resize(self.loop_writes.len() + n_words, 0);
            // What jumps ends a basic block, or is one.
            let mut last = self.first.partition_point(|first| *first <= from) as u32 - 1;
            let mut next = basic_block;
            while next <= last {
                let (is_loop, of) = match self.open.last() {
                    Some(&(first, end, inner)) if first <= next => {
                        self.open.pop();
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
            self.open.push((basic_block, last, set));
        }
    }
}

fn row(sets: &[u64], n_words: usize, basic_block: u32) -> &[u64] {
    &sets[basic_block as usize * n_words..][..n_words]
}
