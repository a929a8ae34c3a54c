//! What a template does with its operands from some place on: from its start, and from behind each call that observes.
//!
//! In: a template. Out: on which operands it reads there before it writes them, and which it has surely written where control leaves it,
//! for each way out. With the registers that are alive at the end of each way, [`super::roots()`] and [`super::liveness`] know those that
//! are alive at the call. Cost: linear in the template, times the depth of its loops.

use super::FunctionSource;
use super::decode::Decoded;
use super::known_steps::quick_steps;
use crate::ir::bits::{BitSet, Bits};
use crate::ir::bytecode::{MAX_OPERANDS, OperandInfo, OperandKind, Raw, run_of};
use crate::ir::graph::Effect;
use crate::ir::template::{Arguments, BlockRef, Resume, Step, Template};

/// The operands that are read from some place of a template on, and those that were written where control leaves it. One bit stands for
/// each operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Onward {
    /// Those that may be read before they are written.
    pub(super) reads: u16,
    /// The places where control may go on, a bit for each: the bytecodes that the label in this operand names, [`NEXT`] or [`HERE`].
    ways: u32,
    /// Those that are written on all ways to each of these places; all where there is no way, so that ways merge by `and`.
    written: [u16; PLACES],
}

/// The place behind those that labels name: the next bytecode.
const NEXT: usize = MAX_OPERANDS;
/// The bytecode itself.
const HERE: usize = MAX_OPERANDS + 1;
const PLACES: usize = MAX_OPERANDS + 2;

/// What a template does with its operands.
#[derive(Debug, Default)]
pub(super) struct OperandUse {
    /// From its start.
    pub(super) start: Onward,
    /// From behind each call that shows its frame, by its number.
    pub(super) calls: Vec<(u32, Onward)>,
    /// From behind any call that observes; and from behind those to which control comes without the slow path.
    pub(super) observed: Onward,
    pub(super) observed_quickly: Onward,
}

/// The operands of a bytecode, and the list that its labels are in.
pub(super) struct NamedOperands<'a> {
    infos: &'a [OperandInfo],
    raws: &'a [Raw],
    labels: &'a [u32],
}

/// Where control goes on behind a template.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Next,
    /// The bytecode itself.
    Here,
    /// A bytecode that a label names.
    To(u32),
}

/// The positions of a word's set bits.
#[inline(always)]
pub(super) fn bits(word: impl Into<u32>) -> impl Iterator<Item = usize> {
    let mut word = word.into();
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < u32::BITS as usize).then_some(bit)
    })
}

impl<'a> NamedOperands<'a> {
    pub(super) fn of(source: &'a FunctionSource<'_>, code: &'a Decoded, at: usize) -> NamedOperands<'a> {
        let infos = source.opcodes[code.opcode(at)].operands;
        NamedOperands { infos, raws: code.operands(at), labels: code.plan.labels(source) }
    }

    /// Visits the registers of these operands.
    fn each_register(&self, operands: u16, mut visit: impl FnMut(usize)) {
        for operand in bits(operands) {
            let raw = self.raws[operand];
            match self.infos[operand].kind {
                OperandKind::Regs | OperandKind::RegsMut => run_of(raw).for_each(&mut visit),
                OperandKind::Label | OperandKind::Labels | OperandKind::Imm | OperandKind::Site => {}
                _ => visit(raw as usize),
            }
        }
    }

    /// The bytecodes that a label, or a list of labels, names.
    fn targets(&self, operand: usize) -> impl Iterator<Item = u32> {
        let raw = self.raws[operand];
        let (one, many) = match self.infos[operand].kind {
            OperandKind::Labels => (None, run_of(raw)),
            _ => (Some(raw as u32), 0..0),
        };
        one.into_iter().chain(self.labels[many].iter().copied())
    }
}

impl Default for Onward {
    fn default() -> Self {
        Onward::NOWHERE
    }
}

impl Onward {
    /// Adds the registers that are alive from there on. `alive_at` says which are alive where a way ends; `written` is memory for as many
    /// registers.
    pub(super) fn add_alive<'b>(
        &self,
        operands: &NamedOperands<'_>,
        alive_at: impl Fn(Way) -> Option<Bits<'b>>,
        (alive, written): (&mut BitSet, &mut BitSet),
    ) {
        let mut arrive = |way: Way, operands_written: u16| {
            if let Some(there) = alive_at(way) {
                written.clear();
                operands.each_register(operands_written, |register| _ = written.insert(register));
                alive.unite_but(&there, written);
            }
        };
        for place in bits(self.ways) {
            let written = self.written[place];
            match place {
                NEXT => arrive(Way::Next, written),
                HERE => arrive(Way::Here, written),
                label => operands.targets(label).for_each(|to| arrive(Way::To(to), written)),
            }
        }
        operands.each_register(self.reads, |register| _ = alive.insert(register));
    }

