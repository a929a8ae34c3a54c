//! The bytecode, decoded once.
//!
//! In: each bytecode's opcode and operands, of the function and of all that is inlined in it. Out: the operands of all bytecodes in one list, in which operands on the
//! operand stack are the numbers of their slots.

use super::FunctionSource;
use super::inline::InlinePlan;
use crate::ir::bytecode::{OperandInfo, OperandKind, Raw, run_of};

/// The decoded bytecode. An operand that names a VM register or an operand stack slot is its number.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    /// For each bytecode its opcode and the start of its operands.
    bytecodes: Vec<(u32, u32)>,
    operands: Vec<Raw>,
    /// What is inlined. It is decided before any bytecode is added.
    pub(super) plan: InlinePlan,
}

impl Decoded {
    pub(super) fn clear(&mut self) {
        self.bytecodes.clear();
        self.operands.clear();
    }

    /// Adds the next bytecode; returns its operands, and the list that its labels are in.
    #[inline]
    pub(super) fn push<'a>(
        &'a mut self,
        source: &'a FunctionSource<'_>,
        opcode: usize,
        raws: &[Raw],
    ) -> (&'a [Raw], &'a [u32]) {
        let at = self.bytecodes.len();
        let first = self.operands.len();
        self.bytecodes.push((opcode as u32, first as u32));
        self.operands.extend_from_slice(raws);
        let infos = source.opcodes[opcode].operands;
        let (owner, of_owner) = self.plan.owner(source, at);
        if let Some(&depth) = owner.depths.get(of_owner) {
            name_stack_slots(owner, depth, infos, &mut self.operands[first..]);
        }
        if !self.plan.is_empty() {
            self.plan.translate(at, infos, &mut self.operands[first..]);
        }
        (&self.operands[first..], self.plan.labels(source))
    }

    /// The number of bytecodes.
    pub(super) fn len(&self) -> usize {
        self.bytecodes.len()
    }

    pub(super) fn opcode(&self, at: usize) -> usize {
        self.bytecodes[at].0 as usize
    }

    pub(super) fn operands(&self, at: usize) -> &[Raw] {
        let end = self.bytecodes.get(at + 1).map_or(self.operands.len(), |next| next.1 as usize);
        &self.operands[self.bytecodes[at].1 as usize..end]
    }

    pub(super) fn operand(&self, at: u32, operand: u8) -> Raw {
        self.operands[self.bytecodes[at as usize].1 as usize + operand as usize]
    }

    /// The jump targets of a bytecode: its labels, and the function's start if it calls itself there in its own place.
    #[inline]
    pub(super) fn targets<'a>(
        &'a self,
        source: &'a FunctionSource<'_>,
        at: usize,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let infos = source.opcodes[self.opcode(at)].operands;
        let labels = labels_among(infos, self.operands(at), self.plan.labels(source));
        labels.chain(self.plan.repeats(at).then_some(0))
    }
}

/// The jump targets among operands; `labels` has those that operands name as lists.
#[inline]
pub(super) fn labels_among<'a>(
    infos: &'a [OperandInfo],
    raws: &'a [Raw],
    labels: &'a [u32],
) -> impl Iterator<Item = usize> + use<'a> {
    core::iter::zip(infos, raws).flat_map(move |(info, &raw)| {
        let (one, many) = match info.kind {
            OperandKind::Label => (Some(raw as usize), 0..0),
            OperandKind::Labels => (None, run_of(raw)),
            _ => (None, 0..0),
        };
        one.into_iter().chain(labels[many].iter().map(|&to| to as usize))
    })
}

/// Replaces the operands on the operand stack by the numbers of their slots.
pub(super) fn name_stack_slots(
    source: &FunctionSource<'_>,
    depth: u32,
    operands: &[OperandInfo],
    raws: &mut [Raw],
) {
    let pops = operands.iter().filter(|info| info.kind == OperandKind::Pop).count() as u32;
    // An unreachable bytecode has no depth. It is never linked, so its operands do not matter.
    let bottom = source.locals.saturating_add(depth).saturating_sub(pops);
    let (mut popped, mut pushed) = (0, 0);
    for (info, raw) in core::iter::zip(operands, raws) {
        let count = match info.kind {
            OperandKind::Pop => &mut popped,
            OperandKind::Push => &mut pushed,
            _ => continue,
        };
        *raw = bottom.saturating_add(*count) as Raw;
        *count += 1;
    }
}
