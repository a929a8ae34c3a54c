//! What a template does with its operands from some place on: from its start, and from behind each call that observes.
//!
//! In: a template. Out: on which operands it reads there before it writes them, and which it has surely written where control leaves it,
//! for each way out. With the registers that are alive at the end of each way, [`super::roots()`] and [`super::liveness`] know those that
//! are alive at the call. Cost: linear in the template, times the depth of its loops.

use super::FunctionSource;
use super::calls::each_step;
use super::decode::Decoded;
use crate::ir::bits::{BitSet, Bits};
use crate::ir::bytecode::{MAX_OPERANDS, OperandInfo, OperandKind, Raw, run_of};
use crate::ir::graph::Effect;
use crate::ir::template::{Arguments, Resume, Step, Template};

/// The operands that are read from some place of a template on, and those that were written where control leaves it. One bit stands for
/// each operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Onward {
    /// Those that may be read before they are written.
    pub(super) reads: u16,
    /// Those that are written on all ways to the next bytecode; `None` if there is no way.
    pub(super) next: Option<u16>,
    /// The same for the bytecodes that each label names.
    pub(super) labels: [Option<u16>; MAX_OPERANDS],
    /// The same for the bytecode itself.
    pub(super) here: Option<u16>,
}

/// What a template does with its operands.
#[derive(Debug, Default)]
pub(super) struct OperandUse {
    /// From its start.
    pub(super) start: Onward,
    /// From behind each call that shows its frame, by its number.
    pub(super) calls: Vec<(u16, Onward)>,
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
pub(super) fn bits(mut word: u16) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < u16::BITS as usize).then_some(bit)
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
        for (way, written) in [(Way::Next, self.next), (Way::Here, self.here)] {
            if let Some(written) = written {
                arrive(way, written);
            }
        }
        for (operand, written) in self.labels.iter().enumerate() {
            if let Some(written) = *written {
                operands.targets(operand).for_each(|to| arrive(Way::To(to), written));
            }
        }
        operands.each_register(self.reads, |register| _ = alive.insert(register));
    }

    fn to_next() -> Onward {
        Onward { next: Some(0), ..Onward::default() }
    }

    fn to_here() -> Onward {
        Onward { here: Some(0), ..Onward::default() }
    }

    fn to_label(operand: u8) -> Onward {
        let mut onward = Onward::default();
        onward.labels[operand as usize] = Some(0);
        onward
    }

    fn ways(&mut self) -> impl Iterator<Item = &mut Option<u16>> {
        let Onward { next, labels, here, .. } = self;
        labels.iter_mut().chain([next, here])
    }

    fn or(mut self, mut other: Onward) -> Onward {
        self.reads |= other.reads;
        for (way, other) in core::iter::zip(self.ways(), other.ways()) {
            *way = match (*way, *other) {
                (Some(one), Some(other)) => Some(one & other),
                (one, other) => one.or(other),
            };
        }
        self
    }

    fn write(&mut self, operand: u8) {
        self.reads &= !(1 << operand);
        self.ways().flatten().for_each(|written| *written |= 1 << operand);
    }

    fn read_run(&mut self, args: Arguments) {
        if let Arguments::Run(operand) = args {
            self.reads |= 1 << operand;
        }
    }
}

impl OperandUse {
    pub(super) fn of(template: &Template) -> OperandUse {
        let mut blocks = vec![Onward::default(); template.blocks as usize];
        let mut is_quick = Vec::with_capacity(template.steps.len());
        each_step(template, |_, _, quick| is_quick.push(quick));
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

    /// Goes through the steps from the last to the first. Returns whether more is known of a block than before.
    fn follow(&mut self, template: &Template, is_quick: &[bool], blocks: &mut [Onward]) -> bool {
        let mut has_changed = false;
        let (mut onward, mut behind) = (Onward::to_next(), Onward::default());
        for (step, quick) in core::iter::zip(template.steps, is_quick).rev() {
            match *step {
                Step::Next | Step::Exit { to: Resume::Next } => onward = Onward::to_next(),
                Step::Goto { operand } | Step::Exit { to: Resume::Label(operand) } => {
                    onward = Onward::to_label(operand);
                }
                Step::Exit { to: Resume::Here } => onward = Onward::to_here(),
                // Code without the slow path is left there.
                Step::Slow => onward = onward.or(Onward::to_here()),
                Step::Switch { operands, .. } => {
                    let ways = operands.iter().map(|operand| Onward::to_label(*operand));
                    onward = ways.fold(Onward::default(), Onward::or);
                }
                Step::Return { .. } | Step::Trap { .. } => onward = Onward::default(),
                Step::Tail { args, .. } => {
                    onward = Onward::default();
                    onward.read_run(args);
                }
                Step::Jump { block, .. } => onward = blocks[block as usize],
                Step::Branch { then, otherwise, .. } => {
                    onward = blocks[then as usize].or(blocks[otherwise as usize]);
                }
                Step::Block { block, .. } => {
                    has_changed |= core::mem::replace(&mut blocks[block as usize], onward) != onward;
                }
                Step::Write { operand, .. } => onward.write(operand),
                Step::Read { operand, .. } => onward.reads |= 1 << operand,
                Step::Call { effect: Effect::Observes, .. } => {
                    behind = onward;
                    self.add_observed(behind, *quick);
                }
                Step::Invoke { args, effect, .. } => {
                    behind = onward;
                    if effect == Effect::Observes {
                        self.add_observed(behind, *quick);
                    }
                    onward.read_run(args);
                }
                Step::Show { call } => self.add_call(call, behind),
                _ => {}
            }
        }
        self.start = onward;
        has_changed
    }

    fn add_observed(&mut self, onward: Onward, quick: bool) {
        self.observed = self.observed.or(onward);
        if quick {
            self.observed_quickly = self.observed_quickly.or(onward);
        }
    }

    /// A call that stands in the body of `cached` is there once for each case.
    fn add_call(&mut self, call: u16, onward: Onward) {
        match self.calls.iter_mut().find(|(known, _)| *known == call) {
            Some((_, known)) => *known = known.or(onward),
            None => self.calls.push((call, onward)),
        }
    }
}