    /// Control does not go on.
    const NOWHERE: Onward = Onward { reads: 0, ways: 0, written: [u16::MAX; PLACES] };
    const TO_NEXT: Onward = Onward::to(NEXT);
    const TO_HERE: Onward = Onward::to(HERE);

    /// Control goes on there.
    const fn to(place: usize) -> Onward {
        let mut onward = Onward::NOWHERE;
        onward.ways = 1 << place;
        onward.written[place] = 0;
        onward
    }

    const fn add(&mut self, other: &Onward) {
        self.reads |= other.reads;
        self.ways |= other.ways;
        let mut place = 0;
        while place < PLACES {
            self.written[place] &= other.written[place];
            place += 1;
        }
    }

    const fn write(&mut self, operand: u8) {
        let bit = 1 << operand;
        self.reads &= !bit;
        let mut place = 0;
        while place < PLACES {
            self.written[place] |= bit;
            place += 1;
        }
    }

    const fn read_run(&mut self, args: Arguments) {
        if let Arguments::Run(operand) = args {
            self.reads |= 1 << operand;
        }
    }

    /// From what a template does behind a step, makes what it does from in front of the step on. What is known of blocks is in the list.
    const fn go_before(&mut self, step: &Step, blocks: &[Onward]) {
        match *step {
            Step::Next | Step::Exit { to: Resume::Next } => *self = Onward::TO_NEXT,
            Step::Goto { operand } | Step::Exit { to: Resume::Label(operand) } => {
                *self = Onward::to(operand as usize);
            }
            Step::Exit { to: Resume::Here } => *self = Onward::TO_HERE,
            // Code without the slow path, or without what is outside of a site's cases, is left there.
            Step::Slow | Step::Outside { .. } => self.add(&Onward::TO_HERE),
            Step::Switch { operands, .. } => {
                *self = Onward::NOWHERE;
                let mut way = 0;
                while way < operands.as_slice().len() {
                    self.add(&Onward::to(operands.as_slice()[way] as usize));
                    way += 1;
                }
            }
            Step::Return { .. } | Step::Trap { .. } => *self = Onward::NOWHERE,
            Step::Tail { args, .. } => {
                *self = Onward::NOWHERE;
                self.read_run(args);
            }
            Step::Jump { block, .. } => *self = blocks[block as usize],
            Step::Branch { then, otherwise, .. } => {
                *self = blocks[then as usize];
                self.add(&blocks[otherwise as usize]);
            }
            Step::Write { operand, .. } => self.write(operand),
            Step::Read { operand, .. } => self.reads |= 1 << operand,
            Step::Invoke { args, .. } => self.read_run(args),
            _ => {}
        }
    }

    /// What a template does from its start on, as other bytecodes see it: whether it exits at its own bytecode is its own affair. The
    /// template has this many blocks.
    const fn of<const BLOCKS: usize>(template: &Template) -> Onward {
        let mut blocks = [Onward::NOWHERE; BLOCKS];
        loop {
            let (mut onward, mut windows, mut has_changed) = (Onward::TO_NEXT, 0, false);
            let mut at = template.steps.len();
            while at > 0 {
                at -= 1;
                match template.steps[at] {
                    Step::Block { block, .. } => {
                        has_changed |= !onward.is(&blocks[block as usize]);
                        blocks[block as usize] = onward;
                    }
                    Step::Window { operand } => windows |= 1 << operand,
                    _ => {}
                }
                onward.go_before(&template.steps[at], &blocks);
            }
            if !has_changed {
                onward.reads |= windows;
                onward.ways &= !(1 << HERE);
                onward.written[HERE] = u16::MAX;
                return onward;
            }
        }
    }

