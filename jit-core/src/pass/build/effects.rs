//! What a template does with the registers that its operands name, and where control goes from it.
//!
//! In: a template and its opcode. Out: [`Effects`], found out once for each opcode of a table ([`ByOpcode`]). Where a pass needs no more of
//! bytecode than that, it visits the registers of each ([`DecodedEffects`]).

use super::FunctionSource;
use super::decode::{labels_among, name_stack_slots};
use super::onward::bits;
use crate::ir::bytecode::{MAX_OPERANDS, OpcodeInfo, OperandInfo, OperandKind, Raw, run_of};
use crate::ir::template::{Arguments, Resume, Step, Template};

/// The effects of a template; a bit for each operand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effects {
    /// Read, and not definitely written before.
    pub(super) reads: u16,
    /// Definitely written when control falls through to the next bytecode.
    pub(super) kills: u16,
    /// Written on some path.
    pub(super) writes: u16,
    /// Whether it takes the frame's address, by which other code may see all registers at any time.
    pub(super) exposes: bool,
    /// Whether control may fall through to the next bytecode, here or in the interpreter.
    pub(super) falls_through: bool,
    pub(super) has_labels: bool,
    /// Whether some operands name runs of registers.
    pub(super) has_runs: bool,
    /// Whether the function may return there.
    pub(super) returns: bool,
}

impl Effects {
    pub(super) fn of(template: &Template, opcode: &OpcodeInfo) -> Effects {
        let is_label = |kind: OperandKind| matches!(kind, OperandKind::Label | OperandKind::Labels);
        let mut effects = Effects { kills: u16::MAX, ..Effects::default() };
        let at_end = template.follow_writes(|step, written| match *step {
            Step::Read { operand, .. } if written.is_some_and(|known| known & 1 << operand == 0) => {
                effects.reads |= 1 << operand;
            }
            Step::Next => effects.fall_through(written),
            Step::Return { .. } => effects.returns = true,
            // The interpreter needs only the registers that are live where it resumes.
            Step::Exit { to: Resume::Next } => effects.fall_through(written),
            Step::Tail { args, .. } => effects.read_run(args),
            Step::Invoke { args, .. } => effects.read_run(args),
            _ => {}
        });
        effects.fall_through(at_end);
        for (operand, info) in opcode.operands.iter().enumerate() {
            effects.has_labels |= is_label(info.kind);
            effects.has_runs |= matches!(info.kind, OperandKind::Regs | OperandKind::RegsMut);
            if matches!(info.kind, OperandKind::Out | OperandKind::InOut | OperandKind::Push) {
                effects.writes |= 1 << operand;
            }
        }
        // It may jump before it writes.
        effects.kills &= if effects.has_labels { 0 } else { effects.writes };
        effects.exposes = template.takes_address_of_frame();
        effects
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

/// What is known of the opcodes of one table of templates, each found out when it is first asked for.
#[derive(Debug)]
pub(super) struct ByOpcode<T> {
    known: Vec<Option<T>>,
    /// Where the templates are, and how many.
    templates: (usize, usize),
}

impl<T> Default for ByOpcode<T> {
    fn default() -> Self {
        ByOpcode { known: Vec::new(), templates: (0, 0) }
    }
}

impl<T> ByOpcode<T> {
    /// What is known of an opcode. All is forgotten that was of another table than this function's.
    #[inline]
    pub(super) fn of(
        &mut self,
        source: &FunctionSource<'_>,
        opcode: usize,
        find: impl FnOnce(&'static Template, &OpcodeInfo) -> T,
    ) -> &T {
        let templates = (source.templates.as_ptr() as usize, source.templates.len());
        if self.templates != templates {
            self.templates = templates;
            self.known.clear();
            self.known.resize_with(source.templates.len(), || None);
        }
        self.known[opcode].get_or_insert_with(|| find(source.templates[opcode], &source.opcodes[opcode]))
    }

    /// The same of an opcode that was asked for before.
    #[inline]
    pub(super) fn known(&self, opcode: usize) -> &T {
        self.known[opcode].as_ref().expect("it was asked for")
    }
}

/// A bytecode, and what it does with registers.
#[derive(Debug)]
pub(crate) struct DecodedEffects<'a> {
    pub(super) effects: Effects,
    infos: &'a [OperandInfo],
    raws: [Raw; MAX_OPERANDS],
}

impl<'a> DecodedEffects<'a> {
    /// Decodes a bytecode.
    #[inline]
    pub(super) fn of(source: &FunctionSource<'a>, at: usize, known: &mut ByOpcode<Effects>) -> Self {
        let (opcode, raws) = source.code.get(at);
        let effects = *known.of(source, opcode, Effects::of);
        Self::with(source, at, (opcode, raws), effects)
    }

    /// Decodes a bytecode without knowledge of its opcode.
    pub(crate) fn alone(source: &FunctionSource<'a>, at: usize) -> Self {
        let (opcode, raws) = source.code.get(at);
        let effects = Effects::of(source.templates[opcode], &source.opcodes[opcode]);
        Self::with(source, at, (opcode, raws), effects)
    }

    #[inline]
    fn with(
        source: &FunctionSource<'a>,
        at: usize,
        (opcode, mut raws): (usize, [Raw; MAX_OPERANDS]),
        effects: Effects,
    ) -> Self {
        let infos = source.opcodes[opcode].operands;
        if let Some(&depth) = source.depths.get(at) {
            name_stack_slots(source, depth, infos, &mut raws);
        }
        DecodedEffects { effects, infos, raws }
    }

    /// Visits the registers that are read, and may not have been written by the bytecode before. Those of all runs are among them: who
    /// has the address of a run may read them.
    #[inline]
    pub(crate) fn each_read(&self, mut read: impl FnMut(usize)) {
        let Effects { reads, has_runs, .. } = self.effects;
        if has_runs {
            for (operand, (info, &raw)) in core::iter::zip(self.infos, &self.raws).enumerate() {
                match info.kind {
                    OperandKind::Regs | OperandKind::RegsMut => run_of(raw).for_each(&mut read),
                    _ if reads & 1 << operand != 0 => read(raw as usize),
                    _ => {}
                }
            }
        } else {
            bits(reads).for_each(|operand| read(self.raws[operand] as usize));
        }
    }

    /// Visits the registers that have been written when control falls through.
    #[inline]
    pub(crate) fn each_kill(&self, mut kill: impl FnMut(usize)) {
        bits(self.effects.kills).for_each(|operand| kill(self.raws[operand] as usize));
    }

    /// The bytecodes that it may jump to, as if it jumped before it writes.
    #[inline]
    pub(crate) fn targets(&self, source: &FunctionSource<'a>) -> impl Iterator<Item = usize> {
        let infos = if self.effects.has_labels { self.infos } else { &[] };
        labels_among(infos, &self.raws, source.labels)
    }

    /// Whether control may go on at the next bytecode.
    pub(crate) fn falls_through(&self) -> bool {
        self.effects.falls_through
    }
}