    /// Whether the two are the same.
    const fn is(&self, other: &Onward) -> bool {
        let mut is_same = self.reads == other.reads && self.ways == other.ways;
        let mut place = 0;
        while place < PLACES {
            is_same &= self.written[place] == other.written[place];
            place += 1;
        }
        is_same
    }
}

/// Panics unless a bytecode with one template may become one with another: whatever is known of other bytecodes stays true. The templates
/// have as many blocks as the parameters say.
#[doc(hidden)]
pub const fn assert_may_become<const FROM: usize, const TO: usize>(from: &Template, to: &Template) {
    let (one, other) = (Onward::of::<FROM>(from), Onward::of::<TO>(to));
    assert!(
        one.reads == other.reads,
        "a bytecode becomes another one that reads the same operands, and this one does not"
    );
    assert!(
        one.is(&other),
        "a bytecode becomes another one that goes on at the same places, and has written the same operands there, and this one does not"
    );
    assert!(
        from.takes_address_of_frame() == to.takes_address_of_frame(),
        "a bytecode becomes another one that takes the addresses of outputs if it does so itself"
    );
}

impl OperandUse {
    pub(super) fn of(template: &Template) -> OperandUse {
        let mut blocks = Blocks::new(template);
        let is_quick = quick_steps(template);
        loop {
            let mut known = OperandUse::default();
            // A block that jumps back is done again when what is known of the block there has changed.
            if !known.follow(template, &is_quick, &mut blocks) {
                // Through its address a run may be read at any time.
                let windows = template.steps.iter().fold(0, |windows, step| match *step {
                    Step::Window { operand } => windows | 1 << operand,
                    _ => windows,
                });
                known.start.reads |= windows;
                known.observed.reads |= windows;
                known.observed_quickly.reads |= windows;
                known.calls.iter_mut().for_each(|(_, onward)| onward.reads |= windows);
                return known;
            }
        }
    }

    /// Goes through the steps from the last to the first. Returns whether what was known of a block where a jump leads back has changed.
    fn follow(&mut self, template: &Template, is_quick: &[bool], blocks: &mut Blocks) -> bool {
        let (mut onward, mut behind) = (Onward::TO_NEXT, Onward::NOWHERE);
        let mut has_changed = false;
        for (step, quick) in core::iter::zip(template.steps, is_quick).rev() {
            match *step {
                Step::Block { block, .. } => has_changed |= blocks.set(block, onward),
                Step::Jump { block, .. } => blocks.jump(block),
                Step::Branch { then, otherwise, .. } => {
                    blocks.jump(then);
                    blocks.jump(otherwise);
                }
                Step::Call { effect, .. } | Step::Invoke { effect, .. } => {
                    if effect == Effect::Observes {
                        self.add_observed(&onward, *quick);
                    }
                    behind = onward;
                }
                Step::Show { call } => self.add_call(call, &behind),
                _ => {}
            }
            onward.go_before(step, &blocks.known);
        }
        self.start = onward;
        has_changed
    }

    fn add_observed(&mut self, onward: &Onward, quick: bool) {
        self.observed.add(onward);
        if quick {
            self.observed_quickly.add(onward);
        }
    }

    /// A call that stands in the body of `cached` is there once for each case.
    fn add_call(&mut self, call: u32, onward: &Onward) {
        match self.calls.iter_mut().find(|(known, _)| *known == call) {
            Some((_, known)) => known.add(onward),
            None => self.calls.push((call, *onward)),
        }
    }
}

/// What is known of a template's blocks, while its steps are followed from the last to the first.
struct Blocks {
    known: Vec<Onward>,
    /// Whether a jump leads back to a block, which was not known then.
    is_loop: Vec<bool>,
    is_known: Vec<bool>,
}

impl Blocks {
    fn new(template: &Template) -> Blocks {
        let blocks = template.blocks as usize;
        Blocks {
            known: vec![Onward::NOWHERE; blocks],
            is_loop: vec![false; blocks],
            is_known: vec![false; blocks],
        }
    }

    fn jump(&mut self, block: BlockRef) {
        self.is_loop[block as usize] |= !self.is_known[block as usize];
    }

    /// Sets what is known of a block. Returns whether jumps back have to be looked at again.
    fn set(&mut self, block: BlockRef, onward: Onward) -> bool {
        let block = block as usize;
        self.is_known[block] = true;
        core::mem::replace(&mut self.known[block], onward) != onward && self.is_loop[block]
    }
}
